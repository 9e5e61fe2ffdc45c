// Writes threads as JSON and includes the cached JSON of their members. Threads can be long, so the work is divided into
// steps that let other requests run.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type CachedUser, listCachedUsers } from '#features/people/users/user-cache.ts'
import { invalidInput } from '#lib/errors.ts'
import { entityTag, joinJson } from '#lib/text/json-bytes.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import type { Deps } from '#ports/deps.ts'
import { listMessages, type MessageRow, RESPONSE_BYTES_MAX, type ThreadRow } from './queries.ts'
import { type ThreadMessageView, ThreadView, toMessageViews } from './views.ts'

/** Response schema of a thread, and the conversion of its messages and members. */
export type ThreadForm = {
  schema: TSchema
  toShown: (message: ThreadMessageView) => object
  toMember: (user: CachedUser) => { bytes: Uint8Array }
}

export const THREAD: ThreadForm = { schema: ThreadView, toShown: (message) => message, toMember: (user) => user }

/** Returns the JSON of each thread as the viewer can see it. Runs two statements for any number of threads. */
export async function listThreadBytes(
  { db, cache, config }: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  threads: readonly ThreadRow[],
  { toShown, toMember }: ThreadForm = THREAD,
): Promise<Buffer[]> {
  const byThread = new Map<string, MessageRow[]>(threads.map(({ id }) => [id, []]))
  for (const row of await listMessages(db, viewer, [...byThread.keys()])) byThread.get(row.thread_id)?.push(row)
  const views: { thread: ThreadRow; messages: ThreadMessageView[] }[] = []
  for (const thread of threads) {
    views.push({ thread, messages: toMessageViews(byThread.get(thread.id) ?? [], viewer) })
    await yieldToOthers()
  }
  const authors = new Set(views.flatMap(({ messages }) => authorsOf(messages)))
  const users = new Map((await listCachedUsers({ db, cache, config }, [...authors])).map((user) => [user.id, user]))
  const threadBytes: Buffer[] = []
  for (const { thread, messages } of views) {
    threadBytes.push(await toThreadBytes(thread, messages.map(toShown), membersOf(messages, users).map(toMember)))
    await yieldToOthers()
  }
  return threadBytes
}

function authorsOf(messages: readonly ThreadMessageView[]): string[] {
  return messages.flatMap(({ author_id }) => author_id ?? [])
}

/** Returns the visible authors, in the order of their first messages. */
function membersOf(messages: readonly ThreadMessageView[], users: ReadonlyMap<string, CachedUser>): CachedUser[] {
  return [...new Set(authorsOf(messages))].flatMap((id) => users.get(id) ?? [])
}

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

/** @throws ApiError `invalid_input` naming `ids` if the threads are too long for one response. */
export function requireSizeLimit(threads: readonly ThreadRow[]): void {
  const bytes = threads.reduce((sum, thread) => sum + thread.size_bytes, 0)
  if (bytes > RESPONSE_BYTES_MAX)
    throw invalidInput('These threads are too long for one response; request fewer threads', 'ids')
}

/** Joins threads to a JSON array and computes its ETag. */
export async function joinThreads(threads: readonly Buffer[]): Promise<{ bytes: Buffer; etag: string }> {
  const etags: string[] = []
  for (const thread of threads) {
    etags.push(entityTag(thread))
    await yieldToOthers()
  }
  return { bytes: joinJson(threads.map((bytes) => ({ bytes }))), etag: entityTag(etags.join()) }
}
