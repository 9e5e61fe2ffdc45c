// Figures about the review queue: its length by age, and the decisions of the last days.
import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { IN_QUEUE, since } from '../queries.ts'

/** Number of days, including today, of the decisions. */
export const DAYS = 90
/** Limits of the ages of waiting projects, in days. The last group has no limit. */
export const AGE_LIMITS = [1, 3, 7] as const

export type Backlog = { total: number; oldest: Date | null; ages: number[] }
export type DayOfDecisions = { day: string; approved: number; rejected: number; median_minutes: number }
export type ModeratorDecisions = { id: string; username: string; approved: number; rejected: number }

/** Returns the number of projects in the queue, and how many of them have waited for how long. */
export async function readBacklog(db: Db, nowMs: number): Promise<Backlog> {
  const after = (days: number) => new Date(nowMs - days * DAY_MS)
  const [day, threeDays, week] = AGE_LIMITS.map(after)
  const { rows } = await sql<Omit<Backlog, 'ages'> & Record<'a' | 'b' | 'c', number>>`
    select count(*) as total, min(${since}) as oldest,
      count(*) filter (where ${since} > ${day}) as a,
      count(*) filter (where ${since} > ${threeDays}) as b,
      count(*) filter (where ${since} > ${week}) as c
    from project where ${IN_QUEUE}`.execute(db)
  const { total = 0, oldest = null, a = 0, b = 0, c = 0 } = rows[0] ?? {}
  return { total, oldest, ages: [a, b - a, c - b, total - c] }
}

/**
 * SQL: decisions of moderators on projects under review and on appeals, without those that were undone. A decision that is
 * undone opens its appeal again.
 */
const decisions = (from: Date) => sql`
  select entry.at, entry.actor_id, entry.details ->> 'to' in ('rejected', 'withheld') as is_rejection,
    (entry.details ->> 'waited_minutes')::int as waited
  from audit_entry entry
  where entry.action = 'project.status_changed' and entry.at >= ${from} and entry.details ? 'waited_minutes'
    and coalesce((select next.details ->> 'undo' from audit_entry next
      where next.subject_kind = 'project' and next.subject_id = entry.subject_id and next.id > entry.id
        and next.action = 'project.status_changed' order by next.id limit 1), 'false') <> 'true'
  union all
  select appeal.closed_at, result.author_id,
    appeal.outcome = 'rejected' or coalesce(result.body ->> 'new_status' in ('rejected', 'withheld'), false),
    round(extract(epoch from appeal.closed_at - appeal.created) / 60)::int
  from project_appeal appeal left join thread_message result on result.id = appeal.result_id
  where appeal.outcome in ('accepted', 'rejected') and appeal.closed_at >= ${from}`

/** Returns the decisions by day (UTC), oldest first; days without a decision are missing. */
export async function listDecisionDays(db: Db, nowMs: number): Promise<DayOfDecisions[]> {
  const { rows } = await sql<DayOfDecisions>`with decision as (${decisions(firstDay(nowMs))})
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) filter (where not is_rejection) as approved,
      count(*) filter (where is_rejection) as rejected,
      percentile_cont(0.5) within group (order by waited) as median_minutes
    from decision group by day order by day`.execute(db)
  return rows
}

/** Returns the decisions by moderator, most first. */
export async function listModeratorDecisions(db: Db, nowMs: number): Promise<ModeratorDecisions[]> {
  const { rows } = await sql<ModeratorDecisions>`with decision as (${decisions(firstDay(nowMs))})
    select account.id, account.username, count(*) filter (where not is_rejection) as approved,
      count(*) filter (where is_rejection) as rejected
    from decision join account on account.id = decision.actor_id
    group by account.id order by count(*) desc, account.id limit 100`.execute(db)
  return rows
}

/** Returns the median wait of all these decisions in minutes, or null if there are none. */
export async function medianWait(db: Db, nowMs: number): Promise<number | null> {
  const { rows } = await sql<{ median: number | null }>`with decision as (${decisions(firstDay(nowMs))})
    select percentile_cont(0.5) within group (order by waited) as median from decision`.execute(db)
  return rows[0]?.median ?? null
}

function firstDay(nowMs: number): Date {
  return new Date(Math.floor(nowMs / DAY_MS - DAYS + 1) * DAY_MS)
}

/** Number of decisions of which the queue shows the median wait. */
const RECENT_MAX = 200

/** Returns the median wait of the last decisions in minutes, or null if there are none. */
export async function recentMedianWait(db: Db): Promise<number | null> {
  const { rows } = await sql<{ median: number | null }>`
    select percentile_cont(0.5) within group (order by waited) as median from (
      select (details ->> 'waited_minutes')::int as waited from audit_entry
      where action = 'project.status_changed' and details ? 'waited_minutes' order by id desc limit ${RECENT_MAX}) recent`.execute(
    db,
  )
  return rows[0]?.median ?? null
}
