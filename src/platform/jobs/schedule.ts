// Jobs that run by the clock. The clock is the database's: that of a process may be wrong by hours, or be set while it
// runs, and of several processes one enqueues what is due.
import { setTimeout as startTimer } from 'node:timers'
import type pg from 'pg'
import { MINUTE_MS } from '#lib/time.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { JobName } from './queue.ts'

/** Runs `atMinute` minutes after each full `everyMinutes`, counted in UTC: 60 and 17 is seventeen minutes past each hour. */
export type Schedule = readonly { job: JobName; everyMinutes: number; atMinute?: number }[]

const MAX_ATTEMPTS = 3
/** For a clock that is not the database's: what is due is late by so much at most. */
const LOOK_EVERY_MS_MAX = 15_000
/** A little after the full minute, so that the database has it too. */
const AFTER_MINUTE_MS = 50

/**
 * Enqueues what is due, once now and then from minute to minute until `stop`. What fell due while nobody ran is enqueued
 * once; a job that this database never had starts with its next time.
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
          .catch((err: unknown) => log.warn({ err }, 'Scheduled jobs could not be enqueued; it is tried again'))
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
 * A job is due when its newest time, in minutes since 1970, is another than the one for which it was enqueued last; so
 * a database whose clock was ahead does not wait until that time has come again. Row locks settle races.
 */
async function enqueueDue(pool: pg.Pool, schedule: Schedule): Promise<void> {
  await pool.query(
    `with clock as (select floor(extract(epoch from now()) / 60)::bigint as minute),
    wanted as (
      select job, minute - (minute - at_minute) % every_minutes as slot
      from clock, unnest($1::text[], $2::int[], $3::int[]) as entry (job, every_minutes, at_minute)
    ),
    added as (insert into job_schedule (job, slot) select job, slot from wanted on conflict do nothing),
    due as (
      update job_schedule known set slot = wanted.slot from wanted
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
