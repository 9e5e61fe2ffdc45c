// The state of the instance now.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type InstanceState = {
  hasProjects: boolean
  inReview: number
  /** Since when the oldest project is under review. */
  reviewSince: Date | null
  scansWaiting: number
  scansSince: Date | null
  oldestReadySeconds: number
  /** Response to the last rejected email whose job is retried or has failed; null if there is none. */
  mailResponse: string | null
}

export async function readState(db: Db): Promise<InstanceState> {
  const { rows } = await sql<InstanceState>`
    select exists (select from project) as "hasProjects", review.count as "inReview", review.since as "reviewSince",
      scan.count as "scansWaiting", scan.since as "scansSince", coalesce(extract(epoch from now() - job.since), 0)::float8
        as "oldestReadySeconds",
      (select response from mail_delivery where not is_sent order by id desc limit 1) as "mailResponse"
    from (select count(*)::int as count, min(coalesce(queued, published)) as since from project where status = 'processing')
        review,
      (select count(*)::int as count, min(requested) as since from version_scan where state = 'pending') scan,
      (select min(run_at) as since from graphile_worker._private_jobs
        where locked_at is null and attempts < max_attempts and run_at <= now()) job`.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('The statement returned no row')
  return state
}
