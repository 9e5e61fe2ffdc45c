// Appends rows to tables of DuckDB in chunks.
import { setImmediate } from 'node:timers/promises'
import { BIGINT, type DuckDBConnection, DuckDBDataChunk, type DuckDBType, type DuckDBValue } from '@duckdb/node-api'
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow, TABLES } from '../events.ts'
import { COLUMN_TYPES } from './schema.ts'

/** Vector size of DuckDB, the maximum number of rows in a chunk. */
const CHUNK_ROWS = 2048

type NumberedBatch = {
  kind: EventKind
  batch: { events: readonly EventRow[] }
  /** Keys of the texts, by column. */
  terms: ReadonlyMap<string, ReadonlyMap<string, number>>
  sequence: number
}

/** Appends events. */
export async function appendBatch(
  connection: DuckDBConnection,
  { kind, batch, terms, sequence }: NumberedBatch,
): Promise<void> {
  const columns = columnsOf(kind)
  const numbered = kind === 'download' ? [BigInt(sequence)] : []
  const types: DuckDBType[] = [...numbered.map(() => BIGINT), ...columns.map(([, type]) => COLUMN_TYPES[type])]
  await appendRows(connection, TABLES[kind], types, batch.events, (part) => [
    ...numbered.map((number) => part.map(() => number)),
    ...columns.map(([name, type]) => part.map((row) => stored(row[name], type, terms.get(name)))),
  ])
}

function stored(
  value: ColumnValue | undefined,
  type: ColumnType,
  terms: ReadonlyMap<string, number> | undefined,
): DuckDBValue {
  if (value === undefined) throw new Error('A column of an event is missing')
  if (type === 'time') return BigInt(value)
  if (type === 'term') return terms?.get(String(value)) ?? null
  return value
}

/** Appends rows in chunks; the event loop can serve requests between them. */
export async function appendRows<T>(
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
