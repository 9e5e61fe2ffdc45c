// The change log: each transaction that changes cached data writes one row, which becomes visible with the commit. A
// follower that reads the log by snapshots misses no row, regardless of the order of the commits.

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

/** The changes of a transaction. The log and the notice contain the same `id`. */
export type LoggedChanges = { id: string; changes: WrittenChanges }

/** Changes and counts; undefined if the row is invalid, so that anything might have changed. */
export type News = { changes: Changes; counts: Counts } | undefined

/** The rows that are visible to a snapshot of the log but not to an older one. */
export type LogNews = {
  /** Snapshot of all committed transactions. The next read starts from it. */
  snapshot: string
  /** The clock of the database, in milliseconds. */
  at: number
  news: News[]
}

/** Retention of rows after every follower has had time to read them. */
export const LOG_RETENTION_MS = 60_000
/** Maximum number of rows that one statement deletes: 2,000 changes per second are 120,000 rows per minute. */
const TRIMMED_AT_ONCE = 200_000

/** Logs the changes of `tx` in one message with its commit, so that it adds no wait. Does nothing without changes. */
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
 * Reads the changes that were committed after the snapshot `since`, except those with an ID in `heard`. Without `since`,
 * returns only the current snapshot.
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
 * Deletes the rows that were committed before `snapshot`, and the rows that a copied database brought from its original:
 * their transaction IDs are in the future. Skips rows that another process is deleting.
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
