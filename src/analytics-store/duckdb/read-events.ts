// Reads whole tables of events back, for backups: terms become texts again, a chunk of DuckDB's at a time.
import type { DuckDBConnection } from '@duckdb/node-api'
import { type ColumnValue, columnsOf, type EventKind, type Events } from '../events.ts'
import { TABLES } from './schema.ts'
import { termTable } from './terms.ts'

/** `AnalyticsStore.readEvents` on a connection of its own, which is as of one moment. */
export async function readEvents<K extends EventKind>(
  connection: DuckDBConnection,
  kind: K,
  onEvents: (events: Events[K][]) => Promise<void>,
): Promise<void> {
  const columns = columnsOf(kind)
  const terms = columns.flatMap(([name, type]) => (type === 'term' ? [name] : []))
  const selected = columns.map(([name, type]) => (type === 'term' ? `${termTable(name)}.text` : `events.${name}`))
  const joins = terms.map((name) => `JOIN ${termTable(name)} ON ${termTable(name)}.key = events.${name}`)
  const result = await connection.stream(
    `SELECT ${selected.join(', ')} FROM ${TABLES[kind]} AS events ${joins.join(' ')}`,
  )
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    const rows = chunk.getRows()
    await onEvents(
      rows.map(
        (row) =>
          Object.fromEntries(
            columns.map(([name, type], i) => [name, type === 'time' ? Number(row[i]) : (row[i] as ColumnValue)]),
          ) as Events[K],
      ),
    )
  }
}
