// Rows of threads and messages. One statement reads the messages of any number of threads.
import { type RawBuilder, sql } from 'kysely'
import { listMemberships } from '#features/basics/access/memberships.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { accountDeleted, notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import { canReadAllThreads, canReadThread, messageVisibleTo, type ThreadFacts } from './policy.ts'

export type ThreadRow = ThreadFacts & { report_id: string | null; size_bytes: number }

/** The stored body of a message. Images are separate rows that refer to the message. */
export type MessageBody =
  | { type: 'text'; body: string; private: boolean; replying_to: string | null; appeal?: 'made' | 'rejected' }
  /** `message_id`: message of the same decision. */
  | { type: 'status_change'; old_status: string; new_status: string; appeal?: 'accepted'; message_id?: string }
  | { type: 'thread_closure' }
  | { type: 'thread_reopen' }
  | { type: 'deleted'; private: boolean }

export type MessageRow = {
  id: string
  thread_id: string
  author_id: string | null
  body: MessageBody
  hide_identity: boolean
  created: Date
  /** IDs in the order of upload. */
  image_ids: string[] | null
}

/** Counted per message in addition to its text. More than the size of a row, so that it limits short messages too. */
const MESSAGE_OVERHEAD_BYTES = 1024
/** Maximum size of the messages in one response, in bytes. */
export const RESPONSE_BYTES_MAX = 32 * 1024 * 1024
/** Maximum number of messages, newest first. Only status changes can make a thread exceed it. */
const MESSAGES_MAX = RESPONSE_BYTES_MAX / MESSAGE_OVERHEAD_BYTES

/** Returns the threads with these IDs that the viewer can read, in this order. Runs two statements. */
export async function listReadableThreads(db: Db, viewer: Viewer, ids: readonly string[]): Promise<ThreadRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('thread')
    .leftJoin('report', 'report.id', 'thread.report_id')
    .select(['thread.id', 'thread.type', 'thread.project_id', 'thread.report_id', 'thread.size_bytes'])
    .select('report.reporter_id')
    .where('thread.id', 'in', ids)
    .execute()
  const projectIds = canReadAllThreads(viewer) ? [] : rows.flatMap(({ project_id }) => project_id ?? [])
  const memberships = await listMemberships(db, viewer, projectIds)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids
    .flatMap((id) => byId.get(id) ?? [])
    .filter((row) => canReadThread(viewer, row, memberships.get(row.project_id ?? '') ?? {}))
}

/** @throws ApiError 404 if the thread is absent or the viewer cannot read it. */
export async function getReadableThread(db: Db, viewer: Viewer, id: string): Promise<ThreadRow> {
  const [thread] = await listReadableThreads(db, viewer, [id])
  if (thread === undefined) throw notFound('thread')
  return thread
}

/** Returns the messages of these threads that the viewer can read, oldest first. */
export async function listMessages(db: Db, viewer: Viewer, threadIds: readonly string[]): Promise<MessageRow[]> {
  if (threadIds.length === 0) return []
  const rows = await readMessages(db)
    .where('thread_message.thread_id', 'in', threadIds)
    .where(messageVisibleTo(viewer))
    .orderBy('thread_message.created', 'desc')
    .orderBy('thread_message.id', 'desc')
    .limit(MESSAGES_MAX)
    .execute()
  return rows.reverse()
}

function readMessages(db: Db) {
  return db.selectFrom('thread_message').select((eb) => [
    'thread_message.id',
    'thread_message.thread_id',
    'thread_message.author_id',
    eb.ref('thread_message.body').$castTo<MessageBody>().as('body'),
    'thread_message.hide_identity',
    'thread_message.created',
    sql<string[] | null>`(select array_agg(image.id order by image.created, image.id) from image
        where image.thread_message_id = thread_message.id)`.as('image_ids'),
  ])
}

/** @throws ApiError 404 if the message is absent or the viewer cannot read it. */
export async function getReadableMessage(db: Db, viewer: Viewer, id: string): Promise<MessageRow> {
  const message = await readMessages(db)
    .where('thread_message.id', '=', id)
    .where(messageVisibleTo(viewer))
    .executeTakeFirst()
  const threads = message === undefined ? [] : await listReadableThreads(db, viewer, [message.thread_id])
  if (message === undefined || threads.length === 0) throw notFound('message')
  return message
}

export type NewMessage = { threadId: string; authorId: string | null; body: MessageBody; hideIdentity: boolean }

/**
 * Returns the ID of the message and the new size of the thread. Uses the time of the database, because messages from
 * several processes are sorted by time.
 * @throws ApiError 404 if the thread was deleted in the meantime, 401 if the author was.
 */
export async function insertMessage(
  tx: Tx,
  { threadId, authorId, body, hideIdentity }: NewMessage,
): Promise<{ id: string; sizeBytes: number }> {
  const id = newId()
  const bytes = MESSAGE_OVERHEAD_BYTES + (body.type === 'text' ? Buffer.byteLength(body.body) : 0)
  // The update also locks the thread, so that its messages are inserted one after the other.
  const thread = await tx
    .updateTable('thread')
    .set((eb) => ({ size_bytes: eb('size_bytes', '+', bytes), unanswered_since: unansweredSince(body, hideIdentity) }))
    .where('id', '=', threadId)
    .returning('size_bytes')
    .executeTakeFirst()
  if (thread === undefined) throw notFound('thread')
  await tx
    .insertInto('thread_message')
    .values({
      id,
      thread_id: threadId,
      author_id: authorId,
      body: JSON.stringify(body),
      hide_identity: hideIdentity,
      created: sql<Date>`clock_timestamp()`,
    })
    .execute()
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? accountDeleted() : error
    })
  return { id, sizeBytes: thread.size_bytes }
}

/** Deletes the record of a status change that was undone, and the message of the decision. */
export async function deleteStatusMessage(tx: Tx, id: string): Promise<void> {
  const { rows } = await sql<{ thread_id: string; bytes: number }>`delete from thread_message
    where id = ${id} or id = (select status.body ->> 'message_id' from thread_message status where status.id = ${id})
    returning thread_id, octet_length(coalesce(body ->> 'body', ''))::int as bytes`.execute(tx)
  const threadId = rows[0]?.thread_id
  if (threadId === undefined) return
  const bytes = rows.reduce((sum, row) => sum + MESSAGE_OVERHEAD_BYTES + row.bytes, 0)
  await tx
    .updateTable('thread')
    .set((eb) => ({ size_bytes: eb('size_bytes', '-', bytes) }))
    .where('id', '=', threadId)
    .execute()
  await refreshUnanswered(tx, threadId)
}

/**
 * Returns when a thread with this new message has first waited for a moderator. Private messages answer nobody. An appeal waits
 * in the queue.
 */
function unansweredSince(body: MessageBody, byModerator: boolean): RawBuilder<Date | null> {
  if (byModerator) return 'private' in body && body.private ? sql`unanswered_since` : sql`null`
  const waits = body.type === 'text' && body.appeal === undefined
  return waits ? sql`coalesce(unanswered_since, clock_timestamp())` : sql`unanswered_since`
}

/** Computes `unanswered_since` again after a message or a decision was removed. */
export async function refreshUnanswered(tx: Tx, threadId: string): Promise<void> {
  await sql`update thread set unanswered_since = (
      select min(message.created) from thread_message message
      where message.thread_id = thread.id and message.body ->> 'type' = 'text' and not message.hide_identity
        and message.body ->> 'appeal' is null and message.created > coalesce((
          select max(answer.created) from thread_message answer
          where answer.thread_id = thread.id and answer.hide_identity
            and (answer.body ->> 'private') is distinct from 'true'), '-infinity'))
    where id = ${threadId}`.execute(tx)
}
