// The download counters in the database follow the events in the store, batch by batch. The ledger's row says how far;
// it moves in the transaction that moves the counters, so a crash anywhere loses and doubles nothing.
import type { AnalyticsStore } from '#analytics-store/analytics-store.ts'
import type { FlushedDownloads } from '#analytics-store/buffer.ts'
import type { ChangeSet } from '#cache/changes.ts'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import type { Deps } from '#main/deps.ts'
import { addDownloads } from './queries.ts'

export type LedgerDeps = Pick<Deps, 'db' | 'cache' | 'log'>

/** Batches taken in by one transaction when many are missing: at most 200,000 events. */
const CATCH_UP_BATCHES = 20

/**
 * Says which store is followed. It must run before anything new is stored: of a store that was replaced, or put back
 * from an older copy, only what comes from now on is news, and what the counters have beyond its events is theirs to
 * keep (`needs_rebase`).
 */
export async function attachStore({ db, cache, log }: LedgerDeps, store: AnalyticsStore): Promise<void> {
  const identity = await store.identity()
  const newest = await store.lastSequence()
  await transaction({ db, cache }, async (tx) => {
    const ledger = await lockLedger(tx)
    const isKnown = ledger.store_id === identity && ledger.applied <= newest
    if (isKnown) return
    const isFirst = ledger.store_id === null
    if (!isFirst) log.warn({ applied: ledger.applied, newest }, 'Download counters follow another store of events')
    await tx
      .updateTable('download_ledger')
      .set({ store_id: identity, ...(isFirst ? {} : { applied: newest, needs_rebase: true }) })
      .execute()
  })
}

/**
 * Takes in what the store has and the counters have not, up to and including `flushed` where that is given.
 * Safe when several run at once, in one process or in several.
 */
export async function catchUp(
  deps: LedgerDeps & { store: Pick<AnalyticsStore, 'identity' | 'lastSequence' | 'countDownloads'> },
  flushed?: FlushedDownloads,
): Promise<void> {
  const identity = await deps.store.identity()
  const newest = flushed?.sequence ?? (await deps.store.lastSequence())
  for (;;) {
    const { applied, store_id } = await readLedger(deps.db)
    if (store_id !== identity) return addForeign(deps, flushed)
    if (applied >= newest) return
    const upTo = Math.min(newest, applied + CATCH_UP_BATCHES)
    const isNext = flushed !== undefined && flushed.sequence === applied + 1
    const { versions } = isNext ? flushed : await deps.store.countDownloads({ after: applied, upTo })
    await transaction(deps, async (tx, changed) => {
      const ledger = await lockLedger(tx)
      // Somebody else has taken these in meanwhile: look again.
      if (ledger.applied !== applied || ledger.store_id !== identity) return
      await tx.updateTable('download_ledger').set({ applied: upTo }).execute()
      await addCounts(tx, changed, versions)
    })
  }
}

/**
 * Another process with a store of its own uses the same database and has taken the ledger over. The counters still
 * count, but nothing protects this batch from a crash.
 */
async function addForeign(deps: LedgerDeps, flushed: FlushedDownloads | undefined): Promise<void> {
  deps.log.warn('Another process follows a store of its own; two stores of events behind one database disagree')
  if (flushed === undefined) return
  await transaction(deps, (tx, changed) => addCounts(tx, changed, flushed.versions))
}

type VersionCounts = FlushedDownloads['versions']

async function addCounts(tx: Tx, changed: ChangeSet, versions: VersionCounts): Promise<void> {
  if (versions.length === 0) return
  await addDownloads(tx, versions)
  changed.add('version', ...versions.map(({ version_id }) => version_id))
  changed.add('project', ...new Set(versions.map(({ project_id }) => project_id)))
}

export type Ledger = { store_id: string | null; applied: number; needs_rebase: boolean }

export function readLedger(db: Deps['db']): Promise<Ledger> {
  return db.selectFrom('download_ledger').select(['store_id', 'applied', 'needs_rebase']).executeTakeFirstOrThrow()
}

/** Whoever moves counters by events holds this first. */
function lockLedger(tx: Tx): Promise<Ledger> {
  return tx
    .selectFrom('download_ledger')
    .select(['store_id', 'applied', 'needs_rebase'])
    .forUpdate()
    .executeTakeFirstOrThrow()
}
