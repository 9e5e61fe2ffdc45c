// Runs background jobs: the library polls and listens, we give it handlers by name.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, type Runner, run, runOnce, type WorkerEvents } from 'graphile-worker'
import type pg from 'pg'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { traceJob } from '#platform/telemetry/traces.ts'
import type { JobName, Jobs } from './queue.ts'
import { type Schedule, startSchedule } from './schedule.ts'
import { removeSuperseded, startWorkerHeartbeats, type WorkerHeartbeats } from './worker-heartbeats.ts'

/**
 * One handler for each job. A job may run more than once (a process dies between the work and its record), so each
 * handler is idempotent and says why in a comment.
 */
export type JobHandlers = { [Name in JobName]: (payload: Jobs[Name], signal: AbortSignal) => Promise<void> }

export type WorkerOptions = {
  pool: pg.Pool
  handlers: JobHandlers
  schedule: Schedule
  log: Log
  metrics: Metrics
}

/**
 * `isAlone`: no other process works on these jobs, so that what is locked was left by one that was killed. `beatEveryMs`:
 * how often workers say that they live; 15 seconds by default.
 */
export type StartOptions = WorkerOptions & { isAlone?: boolean; beatEveryMs?: number }

export type Worker = { stop(): Promise<void> }

const CONCURRENCY = 4
const POLL_MS = 2_000
const RESTART_MS = 1_000

/** Starts working; `stop` finishes what runs and gives back what does not finish. */
export async function startWorker(options: StartOptions): Promise<Worker> {
  if (options.isAlone === true) await unlockAll(options.pool)
  const beats = startWorkerHeartbeats(options, options.beatEveryMs)
  const start = () => startRunner(options, beats)
  const runner = await keepRunning(start, options.log)
  const clock = await startSchedule(options)
  return {
    stop: async () => {
      await clock.stop()
      await runner.stop()
      await beats.stop()
    },
  }
}

function startRunner(options: WorkerOptions, beats: WorkerHeartbeats): Promise<Runner> {
  return run({
    events: announced(beats),
    // Without a batch nobody waits for the record of what a job came to, and when it fails the process ends.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    pgPool: options.pool,
    taskList: taskList(options),
    concurrency: CONCURRENCY,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    logger: workerLogger(options.log),
  })
}

/** The library stops for good when it cannot record what a job came to, as when the database is lost: it is started again. */
async function keepRunning(start: () => Promise<Runner>, log: Log): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  let runner = await start()
  const startAgain = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined)
      const next = signal.aborted ? undefined : await start().catch(() => undefined)
      if (next === undefined) continue
      runner = next
      return
    }
  }
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await runner.promise.catch(() => undefined)
      if (signal.aborted) return
      log.warn('The worker of jobs has stopped; it is started again')
      await startAgain()
    }
  }
  const watching = watch()
  return {
    stop: async () => {
      stopping.abort()
      // One that has stopped already refuses to.
      await runner.stop().catch(() => undefined)
      await watching
      await runner.stop().catch(() => undefined)
    },
  }
}

/** Names the workers that the library makes: it locks jobs for a pool of them. */
function announced(beats: WorkerHeartbeats): WorkerEvents {
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:create', ({ workerPool }) => beats.add(workerPool.id))
  events.on('pool:release', ({ workerPool }) => beats.remove(workerPool.id))
  return events
}

/** At once, where nobody else can be working on them. */
async function unlockAll(pool: pg.Pool): Promise<void> {
  await pool.query(`select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
    from graphile_worker.jobs where locked_by is not null having count(*) > 0`)
  await removeSuperseded(pool)
}

/** Runs every job that is due, those they cause included, and returns. For tests and the command line. */
export async function drainJobs(options: Omit<WorkerOptions, 'schedule'>): Promise<void> {
  const beats = startWorkerHeartbeats(options)
  try {
    await runOnce({
      events: announced(beats),
      pgPool: options.pool,
      taskList: taskList(options),
      noHandleSignals: true,
      logger: workerLogger(options.log),
    })
  } finally {
    await beats.stop()
  }
}

function taskList({ handlers, metrics, log }: Pick<WorkerOptions, 'handlers' | 'metrics' | 'log'>) {
  return Object.fromEntries(
    Object.entries(handlers).map(([job, handle]) => [
      job,
      async (
        payload: unknown,
        helpers: { abortSignal?: AbortSignal; job: { attempts: number; max_attempts: number } },
      ) => {
        const end = metrics.jobSeconds.startTimer({ task: job })
        try {
          // The queue holds only what `enqueue` wrote, whose payload types the compiler has checked.
          const untyped = handle as (payload: unknown, signal: AbortSignal) => Promise<void>
          const signal = helpers.abortSignal ?? AbortSignal.timeout(600_000)
          await traceJob(job, payload, (own) => untyped(own, signal))
          metrics.jobs.inc({ task: job, outcome: 'success' })
        } catch (error) {
          const isLast = helpers.job.attempts >= helpers.job.max_attempts
          metrics.jobs.inc({ task: job, outcome: isLast ? 'dead' : 'error' })
          log.warn(
            { job, attempt: helpers.job.attempts, err: error },
            isLast ? 'A job failed for good' : 'A job failed',
          )
          throw error
        } finally {
          end()
        }
      },
    ]),
  )
}

/** The library's own lines are debug to us; what a handler throws is logged above. */
function workerLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level !== 'error') log.debug({ worker: level }, message)
  })
}
