// The log of changes that search follows (`migrations/0005_feed_search.sql`), and the requests to rebuild the index.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'

/** The kind under which a request to rebuild is announced. */
export const SEARCH_KIND = 'search'

/** A moment of the database, as far as the index is concerned. */
export type Position = {
  /** PostgreSQL's own name for what was committed then. */
  snapshot: string
  /** A number drawn then; what is read later is at least as new as everything with a smaller number. */
  sequence: number
  /** How often a rebuild was requested up to then. */
  requested: number
  /** Which database this is: another one, one restored from a dump, a standby that took over has another. */
  database: string
}

/** The cluster, its timeline (each recovery from a backup and each change to a standby begins one), and the table. */
const WHICH_DATABASE = sql`
  concat_ws('.', (select system_identifier from pg_control_system()), (select timeline_id from pg_control_checkpoint()),
    (select oid from pg_database where datname = current_database()), 'search_change'::regclass::oid)`

/** The present moment. */
export async function takePosition(db: Db): Promise<Position> {
  const { rows } = await sql<Position>`
    select pg_current_snapshot()::text as snapshot, nextval('search_sequence') as sequence,
      (select requested from search_rebuild) as requested, ${WHICH_DATABASE} as database`.execute(db)
  return only(rows)
}

/** Whether the database has gone back behind a moment that was taken from it: then it was restored. */
const isAheadOf = (snapshot: string) =>
  sql`pg_snapshot_xmax(${snapshot}::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())`

/** Whether a moment that was taken from some database is one of this. */
export async function isOf(db: Db, { database, snapshot }: { database: string; snapshot: string }): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select ${WHICH_DATABASE} = ${database} and not ${isAheadOf(snapshot)} as known`.execute(db)
  return only(rows).known
}

export type ChangePage = {
  /** The moment of this read. */
  snapshot: string
  /** Which database was read; null when it has gone back behind the moment asked from. */
  database: string | null
  requested: number
  /** Drawn after that moment; null when nothing has changed. */
  sequence: number | null
  /** Projects that changed, each once. */
  ids: string[]
  /** Where the next page begins; null after the last one. */
  next: PageStart | null
}
type PageStart = { transaction: string; projectId: string }

/**
 * What was committed after the moment `from`, and up to the moment `to` or the present one: a page of at most `limit`
 * rows. What `from` did not see is exactly that, in whatever order transactions were begun and committed.
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
      case when not ${isAheadOf(from)} then ${WHICH_DATABASE} end as database,
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

/** Counts a request for a new index; gives its number. */
export async function insertRebuildRequest(tx: Tx): Promise<number> {
  const { requested } = await tx
    .updateTable('search_rebuild')
    .set((eb) => ({ requested: eb('requested', '+', 1) }))
    .returning('requested')
    .executeTakeFirstOrThrow()
  return requested
}

/** Notes that a process has met a request and those before it. */
export async function finishRebuild(db: Db, requested: number): Promise<void> {
  await db.updateTable('search_rebuild').set({ finished: requested }).where('finished', '<', requested).execute()
}

/** The last request that some process has met. */
export async function findFinishedRebuild(db: Db): Promise<number> {
  return (await db.selectFrom('search_rebuild').select('finished').executeTakeFirstOrThrow()).finished
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('The statement gave no row')
  return row
}
