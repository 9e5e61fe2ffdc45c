// The log of changes: each transaction that changes what processes keep in memory leaves one row, which becomes visible
// with its commit. Who follows the log by snapshots misses none, in whatever order transactions commit.

import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { type ClientBase, escapeLiteral, type Pool } from 'pg'
import { runAtCommit } from '#platform/db/at-commit.ts'
import {
  type ChangeSet,
  type Changes,
  type Counts,
  readChanges,
  type WrittenChanges,
  writtenChanges,
} from './changes.ts'

/** What a transaction changed; `id` is its own, and the same in the log and in the notice. */
export type LoggedChanges = { id: string; changes: WrittenChanges }

/** What was changed and counted; undefined when it cannot be read: then anything may have changed. */
export type News = { changes: Changes; counts: Counts } | undefined

/** What a snapshot of the log saw that an older one did not. */
export type LogNews = {
  /** Of all transactions that have committed: what the next question begins from. */
  snapshot: string
  /** The clock of the database, in milliseconds. */
  at: number
  news: News[]
}

/** Rows are kept for this long after every follower could have read them. */
export const LOG_RETENTION_MS = 60_000
/** Deleted by one statement at most: at 2,000 changes a second a minute has 120,000. */
const TRIMMED_AT_ONCE = 200_000

/** Logs what `tx` changes, in one message with its commit, waiting for nobody; nothing changed logs nothing. */
export async function logChanges<DB>(
  tx: Transaction<DB>,
  changed: Pick<ChangeSet, 'changes' | 'counts'>,
): Promise<LoggedChanges | undefined> {
  const { changes, counts } = changed
  if (changes.size === 0 && counts.size === 0) return undefined
  const logged = { id: randomUUID(), changes: writtenChanges(changes, counts) }
  await runAtCommit(
    tx,
    `insert into change_log (id, changes) values (${escapeLiteral(logged.id)}, ${escapeLiteral(JSON.stringify(logged.changes))})`,
  )
  return logged
}

/**
 * Reads what has been committed since the snapshot `since`; without one, only where the log stands now. Those with an
 * ID of `heard` are left out.
 */
export async function readLog(client: ClientBase, since?: string, heard: Iterable<string> = []): Promise<LogNews> {
  const { rows } = await client.query<{ snapshot: string; at: number; news: unknown[] }>(
    `select pg_current_snapshot()::text as snapshot, (extract(epoch from clock_timestamp()) * 1000)::float8 as at,
      coalesce((
        select jsonb_agg(changes) from change_log
        where transaction >= pg_snapshot_xmin($1::pg_snapshot)
          and not pg_visible_in_snapshot(transaction, $1::pg_snapshot)
          and id <> all($2::text[])), '[]') as news`,
    [since ?? null, [...heard]],
  )
  const [row] = rows
  if (row === undefined) throw new Error('The change log returned no row')
  return { snapshot: row.snapshot, at: row.at, news: row.news.map(readChanges) }
}

/**
 * Deletes what was committed before `snapshot`, and rows of another database from which this one was copied: numbers
 * that this one has yet to give. Rows that another process is deleting are left to it.
 */
export async function trimLog(pool: Pick<Pool, 'query'>, snapshot: string): Promise<void> {
  await pool.query(
    `delete from change_log where ctid = any(array(
      select ctid from change_log
      where transaction < pg_snapshot_xmin($1::pg_snapshot) or transaction >= pg_snapshot_xmax(pg_current_snapshot())
      limit ${TRIMMED_AT_ONCE} for update skip locked))`,
    [snapshot],
  )
}
