// Download counters follow the batches of events in the store. The transaction that adds a batch also notes its ID, so
// a batch counts once, whichever process brings it and however often. What a process that died has left is found by
// comparing the store's list of batches with the IDs noted.

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

/** Stores of both kinds remember their batches for longer. */
const RECENT_MS = 2 * DAY_MS

/**
 * Says which store is followed. It must run before anything new is stored: of a store that was replaced, or put back
 * from an older copy, only what comes from now on is news, and what the counters have beyond its events is theirs to
 * keep (`needs_rebase`).
 */
export async function openCounterLedger({ db, log }: LedgerDeps, store: AnalyticsStore): Promise<void> {
  const identity = await store.identity()
  const before = await readLedger(db)
  if (before.store_id === identity && !(await hasForgotten(db, store))) return
  const settledAt = await store.settledAt()
  await db.transaction().execute(async (tx) => {
    const ledger = await lockLedger(tx)
    // Another process of several has done it meanwhile.
    if (ledger.store_id !== before.store_id || ledger.caught_up_to !== before.caught_up_to) return
    const isFirst = ledger.store_id === null
    if (!isFirst) log.warn({ before: ledger.store_id }, 'Download counters follow another store of events from now on')
    await tx
      .updateTable('download_ledger')
      .set({ store_id: identity, ...(isFirst ? {} : { caught_up_to: settledAt, needs_rebase: true }) })
      .execute()
  })
}

/** Whether the store lacks the batch that was counted last: then it was put back from an older copy. */
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

/** What batches add to the counters, by the ID of the batch. */
export type BatchCounts = ReadonlyMap<string, readonly VersionDownloads[]>

/**
 * Adds these batches, less those that are counted already, to what is pending for the counters. Waits for no row of a
 * project or a version. Safe when several run at once.
 */
export async function applyBatches(deps: LedgerDeps, batches: BatchCounts): Promise<void> {
  if (batches.size === 0) return
  await transaction(deps, async (tx) => {
    const { rows } = await sql<{ id: string }>`insert into download_batch (id)
      select id from unnest(${[...batches.keys()]}::text[]) as batch (id) order by id
      on conflict do nothing returning id`.execute(tx)
    await addPending(
      tx,
      rows.flatMap(({ id }) => batches.get(id) ?? []),
    )
  })
}

async function addPending(tx: Tx, counts: readonly VersionDownloads[]): Promise<void> {
  if (counts.length === 0) return
  // In the order of the keys, so that two at once wait for each other and never in a circle.
  await sql`insert into download_pending (version_id, project_id, downloads)
    select version_id, min(project_id), sum(downloads) from unnest(
      ${counts.map(({ version_id }) => version_id)}::text[], ${counts.map(({ project_id }) => project_id)}::text[],
      ${counts.map(({ downloads }) => downloads)}::bigint[]) as counted (version_id, project_id, downloads)
    group by version_id order by version_id
    on conflict (version_id) do update set downloads = download_pending.downloads + excluded.downloads`.execute(tx)
}

/**
 * Takes in every batch that the store has and the counters have not. Safe when several run at once, in one process or
 * in several.
 */
export async function catchUp(deps: LedgerDeps & { store: AnalyticsStore }): Promise<void> {
  const { db, store, log } = deps
  const identity = await store.identity()
  for (;;) {
    const { caught_up_to, store_id } = await readLedger(db)
    if (store_id !== identity) {
      log.warn('Another process follows a store of its own; two stores of events behind one database disagree')
      return
    }
    // Asked first: what is stored meanwhile may be listed, and is then looked at again the next time.
    const settledAt = await store.settledAt()
    const listed = await store.listBatches({ from: caught_up_to })
    const isAll = listed.length < LISTED_BATCHES_MAX
    const upTo = isAll ? settledAt : Math.min(settledAt, listed.at(-1)?.storedAt ?? settledAt)
    const missing = await keepUnknown(
      db,
      listed.map(({ id }) => id),
    )
    for (let from = 0; from < missing.length; from += READ_BATCHES_MAX) {
      await applyBatches(deps, await store.readBatches(missing.slice(from, from + READ_BATCHES_MAX)))
    }
    const passed = listed.filter(({ storedAt }) => storedAt < upTo).map(({ id }) => id)
    await passBatches(deps, { identity, upTo, passed, isAll })
    if (isAll || upTo <= caught_up_to) return
  }
}

async function keepUnknown(db: Deps['db'], ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from unnest(${ids}::text[]) as listed (id)
    where not exists (select from download_batch where download_batch.id = listed.id)`.execute(db)
  return rows.map(({ id }) => id)
}

/** Moves the ledger on. IDs are kept for days after that, against a repetition that comes late. */
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

export function readLedger(db: Deps['db']): Promise<Ledger> {
  return db.selectFrom('download_ledger').select(['store_id', 'caught_up_to', 'needs_rebase']).executeTakeFirstOrThrow()
}

/** Whoever says what is followed, or how far, holds this first. */
function lockLedger(tx: Tx): Promise<Ledger> {
  return tx
    .selectFrom('download_ledger')
    .select(['store_id', 'caught_up_to', 'needs_rebase'])
    .forUpdate()
    .executeTakeFirstOrThrow()
}
