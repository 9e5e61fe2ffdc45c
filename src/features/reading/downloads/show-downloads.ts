// Adds pending downloads to the public counters. Cached views are updated in place, but the search index reads every
// changed project again. Therefore the interval grows with the number of changes, from one second to one minute, for all
// processes together.

import { sql } from 'kysely'
import { MINUTE_MS } from '#lib/time.ts'
import type { Counted } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { LedgerDeps } from './counter-ledger.ts'
import { addDownloads, type CountedDownloads } from './queries.ts'

/** Maximum number of projects per transaction: the IDs of projects and versions must fit into notifications. */
const PROJECTS_AT_ONCE = 500
const VERSIONS_AT_ONCE = 2_000
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = MINUTE_MS
/** Pause per changed row. It limits the changes that downloads cause in the search index to 50 per second. */
const PAUSE_PER_CHANGE_MS = 20
/** Key of the lock that lets only one process show downloads at a time. */
const ADVISORY_LOCK = 7_331_002

/** `isAll`: no downloads are pending. The next call can be made after `pauseMs` milliseconds. */
export type Shown = { isAll: boolean; pauseMs: number }

/**
 * Shows pending downloads, unless the last time was too recent or another process is showing them. Skips locked rows.
 * @param options.now Waits for the other process and ignores the interval.
 */
export async function showDownloads(deps: LedgerDeps, options: { now: boolean }): Promise<Shown> {
  for (let shown = 0; ; ) {
    const step = await transaction(deps, async (tx, changed) => {
      if (!(await lockShowing(tx, options.now))) return { pauseMs: SHORTEST_PAUSE_MS }
      const waitMs = await msUntilDue(tx)
      if (waitMs > 0 && !options.now && shown === 0) return { pauseMs: waitMs }
      const moved = await takePending(tx)
      const { projects, versions } = await addDownloads(tx, moved)
      changed.addCounts('project', projects.map(countedById))
      changed.addCounts('version', versions.map(countedById))
      const total = shown + versions.length + projects.length
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, total * PAUSE_PER_CHANGE_MS))
      await sql`update download_ledger set show_after = now() + ${pauseMs} * interval '1 millisecond'`.execute(tx)
      return { pauseMs, total, moved: moved.length, isAll: moved.length === 0 && !(await hasPending(tx)) }
    })
    if (step.moved === undefined) return { isAll: false, pauseMs: step.pauseMs }
    if (step.moved === 0) return { isAll: step.isAll, pauseMs: step.pauseMs }
    shown = step.total
  }
}

const countedById = ({ id, ...counted }: CountedDownloads): [string, Counted] => [id, counted]

async function lockShowing(tx: Tx, mayWait: boolean): Promise<boolean> {
  if (mayWait) await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx)
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as locked`.execute(
    tx,
  )
  return rows[0]?.locked === true
}

async function msUntilDue(tx: Tx): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from show_after - clock_timestamp()) * 1000)::float8 as ms from download_ledger`.execute(tx)
  return rows[0]?.ms ?? 0
}

async function hasPending(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from download_pending) as found`.execute(tx)
  return rows[0]?.found === true
}

type Pending = { project_id: string; version_id: string; downloads: number }

/** Deletes and returns pending rows whose project and version are not locked, and locks these. */
async function takePending(tx: Tx): Promise<Pending[]> {
  const { rows: projects } = await sql<{ id: string }>`
    select id from project where id in (
      select distinct project_id from download_pending order by project_id limit ${PROJECTS_AT_ONCE})
    order by id for no key update skip locked`.execute(tx)
  const ids = projects.map(({ id }) => id)
  const { rows: versions } = await sql<{ id: string }>`
    select id from version where id in (
      select version_id from download_pending where project_id = any(${ids}::text[])
      order by version_id limit ${VERSIONS_AT_ONCE})
    order by id for no key update skip locked`.execute(tx)
  const { rows } = await sql<Pending>`
    delete from download_pending where version_id in (
      select version_id from download_pending
      where (version_id = any(${versions.map(({ id }) => id)}::text[])
          or not exists (select from version where version.id = download_pending.version_id))
        and (project_id = any(${ids}::text[])
          or not exists (select from project where project.id = download_pending.project_id))
      for update skip locked)
    returning project_id, version_id, downloads`.execute(tx)
  return rows
}
