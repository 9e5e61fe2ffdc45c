// The state of a project that a moderator has seen. They send it with a decision, so that it applies to this state only.
import { sql } from 'kysely'
import { ApiError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'

/** SQL expression: the ID of the last message or status change in the thread of `project`; null if there is none. */
const LAST_EVENT = sql<string | null>`(select thread_message.id from thread
  join thread_message on thread_message.thread_id = thread.id
  where thread.project_id = project.id order by thread_message.created desc, thread_message.id desc limit 1)`

/**
 * SQL expression: a string that changes with everything that moderators see of `project`: texts, tags, licence, links,
 * images, versions, files, status and messages. Downloads and followers do not raise revisions, and unfinished uploads do
 * not count. It ends with the ID of the last event, so that a refusal names only a later event.
 */
export const SEEN = sql<string>`concat(md5(concat_ws('.', project.status, ${LAST_EVENT}, project.revision,
  (select concat_ws('.', count(*), sum(version.revision)) from version
    where version.project_id = project.id and not version.is_new_draft))), '.', ${LAST_EVENT})`

/** Returns the ID of the last event that `seen` contains: empty if there was none, undefined if `seen` cannot be read. */
export const lastEventSeen = (seen: string): string | undefined => /^[0-9a-f]{32}\.(\w*)$/.exec(seen)?.[1]

type LastEvent = {
  seen: string
  id: string | null
  body: { type: string; old_status?: string; new_status?: string } | null
  at: Date | null
  author: string | null
  username: string | null
  is_later: boolean | null
}

/** @throws ApiError `conflict` with the last event if `seen` is out of date. The message names the event only if it is later. */
export async function requireSeen(
  db: Db,
  project: { id: string; status: string; moderation_message: string | null },
  seen: string,
): Promise<void> {
  const before = lastEventSeen(seen) ?? null
  const { rows } = await sql<LastEvent>`select last.seen, last.id, message.body, message.created as at,
      account.id as author, account.username,
      ${before}::text = '' or (message.created, message.id) > (select earlier.created, earlier.id from thread_message earlier
        where earlier.id = ${before} and earlier.thread_id = message.thread_id) as is_later
    from (select ${SEEN} as seen, ${LAST_EVENT} as id from project where project.id = ${project.id}) last
    left join thread_message message on message.id = last.id
    left join account on account.id = message.author_id`.execute(db)
  const last = rows[0]
  const current = last?.seen
  if (current === seen) return
  const by = last?.author ? { id: last.author, username: last.username } : null
  const decision = last?.body?.type === 'status_change' ? last.body : undefined
  const who = last?.is_later ? (by?.username ?? 'Somebody') : undefined
  const what =
    who === undefined || (decision === undefined && last?.body?.type !== 'text')
      ? 'The project has changed since you opened it'
      : `${who} ${decision === undefined ? 'wrote a message' : 'changed the status'} since you opened this project`
  throw new ApiError('conflict', what, {
    details: {
      field: 'seen',
      message: 'is out of date',
      seen: current,
      last: {
        by,
        at: last?.at?.toISOString() ?? null,
        old_status: decision?.old_status ?? null,
        new_status: decision?.new_status ?? null,
        message: decision === undefined ? null : project.moderation_message,
      },
    },
  })
}
