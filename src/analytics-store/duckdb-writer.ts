// The one writer: batches are stored one after another, each in a transaction of its own that is on disk when the
// promise resolves. Rows are handed to DuckDB column by column; the commit with its fsync runs off the event loop.
import { setImmediate } from 'node:timers/promises'
import {
  BIGINT,
  BOOLEAN,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  type DuckDBValue,
  UINTEGER,
  VARCHAR,
} from '@duckdb/node-api'
import { TABLES } from './duckdb-schema.ts'
import { findLastTermKey, findTermKeys, recall, remember, type TermMemory, termMemory } from './duckdb-terms.ts'
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow } from './events.ts'

/** DuckDB's vector size: a data chunk holds no more rows. */
const CHUNK_ROWS = 2048

const TYPES = {
  time: BIGINT,
  term: UINTEGER,
  text: VARCHAR,
  flag: BOOLEAN,
  number: UINTEGER,
} as const satisfies Record<ColumnType, DuckDBType>

export type Writer = {
  /** All or nothing; returns the sequence of a batch of downloads, 0 for other kinds. Calls wait for each other. */
  append(kind: EventKind, rows: readonly EventRow[]): Promise<number>
  lastSequence(): number
  close(): Promise<void>
}

type State = { connection: DuckDBConnection; memory: TermMemory; lastKey: number; lastSequence: number }

export async function openWriter(connection: DuckDBConnection): Promise<Writer> {
  const newest = await connection.run('SELECT coalesce(max(sequence), 0)::DOUBLE FROM downloads')
  const state: State = {
    connection,
    memory: termMemory(),
    lastKey: await findLastTermKey(connection),
    lastSequence: (await newest.getRows())[0]?.[0] as number,
  }
  let tail: Promise<unknown> = Promise.resolve()
  return {
    append(kind, rows) {
      const stored = tail.then(() => appendBatch(state, kind, rows))
      tail = stored.catch(() => undefined)
      return stored
    },
    lastSequence: () => state.lastSequence,
    async close() {
      await tail
      connection.closeSync()
    },
  }
}

async function appendBatch(state: State, kind: EventKind, rows: readonly EventRow[]): Promise<number> {
  const { connection } = state
  const terms = await termsOf(state, kind, rows)
  const sequence = kind === 'download' ? state.lastSequence + 1 : 0
  await connection.run('BEGIN')
  try {
    await appendColumns(connection, 'terms', [UINTEGER, VARCHAR], [[...terms.made.values()], [...terms.made.keys()]])
    const columns = columnsOf(kind).map(([name, type]) => rows.map((row) => stored(row[name], type, terms.keys)))
    const types: DuckDBType[] = columnsOf(kind).map(([, type]) => TYPES[type])
    if (kind === 'download') {
      columns.unshift(rows.map(() => BigInt(sequence)))
      types.unshift(BIGINT)
    }
    await appendColumns(connection, TABLES[kind], types, columns)
    await connection.run('COMMIT')
  } catch (error) {
    // A failed commit has ended the transaction already; then there is nothing to roll back.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
  for (const [text, key] of terms.made) remember(state.memory, text, key)
  state.lastKey += terms.made.size
  if (kind === 'download') state.lastSequence = sequence
  return sequence
}

/** The key of every term in the batch; `made` are those that are not stored yet. */
async function termsOf(state: State, kind: EventKind, rows: readonly EventRow[]) {
  const keys = new Map<string, number>()
  const unknown = new Set<string>()
  const columns = columnsOf(kind).filter(([, type]) => type === 'term')
  for (const row of rows) {
    for (const [column] of columns) {
      const text = String(row[column])
      if (keys.has(text) || unknown.has(text)) continue
      const key = recall(state.memory, text)
      if (key === undefined) unknown.add(text)
      else keys.set(text, key)
    }
  }
  for (const [text, key] of await findTermKeys(state.connection, unknown)) {
    remember(state.memory, text, key)
    keys.set(text, key)
    unknown.delete(text)
  }
  const made = new Map([...unknown].map((text, i) => [text, state.lastKey + 1 + i]))
  for (const [text, key] of made) keys.set(text, key)
  return { keys, made }
}

function stored(value: ColumnValue | undefined, type: ColumnType, keys: ReadonlyMap<string, number>): DuckDBValue {
  if (value === undefined) throw new Error('An event lacks a column')
  if (type === 'time') return BigInt(value)
  if (type === 'term') return keys.get(String(value)) ?? null
  return value
}

async function appendColumns(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  columns: readonly (readonly DuckDBValue[])[],
): Promise<void> {
  const rowCount = columns[0]?.length ?? 0
  if (rowCount === 0) return
  const appender = await connection.createAppender(table)
  for (let from = 0; from < rowCount; from += CHUNK_ROWS) {
    const chunk = DuckDBDataChunk.create(types, Math.min(CHUNK_ROWS, rowCount - from))
    chunk.setColumns(columns.map((column) => column.slice(from, from + CHUNK_ROWS)))
    appender.appendDataChunk(chunk)
    // Requests are answered between chunks.
    await setImmediate()
  }
  appender.closeSync()
}
