// Conversations about demo projects: threads of projects under review or rejected, and open and closed reports.

import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import type { Random } from '#demo/catalogue/random.ts'
import { AUTHORS_NOTES, MODERATORS_ANSWERS, REJECTION, REPORTS } from '#demo/catalogue/words.ts'
import { demoId, demoRandom, messageId } from '#demo/ids.ts'
import { markItems } from '#demo/items.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { between, type Indexed, type Names } from '#demo/seed/names.ts'
import type { MessageBody } from '#features/catalogue/threads/queries.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Tx } from '#platform/db/db.ts'

type Message = { author_id: string; body: MessageBody; created: Date }

/** Number of public projects per report. */
const REPORT_EVERY = 30
/** Bytes that each message adds to the size of its thread, besides its text. */
const MESSAGE_OVERHEAD_BYTES = 1024
const MODERATOR = demoId('account', 1)

/** Writes the threads of projects and reports with their messages. */
export async function insertConversations(tx: Tx, subjects: readonly Indexed[], names: Names): Promise<void> {
  const reviews = subjects.map(({ project, index, id }) => {
    const messages = reviewOf(demoRandom('review', index), project, names)
    return {
      id: demoId('thread', index),
      type: 'project' as const,
      project_id: id,
      report_id: null as string | null,
      messages,
    }
  })
  const reports = subjects.flatMap((subject) => reportOf(subject, names) ?? [])
  const all = [...reviews, ...reports.map(({ thread }) => thread)]
  const rows = reports.map(({ row }) => row)
  const threads = all.map(({ messages, ...row }) => ({
    ...row,
    size_bytes: messages.reduce((sum, { body }) => sum + sizeOf(body), 0),
  }))
  const messages = all.flatMap((thread) =>
    thread.messages.map((message, n) => ({
      ...message,
      id: messageId(thread.id, n),
      thread_id: thread.id,
      hide_identity: message.author_id === MODERATOR,
    })),
  )
  await insertRows(tx, 'report', rows)
  await markItems(tx, 'report', rows)
  await insertRows(tx, 'thread', threads)
  await insertRows(tx, 'thread_message', messages)
}

const sizeOf = (body: MessageBody): number =>
  MESSAGE_OVERHEAD_BYTES + (body.type === 'text' ? Buffer.byteLength(body.body) : 0)

const text = (body: string, isPrivate = false): MessageBody => ({
  type: 'text',
  body,
  private: isPrivate,
  replying_to: null,
})

/** Returns the messages about a new project by its author and a moderator. */
function reviewOf(random: Random, { status, published, owner }: DemoProject, { until, accountOf }: Names): Message[] {
  const by = (author_id: string, body: MessageBody, share: number): Message => {
    return { author_id, body, created: between(published, until, share) }
  }
  const change = (from: string, to: string): MessageBody => ({
    type: 'status_change',
    old_status: from,
    new_status: to,
  })
  const author = accountOf(owner)
  const submitted = by(author, change('draft', 'processing'), 0.1)
  if (status === 'rejected') {
    const rejected = by(MODERATOR, change('processing', 'rejected'), 0.41)
    return [submitted, by(MODERATOR, text(REJECTION), 0.4), rejected]
  }
  if (status !== 'processing') return []
  return [
    submitted,
    ...(random.chance(0.6) ? [by(author, text(random.pick(AUTHORS_NOTES)), 0.2)] : []),
    ...(random.chance(0.4) ? [by(MODERATOR, text(random.pick(MODERATORS_ANSWERS)), 0.5)] : []),
    ...(random.chance(0.2) ? [by(MODERATOR, text('Waits for an answer about the licence.', true), 0.6)] : []),
  ]
}

function reportOf({ project, index, id: projectId }: Indexed, { until, peopleFrom }: Names) {
  if (index % REPORT_EVERY !== 5 || project.status !== 'approved') return undefined
  const random = demoRandom('report', index)
  const [report_type, body, answer] = random.pick(REPORTS)
  const closed = random.chance(0.4)
  const reporter = demoId('account', peopleFrom(index * 17 + 3, 1)[0] ?? 0)
  const created = new Date(Math.max(project.published.getTime(), until.getTime() - random.integer(2, 400) * HOUR_MS))
  const id = demoId('report', index)
  const item = { item_type: 'project' as const, item_id: projectId, project_id: projectId }
  const messages: Message[] = [
    { author_id: MODERATOR, body: text(answer), created: between(created, until, 0.3) },
    { author_id: MODERATOR, body: { type: 'thread_closure' }, created: between(created, until, 0.31) },
  ]
  const thread = {
    id: demoId('reportThread', index),
    type: 'report' as const,
    project_id: null as string | null,
    report_id: id,
  }
  return {
    row: { id, report_type, ...item, reporter_id: reporter, body, closed, created },
    thread: { ...thread, messages: closed ? messages : [] },
  }
}
