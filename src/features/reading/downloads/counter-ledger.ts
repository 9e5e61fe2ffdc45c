// The ledger of the download counters. A transaction that counts a batch of events also records the ID of the batch, so
// each batch counts once, even if several processes send it. To find batches that a crashed process did not count, the
// ledger compares the store's list of batches with the recorded IDs.

import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import {
  type AnalyticsStore,
  LISTED_BATCHES_MAX,
  READ_BATCHES_MAX,
  type VersionDownloads,
} from '#ports/analytics-store/analytics-store.ts'
import type { Deps } from '#ports/deps.ts'

export type LedgerDeps = Pick<Deps, 'db' | 'cache' | 'log'>

/** Less than the time for which every store remembers its batches. */
const RECENT_MS = 2 * DAY_MS

/**
 * Records which store the counters follow. Must run before new events are stored. If the store was replaced or restored
 * from an older copy, the counters follow only new batches and retain their present values (`needs_rebase`).
 */
export async function openCounterLedger({ db, log }: LedgerDeps, store: AnalyticsStore): Promise<void> {
  const identity = await store.identity()
  const before = await readLedger(db)
  if (before.store_id === identity && !(await hasForgotten(db, store))) return
  const settledAt = await store.settledAt()
  await db.transaction().execute(async (tx) => {
    const ledger = await lockLedger(tx)
    // Another process has already recorded the store.
    if (ledger.store_id !== before.store_id || ledger.caught_up_to !== before.caught_up_to) return
    const isFirst = ledger.store_id === null
    if (!isFirst) log.warn({ before: ledger.store_id }, 'The download counters now follow a different analytics store')
    await tx
      .updateTable('download_ledger')
      .set({ store_id: identity, ...(isFirst ? {} : { caught_up_to: settledAt, needs_rebase: true }) })
      .execute()
  })
}

/** Returns whether the store lacks the batch that was counted last, that is, was restored from an older copy. */
async function hasForgotten(db: Deps['db'], store: AnalyticsStore): Promise<boolean> {
  const newest = await db
    .selectFrom('download_batch')
    .select('id')
    .where('applied', '>', new Date(Date.now() - RECENT_MS))
    .orderBy('applied', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest !== undefined && !(await store.readBatches([newest.id])).has(newest.id)
}

/** Downloads of each batch, by batch ID. */
export type BatchCounts = ReadonlyMap<string, readonly VersionDownloads[]>

/**
 * Adds the downloads of batches that are not counted yet to the pending downloads. Does not wait for locks on projects
 * or versions. Concurrent calls are safe.
 */
export async function applyBatches(deps: LedgerDeps, batches: BatchCounts): Promise<void> {
  if (batches.size === 0) return
  await transaction(deps, async (tx) => {
    const { rows } = await sql<{ id: string }>`insert into download_batch (id)
      select id from unnest(${[...batches.keys()]}::text[]) as batch (id) order by id
      on conflict do nothing returning id`.execute(tx)
    const counts = rows.flatMap(({ id }) => batches.get(id) ?? [])
    await addPending(tx, counts)
  })
}

async function addPending(tx: Tx, counts: readonly VersionDownloads[]): Promise<void> {
  if (counts.length === 0) return
  // The order of the keys prevents deadlocks between concurrent calls.
  await sql`insert into download_pending (version_id, project_id, downloads)
    select version_id, min(project_id), sum(downloads) from unnest(
      ${counts.map(({ version_id }) => version_id)}::text[], ${counts.map(({ project_id }) => project_id)}::text[],
      ${counts.map(({ downloads }) => downloads)}::bigint[]) as counted (version_id, project_id, downloads)
    group by version_id order by version_id
    on conflict (version_id) do update set downloads = download_pending.downloads + excluded.downloads`.execute(tx)
}

/**
 * Counts every batch that is in the store and not in the ledger. Concurrent calls are safe, also from other processes.
 */
export async function catchUp(deps: LedgerDeps & { store: AnalyticsStore }): Promise<void> {
  const { db, store, log } = deps
  const identity = await store.identity()
  for (;;) {
    const { caught_up_to, store_id } = await readLedger(db)
    if (store_id !== identity) {
      log.warn('Another process uses this database with a different analytics store; the two stores disagree')
      return
    }
    // Must be read before the list: batches that are stored in between are listed again by the next call.
    const settledAt = await store.settledAt()
    const listed = await store.listBatches({ from: caught_up_to })
    const isAll = listed.length < LISTED_BATCHES_MAX
    const upTo = isAll ? settledAt : Math.min(settledAt, listed.at(-1)?.storedAt ?? settledAt)
    const ids = listed.map(({ id }) => id)
    const missing = await filterUncounted(db, ids)
    for (let from = 0; from < missing.length; from += READ_BATCHES_MAX)
      await applyBatches(deps, await store.readBatches(missing.slice(from, from + READ_BATCHES_MAX)))
    const passed = listed.filter(({ storedAt }) => storedAt < upTo).map(({ id }) => id)
    await passBatches(deps, { identity, upTo, passed, isAll })
    if (isAll || upTo <= caught_up_to) return
  }
}

async function filterUncounted(db: Deps['db'], ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from unnest(${ids}::text[]) as listed (id)
    where not exists (select from download_batch where download_batch.id = listed.id)`.execute(db)
  return rows.map(({ id }) => id)
}

/** Advances the ledger. Batch IDs remain for days, because a process might send a batch again later. */
async function passBatches(
  { db }: LedgerDeps,
  { identity, upTo, passed, isAll }: { identity: string; upTo: number; passed: string[]; isAll: boolean },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const ledger = await lockLedger(tx)
    if (ledger.store_id !== identity || ledger.caught_up_to > upTo) return
    await sql`update download_batch set is_passed = true where id = any(${passed}::text[]) and not is_passed`.execute(
      tx,
    )
    await tx.updateTable('download_ledger').set({ caught_up_to: upTo }).execute()
    if (isAll) {
      await sql`delete from download_batch where (is_passed and applied < now() - interval '3 days')
        or applied < now() - interval '30 days'`.execute(tx)
    }
  })
}

export type Ledger = { store_id: string | null; caught_up_to: number; needs_rebase: boolean }

const selectLedger = (db: Deps['db'] | Tx) =>
  db.selectFrom('download_ledger').select(['store_id', 'caught_up_to', 'needs_rebase'])

export const readLedger = (db: Deps['db'] | Tx): Promise<Ledger> => selectLedger(db).executeTakeFirstOrThrow()

/** Every change of the followed store or of the progress needs this lock. */
const lockLedger = (tx: Tx): Promise<Ledger> => selectLedger(tx).forUpdate().executeTakeFirstOrThrow()
