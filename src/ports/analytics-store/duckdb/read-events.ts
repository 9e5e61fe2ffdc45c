// Reads whole tables of events for backups, one chunk at a time, with texts in place of terms. DuckDB writes the JSON,
// because creating objects in JavaScript would take five times as long and much memory.
import type { DuckDBConnection } from '@duckdb/node-api'
import { columnsOf, type EventKind, TABLES } from '../events.ts'
import { termTable } from './terms.ts'

/** Implements `AnalyticsStore.readEvents`. A separate connection reads the state of one moment. */
export async function readEvents(
  connection: DuckDBConnection,
  kind: EventKind,
  onLines: (lines: string[]) => Promise<void>,
): Promise<void> {
  const columns = columnsOf(kind)
  const terms = columns.flatMap(([name, type]) => (type === 'term' ? [name] : []))
  const selected = columns.map(([name, type]) => (type === 'term' ? `${termTable(name)}.text` : `events.${name}`))
  const joins = terms.map((name) => `JOIN ${termTable(name)} ON ${termTable(name)}.key = events.${name}`)
  const result = await connection.stream(
    `SELECT json_array(${selected.join(', ')})::VARCHAR FROM ${TABLES[kind]} AS events ${joins.join(' ')}`,
  )
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    await onLines(chunk.getColumnValues(0) as string[])
  }
}
