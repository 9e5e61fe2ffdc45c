// Reads whole tables of events for backups, one monthly partition at a time.
import { APPEND_EVENTS_MAX } from '../analytics-store.ts'
import { columnsOf, type EventKind, TABLES } from '../events.ts'
import type { ClickHouse } from './connection.ts'

/** Implements `AnalyticsStore.readEvents`. Merges during a statement do not affect the parts that it reads. */
export async function readEvents(
  connection: ClickHouse,
  kind: EventKind,
  onLines: (lines: string[]) => Promise<void>,
): Promise<void> {
  const columns = columnsOf(kind)
  const selected = columns.map(([name, type]) => (type === 'time' ? `toUnixTimestamp64Milli(${name})` : name))
  const months = await connection.all({
    sql: `SELECT DISTINCT toYYYYMM(recorded_at) AS month FROM ${TABLES[kind]} ORDER BY month`,
  })
  for (const [month] of months) {
    const statement = {
      sql: `SELECT ${selected.join(', ')} FROM ${TABLES[kind]} WHERE toYYYYMM(recorded_at) = {month:UInt32}`,
      params: { month },
      // No time limit, because `onLines` can be slow.
      settings: { max_execution_time: 0 },
    }
    await connection.read(statement, async (rows) => {
      for (let from = 0; from < rows.length; from += APPEND_EVENTS_MAX) {
        await onLines(rows.slice(from, from + APPEND_EVENTS_MAX).map((row) => JSON.stringify(row)))
      }
    })
  }
}
