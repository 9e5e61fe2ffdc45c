// The state of the instance now.
import { sql } from 'kysely'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import type { Db } from '#platform/db/db.ts'

export type InstanceState = {
  hasProjects: boolean
  inReview: number
  /** Since when the oldest project is under review. */
  reviewSince: Date | null
  scansWaiting: number
  scansSince: Date | null
  /** Scans that failed at least twice, and the last error. */
  scansFailing: number
  scanError: string | null
  oldestReadySeconds: number
  /** Response to the last rejected email whose job is retried or has failed; null if there is none. */
  mailResponse: string | null
}

export async function readState(db: Db): Promise<InstanceState> {
  const { rows } = await sql<InstanceState>`
    select exists (select from project) as "hasProjects", review.count as "inReview", review.since as "reviewSince",
      scan.count as "scansWaiting", scan.since as "scansSince", scan.failing as "scansFailing", scan.error as "scanError", coalesce(extract(epoch from now() - job.since), 0)::float8
        as "oldestReadySeconds",
      (select response from mail_delivery where not is_sent order by id desc limit 1) as "mailResponse"
    from (select count(*)::int as count, min(coalesce(queued, published)) as since from project where status = 'processing')
        review,
      (select count(*)::int as count, min(requested) as since, (count(*) filter (where attempts > 1))::int as failing,
        (array_agg(last_error order by next_attempt desc) filter (where attempts > 1))[1] as error
        from version_scan where state = 'pending') scan,
      (select min(run_at) as since from graphile_worker._private_jobs
        where locked_at is null and attempts < max_attempts and run_at <= now()) job`.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('The statement returned no row')
  return state
}

export type Totals = { accounts: number; projects: number; versions: number; files: number; downloads: number }

/** Returns how much the instance has. Projects, versions and files are those that everyone can see. */
export async function loadTotals(db: Db): Promise<Totals> {
  const { projects, versions, files } = await getStatistics(db)
  const { rows } = await sql<Pick<Totals, 'accounts' | 'downloads'>>`
    select (select count(*) from account) as accounts,
      (select coalesce(sum(downloads), 0)::bigint from project) as downloads`.execute(db)
  return { accounts: 0, downloads: 0, ...rows[0], projects, versions, files }
}

export type RecurringJob = { task: string; every_minutes: number; last: Date; next: Date }

/** Returns the recurring jobs, the next first. Jobs of another release, whose turn passed a week ago, are omitted. */
export async function listRecurringJobs(db: Db): Promise<RecurringJob[]> {
  const { rows } = await sql<RecurringJob>`
    select job as task, every_minutes, to_timestamp(slot * 60) as last, to_timestamp((slot + every_minutes) * 60) as next
    from job_schedule
    where every_minutes is not null and to_timestamp((slot + every_minutes) * 60) > now() - interval '7 days'
    order by next, job`.execute(db)
  return rows
}
