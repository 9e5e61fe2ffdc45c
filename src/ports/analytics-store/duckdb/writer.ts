// The one writer of a file: batches are stored one after another, each in a transaction of its own that is on disk when
// the promise resolves, together with the batch's ID, so that none is stored twice. Rows are handed to DuckDB column by column; the commit with its fsync runs off the event loop.

import { setImmediate } from 'node:timers/promises'
import {
  BIGINT,
  BOOLEAN,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  UINTEGER,
  VARCHAR,
} from '@duckdb/node-api'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { PROJECT_KINDS } from '../analytics-store.ts'
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow } from '../events.ts'
import { TABLES } from './schema.ts'
import {
  findLastTermKey,
  findTermKeys,
  recall,
  remember,
  TERM_COLUMNS,
  type TermMemory,
  termMemory,
  termTable,
} from './terms.ts'

/** DuckDB's vector size: a data chunk holds no more rows. */
const CHUNK_ROWS = 2048
/** How long the IDs of batches are remembered. */
const BATCHES_KEPT_MS = 3 * DAY_MS
/** Forgotten ones are removed once in so many batches. */
const BATCHES_BETWEEN_CLEANING = 10_000
/** How far the clock that an ID was made by may be ahead of ours. */
const CLOCK_SKEW_MS = HOUR_MS

const TYPES = {
  time: BIGINT,
  term: UINTEGER,
  text: VARCHAR,
  flag: BOOLEAN,
  number: UINTEGER,
} as const satisfies Record<ColumnType, DuckDBType>

type WrittenBatch = { id: string; madeAt: number; events: readonly EventRow[] }

export type Writer = {
  /** All or nothing; a batch that is stored already adds nothing. Calls wait for each other. */
  append(kind: EventKind, batch: WrittenBatch): Promise<void>
  /** Removes what names these projects. */
  forgetProjects(ids: readonly string[]): Promise<void>
  /** An instant after every batch stored so far and before every later one. */
  settledAt(): Promise<number>
  close(): Promise<void>
}

/** What the writer knows of one column's terms. */
type KnownTerms = { memory: TermMemory; lastKey: number }

type State = {
  connection: DuckDBConnection
  terms: Map<string, KnownTerms>
  lastSequence: number
  /** The newest instant given to anybody, in milliseconds since 1970; each is given once. */
  lastInstant: number
  batchesUntilCleaning: number
}

/** The terms of one column in a batch; `made` are those that are not stored yet. */
type BatchTerms = { column: string; keys: Map<string, number>; made: Map<string, number> }

/** Takes the connection over; there is one writer of an instance, which knows the last sequence and the terms. */
export async function openWriter(connection: DuckDBConnection): Promise<Writer> {
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
    state.terms.set(column, { memory: termMemory(), lastKey: await findLastTermKey(connection, column) })
  }
  let tail: Promise<unknown> = Promise.resolve()
  function queued<T>(work: () => T | Promise<T>): Promise<T> {
    const done = tail.then(work)
    tail = done.catch(() => undefined)
    return done
  }
  return {
    append: (kind, batch) => queued(() => appendBatch(state, kind, batch)),
    forgetProjects: (ids) => queued(() => forgetProjects(connection, ids)),
    settledAt: () => queued(() => nextInstant(state)),
    async close() {
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
  // Bounded by time, so that DuckDB reads only the newest rows.
  const found = await connection.run('SELECT 1 FROM batches WHERE id = $1 AND stored_at >= $2', [
    id,
    BigInt(Math.floor(madeAt) - CLOCK_SKEW_MS),
  ])
  return (await found.getRows()).length > 0
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
  const isCleaning = state.batchesUntilCleaning === 0
  const numbered = kind === 'download' ? [BigInt(sequence)] : []
  const types: DuckDBType[] = [...numbered.map(() => BIGINT), ...columns.map(([, type]) => TYPES[type])]
  const toColumns = (part: readonly EventRow[]) => [
    ...numbered.map((number) => part.map(() => number)),
    ...columns.map(([name, type]) => part.map((row) => stored(row[name], type, terms.get(name)))),
  ]
  await inTransaction(connection, async () => {
    for (const { column, made } of terms.values()) {
      await appendRows(connection, termTable(column), [UINTEGER, VARCHAR], [...made], (part) => [
        part.map(([, key]) => key),
        part.map(([text]) => text),
      ])
    }
    await appendRows(connection, TABLES[kind], types, rows, toColumns)
    const row = [id, kind, BigInt(sequence), BigInt(storedAt)]
    await connection.run('INSERT INTO batches VALUES ($1, $2, $3, $4)', row)
    if (isCleaning)
      await connection.run('DELETE FROM batches WHERE stored_at < $1', [BigInt(storedAt - BATCHES_KEPT_MS)])
  })
  for (const batch of terms.values()) keepMade(state, batch)
  if (kind === 'download') state.lastSequence = sequence
  state.batchesUntilCleaning = isCleaning ? BATCHES_BETWEEN_CLEANING : state.batchesUntilCleaning - 1
}

/** Their terms stay: the numbers of terms are given once. */
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
    // A failed commit has ended the transaction already; then there is nothing to roll back.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function termsOf(state: State, column: string, rows: readonly EventRow[]): Promise<BatchTerms> {
  const { memory, lastKey } = knownTerms(state, column)
  const keys = new Map<string, number>()
  const unknown = new Set<string>()
  for (const row of rows) {
    const text = String(row[column])
    if (keys.has(text) || unknown.has(text)) continue
    const key = recall(memory, text)
    if (key === undefined) unknown.add(text)
    else keys.set(text, key)
  }
  for (const [text, key] of await findTermKeys(state.connection, column, unknown)) {
    remember(memory, text, key)
    keys.set(text, key)
    unknown.delete(text)
  }
  const made = new Map([...unknown].map((text, i) => [text, lastKey + 1 + i]))
  for (const [text, key] of made) keys.set(text, key)
  return { column, keys, made }
}

/** Once the batch is stored, and not before: a key given in a batch that failed is given again. */
function keepMade(state: State, { column, made }: BatchTerms): void {
  const known = knownTerms(state, column)
  for (const [text, key] of made) remember(known.memory, text, key)
  known.lastKey += made.size
}

function knownTerms(state: State, column: string): KnownTerms {
  const known = state.terms.get(column)
  if (known === undefined) throw new Error(`${column} is not stored as terms`)
  return known
}

function stored(value: ColumnValue | undefined, type: ColumnType, terms: BatchTerms | undefined): DuckDBValue {
  if (value === undefined) throw new Error('An event lacks a column')
  if (type === 'time') return BigInt(value)
  if (type === 'term') return terms?.keys.get(String(value)) ?? null
  return value
}

/** Hands rows over a block at a time, and lets requests be answered between blocks. */
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
    // Else closing, or the garbage collector, would store the first blocks of a batch that failed.
    appender.clear()
    throw error
  } finally {
    appender.closeSync()
  }
}
