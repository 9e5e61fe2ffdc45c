// Runs background jobs: graphile-worker polls the queue and calls the handlers.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, type Runner, run, runOnce, type WorkerEvents } from 'graphile-worker'
import type pg from 'pg'
import { reasonOf } from '#lib/errors.ts'
import { type Log, withoutPeople } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { traceJob } from '#platform/telemetry/traces.ts'
import { type JobHandlers, scheduleOf } from './job.ts'
import { startSchedule } from './schedule.ts'
import { removeSuperseded, startWorkerHeartbeats, type WorkerHeartbeats } from './worker-heartbeats.ts'

export type WorkerOptions = { pool: pg.Pool; handlers: JobHandlers; log: Log; metrics: Metrics }

/**
 * `isAlone`: no other process runs these jobs, so that all locks belong to killed processes. `beatEveryMs`: interval
 * of the heartbeats; 15 seconds by default.
 */
export type StartOptions = WorkerOptions & { isAlone?: boolean; beatEveryMs?: number }

export type Worker = { stop(): Promise<void> }

const CONCURRENCY = 4
const POLL_MS = 2_000
const RESTART_MS = 1_000

/** Starts to run jobs. `stop` waits for running jobs and releases those that do not finish. */
export async function startWorker(options: StartOptions): Promise<Worker> {
  if (options.isAlone === true) await unlockAll(options.pool)
  const beats = startWorkerHeartbeats(options, options.beatEveryMs)
  const start = () => startRunner(options, beats)
  const runner = await keepRunning(start, options.log)
  const clock = await startSchedule({ ...options, schedule: scheduleOf(options.handlers) })
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
    // With batches, no code awaits the write of the results, and a failed write would end the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    pgPool: options.pool,
    taskList: taskList(options),
    concurrency: CONCURRENCY,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    logger: workerLogger(options.log),
  })
}

/** Restarts the runner when it stops. graphile-worker stops if it cannot record a result, for example in an outage. */
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
      log.warn('The job worker stopped; Depot restarts it')
      await startAgain()
    }
  }
  const watching = watch()
  return {
    stop: async () => {
      stopping.abort()
      // A runner that has already stopped rejects this call.
      await runner.stop().catch(() => undefined)
      await watching
      await runner.stop().catch(() => undefined)
    },
  }
}

/** Registers each worker pool for heartbeats, because graphile-worker locks jobs by pool. */
function announced(beats: WorkerHeartbeats): WorkerEvents {
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:create', ({ workerPool }) => beats.add(workerPool.id))
  events.on('pool:release', ({ workerPool }) => beats.remove(workerPool.id))
  return events
}

/** Releases all locked jobs immediately. Only call this if no other process runs jobs. */
async function unlockAll(pool: pg.Pool): Promise<void> {
  await pool.query(`select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
    from graphile_worker.jobs where locked_by is not null having count(*) > 0`)
  await removeSuperseded(pool)
}

/** Runs all due jobs, including jobs that these jobs enqueue, and returns. Used by tests and the command line. */
export async function drainJobs(options: WorkerOptions): Promise<void> {
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
          // The queue only contains jobs from `enqueue`, so that the compiler has checked the payload types.
          const untyped = handle as (payload: unknown, signal: AbortSignal) => Promise<void>
          const signal = helpers.abortSignal ?? AbortSignal.timeout(600_000)
          await traceJob(job, payload, (own) => untyped(own, signal))
          metrics.jobs.inc({ task: job, outcome: 'success' })
          metrics.figures.add('jobs_done')
        } catch (error) {
          const isLast = helpers.job.attempts >= helpers.job.max_attempts
          metrics.jobs.inc({ task: job, outcome: isLast ? 'dead' : 'error' })
          metrics.figures.add(isLast ? 'jobs_failed' : 'jobs_retried')
          log.warn(
            { job, attempt: helpers.job.attempts, err: error },
            isLast ? 'A job failed on its last attempt' : 'A job failed',
          )
          // graphile-worker stores only the message, which operators read.
          throw new Error(withoutPeople(reasonOf(error)), { cause: error })
        } finally {
          end()
        }
      },
    ]),
  )
}

/** Logs messages of graphile-worker at level `debug`. `taskList` logs the errors of handlers. */
function workerLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level !== 'error') log.debug({ worker: level }, message)
  })
}
