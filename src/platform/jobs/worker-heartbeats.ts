// Detects dead workers and releases their jobs. Each process writes heartbeats of its workers to the database. Without
// heartbeats, graphile-worker would release the jobs only after 4 hours.
import { setTimeout as startTimer } from 'node:timers'
import type pg from 'pg'
import type { Log } from '#platform/telemetry/log.ts'

const BEAT_EVERY_MS = 15_000
/** Time without a heartbeat after which a worker counts as dead. It might still run, so handlers are idempotent. */
const SILENT_SECONDS = 120
/** Heartbeats in a row before a process checks the others: right after an outage, all workers look dead. */
const HEARTBEATS_BEFORE_CLEANUP = SILENT_SECONDS / (BEAT_EVERY_MS / 1000)

export type WorkerHeartbeats = {
  /** Registers a worker of this process, by the ID with which graphile-worker locks jobs. */
  add(id: string): void
  /** Unregisters a worker that has ended. Jobs that it did not release are released after the heartbeat timeout. */
  remove(id: string): void
  stop(): Promise<void>
}

/** Starts to write heartbeats for the workers of this process, and to release the jobs of dead workers. */
export function startWorkerHeartbeats(
  { pool, log }: { pool: Pick<pg.Pool, 'query'>; log: Pick<Log, 'info' | 'warn'> },
  everyMs = BEAT_EVERY_MS,
): WorkerHeartbeats {
  const ids = new Set<string>()
  const former = new Set<string>()
  let isStopped = false
  let inARow = 0
  let lastSeconds = 0
  let beating = Promise.resolve()
  let timer: NodeJS.Timeout

  const beat = async (): Promise<void> => {
    const seconds = await sayAlive(pool, [...ids])
    // If the clock changed, or this process or the database paused, the heartbeats of the others might be late too.
    const isSteady = seconds >= lastSeconds && seconds - lastSeconds < SILENT_SECONDS / 2
    lastSeconds = seconds
    inARow = isSteady ? inARow + 1 : 0
    if (inARow < HEARTBEATS_BEFORE_CLEANUP) return
    const freed = await freeSilent(pool)
    if (freed.length === 0) return
    await removeSuperseded(pool)
    log.info({ workers: freed }, 'Released the jobs of workers that stopped sending heartbeats')
  }
  const beatLater = (): void => {
    timer = startTimer(() => {
      beating = beat()
        .catch((err: unknown) => {
          inARow = 0
          log.warn({ err }, 'Could not store the heartbeats of workers; Depot will try again')
        })
        .finally(() => isStopped || beatLater())
    }, everyMs)
    timer.unref()
  }
  beatLater()
  return {
    add: (id) => ids.add(id),
    remove: (id) => {
      if (ids.delete(id)) former.add(id)
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await beating
      if (lastSeconds > 0) await pool.query('delete from job_worker where id = any($1::text[])', [[...ids, ...former]])
    },
  }
}

/** Stores the heartbeats and returns the time of the database, in seconds since 1970. */
async function sayAlive(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ seconds: number }>(
    `with alive as (
      insert into job_worker (id, seen) select id, now() from unnest($1::text[]) id
      on conflict (id) do update set seen = excluded.seen
    )
    select extract(epoch from now())::float8 as seconds`,
    [ids],
  )
  return rows[0]?.seconds ?? 0
}

/**
 * Releases the jobs of workers without a recent heartbeat and returns the IDs of these workers. A heartbeat in the future
 * counts as missing, because the clock was set back. Jobs that were locked recently stay locked.
 */
async function freeSilent(pool: Pick<pg.Pool, 'query'>): Promise<string[]> {
  const { rows } = await pool.query<{ silent: string[] }>(
    `with clock as (
      select now() - make_interval(secs => $1) as earliest, now() + make_interval(secs => $1) as latest
    ),
    gone as (delete from job_worker using clock where seen not between earliest and latest),
    silent as (
      select distinct job.locked_by as id from graphile_worker.jobs job, clock
      where job.locked_at not between earliest and latest and not exists (
        select from job_worker where job_worker.id = job.locked_by and seen between earliest and latest
      )
    )
    select ids as silent, graphile_worker.force_unlock_workers(ids) from (select array_agg(id) as ids from silent) found
    where ids is not null`,
    [SILENT_SECONDS],
  )
  return rows[0]?.silent ?? []
}

/**
 * Removes released jobs that a later job with the same key replaced while they ran. graphile-worker sets their attempts
 * to the maximum, without an error, and expects their worker to remove them.
 */
export async function removeSuperseded(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  await pool.query(`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where locked_at is null and key is null and attempts >= max_attempts and last_error is null having count(*) > 0`)
}
