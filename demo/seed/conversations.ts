// Conversations about demo projects: threads of projects under review or rejected, and open and closed reports.

import type { SeededProject } from '#demo/catalogue/new-projects.ts'
import { createRandom, type Random } from '#demo/catalogue/random.ts'
import { AUTHORS_NOTES, MODERATORS_ANSWERS, REJECTION, REPORTS } from '#demo/catalogue/words.ts'
import { demoId, messageId } from '#demo/ids.ts'
import { markItems } from '#demo/items.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import type { MessageBody } from '#features/catalogue/threads/queries.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Tx } from '#platform/db/db.ts'

type Message = { author: string; body: MessageBody; created: Date; isModerator: boolean }
type Subject = { project: SeededProject; index: number; id: string; ownerId: string }

/** Index of the random stream; those of projects begin at 0. */
const CONVERSATIONS = 80_000_000
/** Number of public projects per report. */
const REPORT_EVERY = 30
/** Bytes that each message adds to the size of its thread, besides its text. */
const MESSAGE_OVERHEAD_BYTES = 1024
const MODERATOR = demoId('account', 1)

/**
 * Writes the threads of projects and reports with their messages. `peopleFrom` returns positions of different demo
 * accounts.
 */
export async function insertConversations(
  tx: Tx,
  subjects: readonly Subject[],
  names: { seed: number; until: Date; peopleFrom(start: number, count: number): number[] },
): Promise<void> {
  const threads = subjects.map((subject) => {
    const messages = reviewOf(createRandom(names.seed, CONVERSATIONS + subject.index), subject, names.until)
    const id = demoId('thread', subject.index)
    return { row: { id, type: 'project' as const, project_id: subject.id, report_id: null as string | null }, messages }
  })
  const reports = subjects.flatMap((subject) => reportOf(subject, names) ?? [])
  const all = [...threads, ...reports.map(({ thread }) => thread)]
  await insertRows(
    tx,
    'report',
    reports.map(({ row }) => row),
  )
  await markItems(
    tx,
    'report',
    reports.map(({ row }) => row.id),
  )
  await insertRows(
    tx,
    'thread',
    all.map(({ row, messages }) => ({ ...row, size_bytes: messages.reduce((sum, { body }) => sum + sizeOf(body), 0) })),
  )
  await insertRows(
    tx,
    'thread_message',
    all.flatMap(({ row, messages }) =>
      messages.map(({ author, body, created, isModerator }, n) => ({
        id: messageId(row.id, n),
        thread_id: row.id,
        author_id: author,
        body,
        hide_identity: isModerator,
        created,
      })),
    ),
  )
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
function reviewOf(random: Random, { project, ownerId }: Subject, until: Date): Message[] {
  const { status, published } = project
  const at = (share: number) => new Date(published.getTime() + (until.getTime() - published.getTime()) * share)
  const change = (from: string, to: string): MessageBody => ({
    type: 'status_change',
    old_status: from,
    new_status: to,
  })
  const by = (author: string, body: MessageBody, share: number): Message => {
    return { author, body, created: at(share), isModerator: author === MODERATOR }
  }
  if (status === 'draft' || status === 'unlisted') return []
  if (status === 'rejected') {
    return [
      by(ownerId, change('draft', 'processing'), 0.1),
      by(MODERATOR, text(REJECTION), 0.4),
      by(MODERATOR, change('processing', 'rejected'), 0.41),
    ]
  }
  if (status !== 'processing') return []
  const messages = [by(ownerId, change('draft', 'processing'), 0.1)]
  if (random.chance(0.6)) messages.push(by(ownerId, text(random.pick(AUTHORS_NOTES)), 0.2))
  if (random.chance(0.4)) messages.push(by(MODERATOR, text(random.pick(MODERATORS_ANSWERS)), 0.5))
  if (random.chance(0.2)) messages.push(by(MODERATOR, text('Waits for an answer about the licence.', true), 0.6))
  return messages
}

function reportOf(
  { project, index, id }: Subject,
  { seed, until, peopleFrom }: { seed: number; until: Date; peopleFrom(start: number, count: number): number[] },
) {
  if (index % REPORT_EVERY !== 5 || project.status !== 'approved') return undefined
  const random = createRandom(seed, CONVERSATIONS + 1_000_000 + index)
  const [type, body, answer] = random.pick(REPORTS)
  const isClosed = random.chance(0.4)
  const reporter = demoId('account', peopleFrom(index * 17 + 3, 1)[0] ?? 0)
  const created = new Date(Math.max(project.published.getTime(), until.getTime() - random.integer(2, 400) * HOUR_MS))
  const later = (share: number) => new Date(created.getTime() + (until.getTime() - created.getTime()) * share)
  const reportId = demoId('report', index)
  const messages: Message[] = isClosed
    ? [
        { author: MODERATOR, body: text(answer), created: later(0.3), isModerator: true },
        { author: MODERATOR, body: { type: 'thread_closure' }, created: later(0.31), isModerator: true },
      ]
    : []
  return {
    row: {
      id: reportId,
      report_type: type,
      item_type: 'project' as const,
      item_id: id,
      project_id: id,
      reporter_id: reporter,
      body,
      closed: isClosed,
      created,
    },
    thread: {
      row: {
        id: demoId('reportThread', index),
        type: 'report' as const,
        project_id: null as string | null,
        report_id: reportId,
      },
      messages,
    },
  }
}
