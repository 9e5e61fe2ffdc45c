// Holds the download counters against the events they are made from, and puts right what differs.
import { sql } from 'kysely'
import { type AnalyticsStore, LISTED_BATCHES_MAX } from '#analytics-store/analytics-store.ts'
import { transaction } from '#cache/transaction.ts'
import type { Db } from '#db/db.ts'
import { catchUp, type LedgerDeps, readLedger } from './counter-ledger.ts'

/** Projects compared at once. */
const PAGE = 500

type Counter = { id: string; downloads: number; imported_downloads: number }
type Page = { caughtUpTo: number; laterBatches: string[]; projects: Counter[]; versions: Counter[] }
/** What a counter has too much (or, negative, too little). */
type Difference = { id: string; drift: number }

/** Sums of the absolute differences that were found. */
export type Drift = { projects: number; versions: number }

/**
 * Compares every counter with its imported downloads plus its events, and corrects the counter; after the store was
 * replaced or restored, the imported downloads take up the difference instead. A second run finds nothing. Counting
 * goes on meanwhile: corrections are added, not set. Undefined when this process does not hold the store that the
 * counters follow.
 */
export async function reconcileDownloads(
  deps: LedgerDeps & { store: AnalyticsStore },
  signal?: AbortSignal,
): Promise<Drift | undefined> {
  await catchUp(deps)
  const { store_id, needs_rebase } = await readLedger(deps.db)
  if (store_id !== (await deps.store.identity())) return undefined
  const drift: Drift = { projects: 0, versions: 0 }
  for (let after = ''; ; ) {
    signal?.throwIfAborted()
    const page = await readPage(deps.db, after)
    if (page.projects.length === 0) break
    after = page.projects.at(-1)?.id ?? ''
    const counted = await deps.store.countDownloads({
      storedBefore: page.caughtUpTo,
      alsoBatches: page.laterBatches,
      projectIds: page.projects.map(({ id }) => id),
    })
    const projects = differences(page.projects, new Map(counted.projects.map((row) => [row.project_id, row.downloads])))
    const versions = differences(page.versions, new Map(counted.versions.map((row) => [row.version_id, row.downloads])))
    drift.projects += total(projects)
    drift.versions += total(versions)
    await correct(deps, { projects, versions }, needs_rebase ? 'imported_downloads' : 'downloads')
  }
  if (needs_rebase) await deps.db.updateTable('download_ledger').set({ needs_rebase: false }).execute()
  return drift
}

/**
 * The next projects with what is counted for them, shown or pending, and which batches are in it: all that were stored
 * before `caughtUpTo`, and `laterBatches`. All as of one moment.
 */
function readPage(db: Db, after: string): Promise<Page> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const { caught_up_to: caughtUpTo } = await readLedger(tx)
      const later = await tx
        .selectFrom('download_batch')
        .select('id')
        .where('is_passed', '=', false)
        .orderBy('applied', 'desc')
        .limit(LISTED_BATCHES_MAX)
        .execute()
      const laterBatches = later.map(({ id }) => id)
      const { rows: projects } = await sql<Counter>`
        select id, imported_downloads, downloads + coalesce((
          select sum(downloads) from download_pending where project_id = project.id), 0)::bigint as downloads
        from project where id > ${after} order by id limit ${PAGE}`.execute(tx)
      const ids = projects.map(({ id }) => id)
      if (ids.length === 0) return { caughtUpTo, laterBatches, projects, versions: [] }
      const { rows: versions } = await sql<Counter>`
        select version.id, imported_downloads, version.downloads + coalesce(download_pending.downloads, 0) as downloads
        from version left join download_pending on download_pending.version_id = version.id
        where version.project_id = any(${ids}::text[])`.execute(tx)
      return { caughtUpTo, laterBatches, projects, versions }
    })
}

function differences(counters: readonly Counter[], events: ReadonlyMap<string, number>): Difference[] {
  return counters.flatMap(({ id, downloads, imported_downloads }) => {
    const drift = downloads - imported_downloads - (events.get(id) ?? 0)
    return drift === 0 ? [] : [{ id, drift }]
  })
}

const total = (found: readonly Difference[]): number => found.reduce((sum, { drift }) => sum + Math.abs(drift), 0)

async function correct(
  deps: LedgerDeps,
  { projects, versions }: { projects: Difference[]; versions: Difference[] },
  column: 'downloads' | 'imported_downloads',
): Promise<void> {
  if (projects.length + versions.length === 0) return
  await transaction(deps, async (tx, changed) => {
    for (const [table, rows] of [
      ['project', projects],
      ['version', versions],
    ] as const) {
      const sign = column === 'downloads' ? -1 : 1
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + found.change
        from (select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ drift }) => sign * drift)}::bigint[])
          as f (id, change)) found
        where ${sql.ref(`${table}.id`)} = found.id`.execute(tx)
      // What was imported is in no answer.
      if (column === 'downloads') changed.add(table, ...rows.map(({ id }) => id))
    }
  })
}
