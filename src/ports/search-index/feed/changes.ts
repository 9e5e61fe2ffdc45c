// Reads the log of changes that search follows (`migrations/0005_feed_search.sql`), and requests to rebuild the index.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'

/** Kind of the invalidation message of a request to rebuild. */
export const SEARCH_KIND = 'search'

/** A moment of the database. */
export type Position = {
  /** Snapshot of PostgreSQL, which identifies the transactions that were committed. */
  snapshot: string
  /** A new sequence number. Data that is read later is at least as new as data with a smaller number. */
  sequence: number
  /** Number of requests to rebuild so far. */
  requested: number
  /** Identifies the database. It changes after a restore from a dump and after a failover to a standby. */
  database: string
}

/** The cluster, its timeline (a recovery from a backup or a failover begins a new one), and the table. */
const DATABASE_IDENTITY = sql`
  concat_ws('.', (select system_identifier from pg_control_system()), (select timeline_id from pg_control_checkpoint()),
    (select oid from pg_database where datname = current_database()), 'search_change'::regclass::oid)`

/** Returns the current position. */
export async function takePosition(db: Db): Promise<Position> {
  const { rows } = await sql<Position>`
    select pg_current_snapshot()::text as snapshot, nextval('search_sequence') as sequence,
      (select requested from search_rebuild) as requested, ${DATABASE_IDENTITY} as database`.execute(db)
  return only(rows)
}

/** Whether the snapshot is newer than the database, which was then restored to an earlier state. */
const isAheadOf = (snapshot: string) =>
  sql`pg_snapshot_xmax(${snapshot}::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())`

/** Whether a snapshot was taken from this database. */
export async function isOfDatabase(
  db: Db,
  { database, snapshot }: { database: string; snapshot: string },
): Promise<boolean> {
  const { rows } = await sql<{ matches: boolean }>`
    select ${DATABASE_IDENTITY} = ${database} and not ${isAheadOf(snapshot)} as matches`.execute(db)
  return only(rows).matches
}

export type ChangePage = {
  /** Snapshot of this read. */
  snapshot: string
  /** Identifies the database; null if it was restored to a state before `from`. */
  database: string | null
  requested: number
  /** Sequence number drawn after the snapshot; null if nothing has changed. */
  sequence: number | null
  /** IDs of changed projects, without duplicates. */
  ids: string[]
  /** Start of the next page; null after the last page. */
  next: PageStart | null
}
type PageStart = { transaction: string; projectId: string }

/**
 * Returns a page of at most `limit` changes that were committed after the snapshot `from` and up to `to` (default: now).
 * These are the changes that are not visible in `from`, regardless of the order in which transactions began.
 */
export async function listChanges(
  db: Db,
  { from, to, after, limit }: { from: string; to?: string; after?: PageStart; limit: number },
): Promise<ChangePage> {
  const start =
    after === undefined ? sql`` : sql`and (transaction, project_id) > (${after.transaction}::xid8, ${after.projectId})`
  const { rows } = await sql<Omit<ChangePage, 'next' | 'ids'> & { changed: [string, string][] | null }>`
    with moment as materialized (
      select coalesce(${to ?? null}::pg_snapshot, pg_current_snapshot()) as snapshot
    ), changed as materialized (
      select transaction, project_id from search_change
      where transaction >= pg_snapshot_xmin(${from}::pg_snapshot)
        and not pg_visible_in_snapshot(transaction, ${from}::pg_snapshot)
        and pg_visible_in_snapshot(transaction, (select snapshot from moment)) ${start}
      order by transaction, project_id limit ${limit}
    )
    select (select snapshot from moment)::text as snapshot,
      case when not ${isAheadOf(from)} then ${DATABASE_IDENTITY} end as database,
      (select requested from search_rebuild) as requested,
      case when exists (select from changed) then nextval('search_sequence') end as sequence,
      (select json_agg(json_build_array(transaction::text, project_id) order by transaction, project_id) from changed)
        as changed`.execute(db)
  const { changed, ...page } = only(rows)
  const last = changed?.length === limit ? changed.at(-1) : undefined
  return {
    ...page,
    ids: [...new Set((changed ?? []).map(([, id]) => id))],
    next: last === undefined ? null : { transaction: last[0], projectId: last[1] },
  }
}

/** Stores a request to rebuild and returns its number. */
export async function insertRebuildRequest(tx: Tx): Promise<number> {
  const { requested } = await tx
    .updateTable('search_rebuild')
    .set((eb) => ({ requested: eb('requested', '+', 1) }))
    .returning('requested')
    .executeTakeFirstOrThrow()
  return requested
}

/** Records that a process has fulfilled a request and all earlier ones. */
export async function finishRebuild(db: Db, requested: number): Promise<void> {
  await db.updateTable('search_rebuild').set({ finished: requested }).where('finished', '<', requested).execute()
}

/** Returns the number of the last request that a process has fulfilled. */
export async function findFinishedRebuild(db: Db): Promise<number> {
  return (await db.selectFrom('search_rebuild').select('finished').executeTakeFirstOrThrow()).finished
}

/** Returns whether a request to rebuild has not been fulfilled, and the number of projects that the index should contain. */
export async function readIndexTarget(db: Db): Promise<{ isRequested: boolean; projects: number }> {
  const { rows } = await sql<{ isRequested: boolean; projects: number }>`
    select (select requested > finished from search_rebuild) as "isRequested",
      (select count(*)::int from project where is_searchable(status)) as projects`.execute(db)
  return only(rows)
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('The statement returned no row')
  return row
}
