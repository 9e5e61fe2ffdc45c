// The only writer of a file. It stores batches one after another, each in a transaction that also stores the ID of the
// batch, so that no batch is stored twice. DuckDB commits and syncs outside of the event loop.

import { setImmediate } from 'node:timers/promises'
import {
  BIGINT,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  UINTEGER,
  VARCHAR,
} from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { PROJECT_KINDS } from '../analytics-store.ts'
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow, TABLES } from '../events.ts'
import { COLUMN_TYPES } from './schema.ts'
import { findLastTermKey, findTermKeys, TERM_COLUMNS, termTable } from './terms.ts'

/** Vector size of DuckDB, the maximum number of rows in a chunk. */
const CHUNK_ROWS = 2048
/** Time for which the IDs of batches are retained. */
const BATCHES_RETAINED_MS = 3 * DAY_MS
/** Number of batches between removals of expired IDs. */
const BATCHES_BETWEEN_CLEANING = 10_000
/** Maximum lead of the clock that created the ID of a batch. */
const CLOCK_SKEW_MS = HOUR_MS

type WrittenBatch = { id: string; madeAt: number; events: readonly EventRow[] }

/** Number of cached terms per column, of about 100 bytes each. */
const CACHED_TERMS = 100_000

type ColumnTerms = { cache: LRUCache<string, number>; lastKey: number }

type State = {
  connection: DuckDBConnection
  terms: Map<string, ColumnTerms>
  lastSequence: number
  /** The newest returned instant in milliseconds since 1970. Each instant is returned once. */
  lastInstant: number
  batchesUntilCleaning: number
}

/** The terms of one column in a batch; `added` are not stored yet. */
type BatchTerms = { column: string; keys: Map<string, number>; added: Map<string, number> }

/** Uses the connection exclusively. An instance must have only one writer, which caches the last sequence and the terms. */
export async function openWriter(connection: DuckDBConnection) {
  const newest = await connection.run(
    `SELECT (SELECT coalesce(max(sequence), 0)::DOUBLE FROM downloads),
      (SELECT coalesce(max(stored_at), 0)::DOUBLE FROM batches)`,
  )
  const [lastSequence, lastInstant] = ((await newest.getRows())[0] ?? []) as number[]
  const state: State = {
    connection,
    terms: new Map(),
    lastSequence: lastSequence ?? 0,
    lastInstant: lastInstant ?? 0,
    batchesUntilCleaning: BATCHES_BETWEEN_CLEANING,
  }
  for (const column of TERM_COLUMNS) {
    const cache = new LRUCache<string, number>({ max: CACHED_TERMS })
    state.terms.set(column, { cache, lastKey: await findLastTermKey(connection, column) })
  }
  let tail: Promise<unknown> = Promise.resolve()
  function queued<T>(work: () => T | Promise<T>): Promise<T> {
    const done = tail.then(work)
    tail = done.catch(() => undefined)
    return done
  }
  return {
    /** Stores a batch atomically; ignores a batch that is stored already. Calls run one after another. */
    append: (kind: EventKind, batch: WrittenBatch) => queued(() => appendBatch(state, kind, batch)),
    /** Removes all events of these projects. */
    forgetProjects: (ids: readonly string[]) => queued(() => forgetProjects(connection, ids)),
    /** Returns an instant after every stored batch and before every later one. */
    settledAt: () => queued(() => nextInstant(state)),
    async close(): Promise<void> {
      await tail
      connection.closeSync()
    },
  }
}

function nextInstant(state: State): number {
  state.lastInstant = Math.max(Date.now(), state.lastInstant + 1)
  return state.lastInstant
}

async function isStored({ connection }: State, { id, madeAt }: WrittenBatch): Promise<boolean> {
  // The time limit makes DuckDB read only the newest rows.
  const result = await connection.run('SELECT 1 FROM batches WHERE id = $1 AND stored_at >= $2', [
    id,
    BigInt(Math.floor(madeAt) - CLOCK_SKEW_MS),
  ])
  return (await result.getRows()).length > 0
}

async function appendBatch(state: State, kind: EventKind, batch: WrittenBatch): Promise<void> {
  const { connection } = state
  const { id, events: rows } = batch
  if (await isStored(state, batch)) return
  const columns = columnsOf(kind)
  const terms = new Map<string, BatchTerms>()
  for (const [name, type] of columns) if (type === 'term') terms.set(name, await termsOf(state, name, rows))
  const sequence = kind === 'download' ? state.lastSequence + 1 : 0
  const storedAt = nextInstant(state)
  const removesExpired = state.batchesUntilCleaning === 0
  const numbered = kind === 'download' ? [BigInt(sequence)] : []
  const types: DuckDBType[] = [...numbered.map(() => BIGINT), ...columns.map(([, type]) => COLUMN_TYPES[type])]
  const toColumns = (part: readonly EventRow[]) => [
    ...numbered.map((number) => part.map(() => number)),
    ...columns.map(([name, type]) => part.map((row) => stored(row[name], type, terms.get(name)))),
  ]
  await inTransaction(connection, async () => {
    for (const { column, added } of terms.values()) {
      await appendRows(connection, termTable(column), [UINTEGER, VARCHAR], [...added], (part) => [
        part.map(([, key]) => key),
        part.map(([text]) => text),
      ])
    }
    await appendRows(connection, TABLES[kind], types, rows, toColumns)
    const row = [id, kind, BigInt(sequence), BigInt(storedAt)]
    await connection.run('INSERT INTO batches VALUES ($1, $2, $3, $4)', row)
    if (removesExpired)
      await connection.run('DELETE FROM batches WHERE stored_at < $1', [BigInt(storedAt - BATCHES_RETAINED_MS)])
  })
  for (const batch of terms.values()) cacheAdded(state, batch)
  if (kind === 'download') state.lastSequence = sequence
  state.batchesUntilCleaning = removesExpired ? BATCHES_BETWEEN_CLEANING : state.batchesUntilCleaning - 1
}

/** Does not remove terms, because their numbers must not be reused. */
async function forgetProjects(connection: DuckDBConnection, ids: readonly string[]): Promise<void> {
  const keys = [...(await findTermKeys(connection, 'project_id', ids)).values()]
  if (keys.length === 0) return
  await inTransaction(connection, async () => {
    for (const kind of PROJECT_KINDS) {
      const statement = `DELETE FROM ${TABLES[kind]} WHERE project_id IN (SELECT unnest($1))`
      await connection.run(statement, [listValue(keys)], [LIST(UINTEGER)])
    }
  })
}

async function inTransaction(connection: DuckDBConnection, work: () => Promise<void>): Promise<void> {
  await connection.run('BEGIN')
  try {
    await work()
    await connection.run('COMMIT')
  } catch (error) {
    // Fails if a failed commit has already ended the transaction.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function termsOf(state: State, column: string, rows: readonly EventRow[]): Promise<BatchTerms> {
  const { cache, lastKey } = columnTerms(state, column)
  const keys = new Map<string, number>()
  const unknown = new Set<string>()
  for (const row of rows) {
    const text = String(row[column])
    if (keys.has(text) || unknown.has(text)) continue
    const key = cache.get(text)
    if (key === undefined) unknown.add(text)
    else keys.set(text, key)
  }
  for (const [text, key] of await findTermKeys(state.connection, column, unknown)) {
    cache.set(text, key)
    keys.set(text, key)
    unknown.delete(text)
  }
  const added = new Map([...unknown].map((text, i) => [text, lastKey + 1 + i]))
  for (const [text, key] of added) keys.set(text, key)
  return { column, keys, added }
}

/** Must be called after the batch is stored, because the keys of a failed batch are assigned again. */
function cacheAdded(state: State, { column, added }: BatchTerms): void {
  const terms = columnTerms(state, column)
  for (const [text, key] of added) terms.cache.set(text, key)
  terms.lastKey += added.size
}

function columnTerms(state: State, column: string): ColumnTerms {
  const terms = state.terms.get(column)
  if (terms === undefined) throw new Error(`${column} is not stored as terms`)
  return terms
}

function stored(value: ColumnValue | undefined, type: ColumnType, terms: BatchTerms | undefined): DuckDBValue {
  if (value === undefined) throw new Error('A column of an event is missing')
  if (type === 'time') return BigInt(value)
  if (type === 'term') return terms?.keys.get(String(value)) ?? null
  return value
}

/** Appends rows in chunks; the event loop can serve requests between them. */
async function appendRows<T>(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  rows: readonly T[],
  toColumns: (part: readonly T[]) => DuckDBValue[][],
): Promise<void> {
  if (rows.length === 0) return
  const appender = await connection.createAppender(table)
  try {
    for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
      const part = rows.slice(from, from + CHUNK_ROWS)
      const chunk = DuckDBDataChunk.create(types, part.length)
      chunk.setColumns(toColumns(part))
      appender.appendDataChunk(chunk)
      await setImmediate()
    }
    appender.flushSync()
  } catch (error) {
    // Otherwise closing the appender would store the first chunks of a failed batch.
    appender.clear()
    throw error
  } finally {
    appender.closeSync()
  }
}
