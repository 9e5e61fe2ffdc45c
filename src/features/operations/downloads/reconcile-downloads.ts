// Holds the download counters against the events they are made from, and puts right what differs.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { catchUp, type LedgerDeps, readLedger } from './counter-ledger.ts'
import { type Difference, differencesByPage } from './find-drift.ts'

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
  for await (const { projects, versions } of differencesByPage(deps, signal)) {
    drift.projects += total(projects)
    drift.versions += total(versions)
    await correct(deps, { projects, versions }, needs_rebase ? 'imported_downloads' : 'downloads')
  }
  if (needs_rebase) await deps.db.updateTable('download_ledger').set({ needs_rebase: false }).execute()
  return drift
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
      // A correction may lower a number, which counting never does: it is a new revision.
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + found.change, revision = revision + 1
        from (select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ drift }) => sign * drift)}::bigint[])
          as f (id, change)) found
        where ${sql.ref(`${table}.id`)} = found.id`.execute(tx)
      // What was imported is in no answer.
      if (column === 'downloads') changed.add(table, ...rows.map(({ id }) => id))
    }
  })
}
