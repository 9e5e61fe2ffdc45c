// Compares the download counters with the events in the store and corrects the differences.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { catchUp, type LedgerDeps, readLedger } from './counter-ledger.ts'
import { type Difference, differencesByPage } from './find-drift.ts'

/** Sums of the absolute differences. */
export type Drift = { projects: number; versions: number }

/**
 * Corrects every counter that differs from its imported downloads plus its events. If the store was replaced or restored,
 * corrects the imported downloads instead. Counting can continue during the run, because corrections are relative.
 * Returns undefined if the counters follow a store that this process does not own.
 */
export async function reconcileDownloads(
  deps: LedgerDeps & { store: AnalyticsStore },
  signal?: AbortSignal,
): Promise<Drift | undefined> {
  await catchUp(deps)
  const { store_id, needs_rebase } = await readLedger(deps.db)
  if (store_id !== (await deps.store.identity())) return undefined
  const drift: Drift = { projects: 0, versions: 0 }
  for await (const { projects, versions } of differencesByPage(deps, signal)) {
    drift.projects += total(projects)
    drift.versions += total(versions)
    await correct(deps, { projects, versions }, needs_rebase ? 'imported_downloads' : 'downloads')
  }
  if (needs_rebase) await deps.db.updateTable('download_ledger').set({ needs_rebase: false }).execute()
  return drift
}

const total = (rows: readonly Difference[]): number => rows.reduce((sum, { drift }) => sum + Math.abs(drift), 0)

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
      // Unlike counting, a correction can decrease a counter, so it needs a new revision.
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + found.change, revision = revision + 1
        from (select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ drift }) => sign * drift)}::bigint[])
          as f (id, change)) found
        where ${sql.ref(`${table}.id`)} = found.id`.execute(tx)
      // No response contains imported downloads.
      if (column === 'downloads') changed.add(table, ...rows.map(({ id }) => id))
    }
  })
}
