// Enqueues jobs at fixed times. The clock of the database decides, because the clock of a process can be wrong or
// change. If several processes run, only one of them enqueues each due job.
import { setTimeout as startTimer } from 'node:timers'
import type pg from 'pg'
import { MINUTE_MS } from '#lib/time.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { JobName } from './queue.ts'

/** Jobs with their interval and offset in minutes, in UTC. Every 60 minutes at minute 17: 17 minutes past each hour. */
export type Schedule = readonly { job: JobName; everyMinutes: number; atMinute?: number }[]

const MAX_ATTEMPTS = 3
/** Maximum interval of the checks, and so the maximum delay of a job if this clock differs from the database's. */
const LOOK_EVERY_MS_MAX = 15_000
/** Delay after the full minute, so that the clock of the database has reached the minute too. */
const AFTER_MINUTE_MS = 50

/**
 * Enqueues due jobs now and then every minute until `stop`. A job that became due while no process ran is enqueued once.
 * A job that is new in this database first runs at its next scheduled time.
 */
export async function startSchedule(options: {
  pool: pg.Pool
  schedule: Schedule
  log: Log
}): Promise<{ stop(): Promise<void> }> {
  const { pool, schedule, log } = options
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  const lookLater = (): void => {
    const toMinuteMs = MINUTE_MS - (Date.now() % MINUTE_MS) + AFTER_MINUTE_MS
    timer = startTimer(
      () => {
        looking = enqueueDue(pool, schedule)
          .catch((err: unknown) => log.warn({ err }, 'Could not enqueue scheduled jobs; Depot will try again'))
          .finally(() => isStopped || lookLater())
      },
      Math.min(toMinuteMs, LOOK_EVERY_MS_MAX),
    )
  }
  await enqueueDue(pool, schedule)
  lookLater()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

/**
 * Enqueues the jobs whose last scheduled time, in minutes since 1970, differs from the time in `job_schedule`. The times
 * are compared for inequality, so that jobs continue if the clock of the database was set back. Row locks ensure that
 * only one process enqueues each job.
 */
async function enqueueDue(pool: pg.Pool, schedule: Schedule): Promise<void> {
  await pool.query(
    `with clock as (select floor(extract(epoch from now()) / 60)::bigint as minute),
    wanted as (
      select job, every_minutes, minute - (minute - at_minute) % every_minutes as slot
      from clock, unnest($1::text[], $2::int[], $3::int[]) as entry (job, every_minutes, at_minute)
    ),
    added as (insert into job_schedule (job, slot, every_minutes) select job, slot, every_minutes from wanted on conflict do nothing),
    due as (
      update job_schedule known set slot = wanted.slot, every_minutes = wanted.every_minutes from wanted
      where known.job = wanted.job and known.slot <> wanted.slot returning known.job
    )
    select graphile_worker.add_job(job, payload => '{}'::json, max_attempts => $4::int, job_key => 'schedule:' || job)
    from due`,
    [
      schedule.map(({ job }) => job),
      schedule.map(({ everyMinutes }) => everyMinutes),
      schedule.map(({ atMinute }) => atMinute ?? 0),
      MAX_ATTEMPTS,
    ],
  )
}
