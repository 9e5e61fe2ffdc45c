// Reads whole tables of events back, for backups: terms become texts again, a chunk of DuckDB's at a time. DuckDB writes
// the JSON: an object for each event and each of its texts would be five times the work, and all of the memory.
import type { DuckDBConnection } from '@duckdb/node-api'
import { columnsOf, type EventKind } from '../events.ts'
import { TABLES } from './schema.ts'
import { termTable } from './terms.ts'

/** `AnalyticsStore.readEvents` on a connection of its own, which is as of one moment. */
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
