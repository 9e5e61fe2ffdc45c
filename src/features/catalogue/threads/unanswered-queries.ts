// Threads in which a member of a project or a reporter waits for an answer of the moderators.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

/** Maximum length of the quoted text, in characters. */
const EXCERPT_LENGTH = 400

export type UnansweredThread = {
  id: string
  type: 'project' | 'report'
  project: { id: string; slug: string; name: string; status: string } | null
  report: { id: string; report_type: string; item_type: string; item_id: string; closed: boolean } | null
  since: Date
  author: string | null
  text: string
}
type ThreadFilter = { type?: UnansweredThread['type'] | undefined }

/** A thread of a deleted project remains, but nobody can answer in it. */
const isUnanswered = ({ type }: ThreadFilter) => sql<boolean>`thread.unanswered_since is not null
  and (thread.project_id is not null or thread.report_id is not null)
  ${type === undefined ? sql`` : sql`and thread.type = ${type}`}`

export async function countUnansweredThreads(db: Db, filter: ThreadFilter): Promise<number> {
  const { rows } = await sql<{
    total: number
  }>`select count(*) as total from thread where ${isUnanswered(filter)}`.execute(db)
  return rows[0]?.total ?? 0
}

/** Returns a page of these threads with the start of the first unanswered message, longest waiting first. */
export async function listUnansweredThreads(
  db: Db,
  { count, offset, ...filter }: ThreadFilter & { count: number; offset: number },
): Promise<UnansweredThread[]> {
  const { rows } = await sql<UnansweredThread>`
    select thread.id, thread.type, thread.unanswered_since as since, first.author, coalesce(first.text, '') as text,
      (select jsonb_build_object('id', project.id, 'slug', project.slug, 'name', project.name, 'status', project.status)
        from project where project.id = thread.project_id) as project,
      (select jsonb_build_object('id', report.id, 'report_type', report.report_type, 'item_type', report.item_type,
          'item_id', report.item_id, 'closed', report.closed) from report where report.id = thread.report_id) as report
    from thread left join lateral (
      select account.username as author, left(message.body ->> 'body', ${EXCERPT_LENGTH}) as text
      from thread_message message left join account on account.id = message.author_id
      where message.thread_id = thread.id and message.created >= thread.unanswered_since
        and message.body ->> 'type' = 'text' and not message.hide_identity
      order by message.created, message.id limit 1) first on true
    where ${isUnanswered(filter)}
    order by thread.unanswered_since, thread.id limit ${count} offset ${offset}`.execute(db)
  return rows
}
