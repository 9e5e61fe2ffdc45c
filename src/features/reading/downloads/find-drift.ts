// Compares the download counters with the events in the store.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { type AnalyticsStore, LISTED_BATCHES_MAX } from '#ports/analytics-store/analytics-store.ts'
import { catchUp, type LedgerDeps, readLedger } from './counter-ledger.ts'

/** Number of projects per comparison. */
const PAGE = 500

type Counter = { id: string; downloads: number; imported_downloads: number }
/** Excess of a counter over its events; negative if the counter is too low. */
export type Difference = { id: string; drift: number }

/** Yields the differences page by page: those of up to 500 projects and their versions. */
export async function* differencesByPage(
  { db, store }: LedgerDeps & { store: AnalyticsStore },
  signal?: AbortSignal,
): AsyncGenerator<{ projects: Difference[]; versions: Difference[] }> {
  for (let after = ''; ; ) {
    signal?.throwIfAborted()
    const page = await readPage(db, after)
    if (page.projects.length === 0) return
    after = page.projects.at(-1)?.id ?? ''
    const counted = await store.countDownloads({
      storedBefore: page.caughtUpTo,
      alsoBatches: page.laterBatches,
      projectIds: page.projects.map(({ id }) => id),
    })
    yield {
      projects: differences(page.projects, new Map(counted.projects.map((row) => [row.project_id, row.downloads]))),
      versions: differences(page.versions, new Map(counted.versions.map((row) => [row.version_id, row.downloads]))),
    }
  }
}

/**
 * Counts all stored events, then returns every counter that differs from its imported downloads plus its events.
 * Returns no differences until the nightly job has rebased the counters on a replaced store.
 */
export async function findDrift(
  deps: LedgerDeps & { store: AnalyticsStore },
): Promise<{ of: 'project' | 'version'; id: string; difference: number }[]> {
  await catchUp(deps)
  const { store_id, needs_rebase } = await readLedger(deps.db)
  if (needs_rebase || store_id !== (await deps.store.identity())) return []
  const found: { of: 'project' | 'version'; id: string; difference: number }[] = []
  for await (const { projects, versions } of differencesByPage(deps)) {
    found.push(...projects.map(({ id, drift }) => ({ of: 'project' as const, id, difference: drift })))
    found.push(...versions.map(({ id, drift }) => ({ of: 'version' as const, id, difference: drift })))
  }
  return found
}

/**
 * Reads the next projects, their versions, and the batches that their counters (including pending downloads) contain:
 * all batches stored before `caughtUpTo`, and `laterBatches`. Everything is from one snapshot.
 */
function readPage(db: Db, after: string) {
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
