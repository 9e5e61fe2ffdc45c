// Moves pending downloads into the counters that people see. Views that are kept get the new numbers without being read
// again, but the search index reads each project that moved; so it happens the more rarely the more there is to move: at
// most once a second, at least once a minute, for all processes together.

import { sql } from 'kysely'
import { MINUTE_MS } from '#lib/time.ts'
import type { Counted } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { LedgerDeps } from './counter-ledger.ts'
import { addDownloads, type CountedDownloads } from './queries.ts'

/** Projects moved by one transaction: their IDs, and those of their versions, still fit into messages by name. */
const PROJECTS_AT_ONCE = 500
const VERSIONS_AT_ONCE = 2_000
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = MINUTE_MS
/** Each thing that was counted costs this much of a pause: 50 a second change in the search index because of downloads. */
const PAUSE_PER_CHANGE_MS = 20
/** Of two processes that want to show, the second waits or leaves it: a number of the application's own. */
const ADVISORY_LOCK = 7_331_002

/** `isAll`: nothing is pending any more. It may be done again in `pauseMs` milliseconds. */
export type Shown = { isAll: boolean; pauseMs: number }

/**
 * Shows what is pending, unless it was done too short a time ago or another process is about it. Rows that somebody
 * holds are left for the next time.
 * @param options.now Shows it in any case, waiting for that process.
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

/** Takes pending rows out, of which neither the project nor the version is held by anybody; they are held then. */
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
