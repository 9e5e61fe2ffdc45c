import type pg from 'pg'
import type { QueueState } from '#telemetry/observe.ts'

/** How many jobs there are in each state; one statement, which reads every job that waits. */
export async function readQueueState(pool: pg.Pool): Promise<QueueState> {
  const { rows } = await pool.query<QueueState>(`select
    count(*) filter (where is_alive and locked_at is null and run_at <= now())::int as ready,
    count(*) filter (where locked_at is not null)::int as running,
    count(*) filter (where is_alive and locked_at is null and run_at > now())::int as scheduled,
    count(*) filter (where not is_alive and locked_at is null)::int as dead,
    coalesce(extract(epoch from now() - min(run_at) filter (where is_alive and locked_at is null and run_at <= now())), 0)
      ::float8 as "oldestReadySeconds"
    from (select locked_at, run_at, attempts < max_attempts as is_alive from graphile_worker.jobs) job`)
  const [state] = rows
  if (state === undefined) throw new Error('A count has one row')
  return state
}
