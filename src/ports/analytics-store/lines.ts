// Events as lines, which backups and moves between stores contain: a line is a JSON array of the values of an event.
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type Events } from './events.ts'

/** Lines of one kind that are stored together, as `Batch`. */
export type LineBatch = {
  id: string
  madeAt: number
  /** Names of the values in a line. Columns that no longer exist are ignored, and new columns get empty values. */
  columns: readonly string[]
  /** 1 to APPEND_EVENTS_MAX. */
  lines: readonly string[]
}

const EMPTY = { time: 0, term: '', text: '', flag: false, number: 0 } as const satisfies Record<ColumnType, ColumnValue>

export type LineField = { name: string; type: ColumnType; at: number; empty: ColumnValue }

/** Returns the columns of a kind with their positions in a line, from 0; -1 if the line does not contain the column. */
export function fieldsOf(kind: EventKind, columns: readonly string[]): LineField[] {
  return columnsOf(kind).map(([name, type]) => ({ name, type, at: columns.indexOf(name), empty: EMPTY[type] }))
}

/** Returns the events of a batch. */
export function eventsOf<K extends EventKind>(kind: K, { columns, lines }: LineBatch): Events[K][] {
  const fields = fieldsOf(kind, columns)
  return lines.map((line) => {
    const values: ColumnValue[] = JSON.parse(line)
    return Object.fromEntries(fields.map(({ name, at, empty }) => [name, values[at] ?? empty])) as Events[K]
  })
}
