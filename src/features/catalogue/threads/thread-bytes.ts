// Threads as bytes of JSON, joined from the bytes of their members. They may be long, so the work is done in steps.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type CachedUser, listCachedUsers } from '#features/people/users/user-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { entityTag, joinJson } from '#lib/text/json-bytes.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import type { Deps } from '#ports/deps.ts'
import { ANSWER_BYTES_MAX, listMessages, type MessageRow, type ThreadRow } from './queries.ts'
import { type ThreadMessageView, toMessageViews } from './views.ts'

/** Another form of what a thread consists of. */
export type ThreadForm = {
  toShown?: (message: ThreadMessageView) => object
  bytesOf?: (user: CachedUser) => { bytes: Uint8Array }
}

const asItIs = <T>(value: T): T => value

/**
 * These threads as the viewer reads them, each as JSON: two statements for any number. `toShown` gives what is shown of
 * a message, `bytesOf` of a member.
 */
export async function listThreadBytes(
  { db, cache }: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  threads: readonly ThreadRow[],
  { toShown = asItIs, bytesOf = asItIs }: ThreadForm = {},
): Promise<Buffer[]> {
  const byThread = new Map<string, MessageRow[]>(threads.map(({ id }) => [id, []]))
  for (const row of await listMessages(db, viewer, [...byThread.keys()])) byThread.get(row.thread_id)?.push(row)
  // A thread may hold megabytes, or thousands of messages; other requests are served between steps.
  const views: { thread: ThreadRow; messages: ThreadMessageView[] }[] = []
  for (const thread of threads) {
    views.push({ thread, messages: toMessageViews(byThread.get(thread.id) ?? [], viewer) })
    await yieldToOthers()
  }
  const authors = new Set(views.flatMap(({ messages }) => authorsOf(messages)))
  const users = new Map((await listCachedUsers({ db, cache }, [...authors])).map((user) => [user.id, user]))
  const answers: Buffer[] = []
  for (const { thread, messages } of views) {
    answers.push(await toThreadBytes(thread, messages.map(toShown), membersOf(messages, users).map(bytesOf)))
    await yieldToOthers()
  }
  return answers
}

function authorsOf(messages: readonly ThreadMessageView[]): string[] {
  return messages.flatMap(({ author_id }) => author_id ?? [])
}

/** Its authors as far as they are shown, in the order in which they first wrote. */
function membersOf(messages: readonly ThreadMessageView[], users: ReadonlyMap<string, CachedUser>): CachedUser[] {
  return [...new Set(authorsOf(messages))].flatMap((id) => users.get(id) ?? [])
}

/** A thread as bytes: its members are ready bytes already. */
async function toThreadBytes(
  thread: ThreadRow,
  messages: readonly object[],
  members: readonly { bytes: Uint8Array }[],
): Promise<Buffer> {
  const { id, type, project_id, report_id } = thread
  const head = JSON.stringify({ id, type, project_id, report_id }).slice(0, -1)
  const body = await writeJsonArray(messages, (message) => message)
  return Buffer.concat([
    Buffer.from(`${head},"messages":`),
    body,
    Buffer.from(',"members":'),
    joinJson(members),
    Buffer.from('}'),
  ])
}

/** @throws ApiError `invalid_input` naming `ids` when the threads that a request has named are too long for one answer. */
export function requireSizeLimit(threads: readonly ThreadRow[]): void {
  const bytes = threads.reduce((sum, thread) => sum + thread.size_bytes, 0)
  if (bytes > ANSWER_BYTES_MAX) throw invalidInput('These threads are too long for one answer: name fewer', 'ids')
}

/** Several threads as one JSON array, with its tag; other requests are served between them. */
export async function joinThreads(threads: readonly Buffer[]): Promise<{ bytes: Buffer; etag: string }> {
  const etags: string[] = []
  for (const thread of threads) {
    etags.push(entityTag(thread))
    await yieldToOthers()
  }
  return { bytes: joinJson(threads.map((bytes) => ({ bytes }))), etag: entityTag(etags.join()) }
}
