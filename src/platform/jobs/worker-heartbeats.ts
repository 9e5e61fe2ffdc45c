// Which workers live: each says so in the database every few seconds, and the jobs of one that has fallen silent are given
// back. The library alone would give them back after four hours.
import { setTimeout as startTimer } from 'node:timers'
import type pg from 'pg'
import type { Log } from '#platform/telemetry/log.ts'

const BEAT_EVERY_MS = 15_000
/** Who says nothing for so long is dead. Handlers are idempotent, should one of these only have been cut off. */
const SILENT_SECONDS = 120
/** Nobody judges others before they have heard them for as long: after an outage everybody looks dead. */
const HEARTBEATS_BEFORE_CLEANUP = SILENT_SECONDS / (BEAT_EVERY_MS / 1000)

export type WorkerHeartbeats = {
  /** A worker of this process begins, by the name under which the library locks jobs. */
  add(id: string): void
  /** It has ended; what it could not give back is given back once it has been silent for long enough. */
  remove(id: string): void
  stop(): Promise<void>
}

/** Says from now on that the workers of this process live, by the clock of the database, and takes care of the dead. */
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
    // The clock was set, or this process or the database stood still: the others could not beat either, as it may be.
    const isSteady = seconds >= lastSeconds && seconds - lastSeconds < SILENT_SECONDS / 2
    lastSeconds = seconds
    inARow = isSteady ? inARow + 1 : 0
    if (inARow < HEARTBEATS_BEFORE_CLEANUP) return
    const freed = await freeSilent(pool)
    if (freed.length === 0) return
    await removeSuperseded(pool)
    log.info({ workers: freed }, 'Jobs of workers that ended without a word were given back')
  }
  const beatLater = (): void => {
    timer = startTimer(() => {
      beating = beat()
        .catch((err: unknown) => {
          inARow = 0
          log.warn({ err }, 'Workers could not say that they live; it is tried again')
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

/** Gives the time of the database, in seconds since 1970. */
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

/** A time in the future is as silent as one long ago: the clock was set back since. A job that was just taken may wait. */
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
 * Removes jobs that were freed and are not to run again: while they ran, a later job took their key, which does the same.
 * The library leaves it to whoever runs them to remove them; it marks them as tried often enough, without an error.
 */
export async function removeSuperseded(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  await pool.query(`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where locked_at is null and key is null and attempts >= max_attempts and last_error is null having count(*) > 0`)
}
