// Reports the state of the job queue to operators. graphile-worker has no function for this, so the queries read its
// private tables, whose names depend on its version.
import { sql } from 'kysely'
import type pg from 'pg'
import type { Db, Tx } from '#platform/db/db.ts'
import type { QueueState } from '#platform/telemetry/observe.ts'

/** Numbers of jobs of a task. `retried`: failed, with attempts left. `failed`: failed on the last attempt. */
export type JobCounts = { task: string; due: number; later: number; running: number; retried: number; failed: number }

/** Returns the number of jobs in each state, per task. */
export async function listJobCounts(db: Db): Promise<JobCounts[]> {
  const { rows } = await sql<JobCounts>`
    select task.identifier as task,
      (count(*) filter (where job.locked_at is null and job.attempts = 0 and job.run_at <= now()))::int as due,
      (count(*) filter (where job.locked_at is null and job.attempts = 0 and job.run_at > now()))::int as later,
      (count(*) filter (where job.locked_at is not null))::int as running,
      (count(*) filter (where job.locked_at is null and job.attempts between 1 and job.max_attempts - 1))::int as retried,
      (count(*) filter (where job.locked_at is null and job.attempts >= job.max_attempts))::int as failed
    from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
    group by 1 order by 1`.execute(db)
  return rows
}

/** Returns the number of jobs in each state. The statement reads every pending job. */
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
  if (state === undefined) throw new Error('The count returned no row')
  return state
}

export const JOB_STATES = ['due', 'scheduled', 'running', 'retrying', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]

export type JobRow = {
  id: string
  task: string
  state: JobState
  attempts: number
  max_attempts: number
  created: Date
  /** When the job is due. */
  run_at: Date
  /** When the current run began; null if the job is not running. */
  started: Date | null
  /** When the job was last changed. */
  updated: Date
  error: string | null
}

const STATE = sql<JobState>`case
  when job.locked_at is not null then 'running'
  when job.attempts >= job.max_attempts then 'failed'
  when job.attempts > 0 then 'retrying'
  when job.run_at > now() then 'scheduled'
  else 'due' end`

export type JobFilter = { id?: string | undefined; tasks?: readonly string[] | undefined; state?: JobState | undefined }

const matches = ({ id, tasks, state }: JobFilter) => sql<boolean>`
  ${id === undefined ? sql`true` : sql`job.id = ${id}::bigint`}
  and ${tasks === undefined ? sql`true` : sql`task.identifier = any(${tasks}::text[])`}
  and ${state === undefined ? sql`true` : sql`${STATE} = ${state}`}`

/** Returns the jobs that match, the last changed first. */
export async function listJobs(
  db: Db,
  filter: JobFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`
    select job.id::text as id, task.identifier as task, ${STATE} as state, job.attempts::int as attempts,
      job.max_attempts::int as max_attempts, job.created_at as created, job.run_at, job.locked_at as started,
      job.updated_at as updated, job.last_error as error
    from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
    where ${matches(filter)} order by job.updated_at desc, job.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function countJobs(db: Db, filter: JobFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
    where ${matches(filter)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Locks the failed and retrying jobs that match, at most `limit`, and returns their IDs. */
export async function lockRetryableJobs(tx: Tx, filter: JobFilter, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select job.id::text as id
    from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
    where ${matches(filter)} and job.locked_at is null and job.attempts > 0
    order by job.id limit ${limit} for update of job skip locked`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Makes jobs due, with all their attempts. */
export async function rescheduleJobs(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select graphile_worker.reschedule_jobs(${ids}::bigint[], run_at => now(), attempts => 0)`.execute(tx)
}

export async function deleteJobs(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select graphile_worker.complete_jobs(${ids}::bigint[])`.execute(tx)
}
