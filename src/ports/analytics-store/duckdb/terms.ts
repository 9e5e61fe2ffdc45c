// Identifiers and paths are stored once, as terms with a number; event rows hold the numbers. Measured on 10 million
// views: filtering 500 projects out of 50,000 takes 17 ms by number and 100 ms by text, in three quarters of the disk.
// Each such column has a table of terms of its own, so that finding projects does not read paths.
import { type DuckDBConnection, LIST, listValue, VARCHAR } from '@duckdb/node-api'
import { COLUMNS } from '../events.ts'

/** Terms of one column that the writer remembers; twice as many at most, some 20 MB. */
const REMEMBERED_TERMS = 100_000

/** A memory of bounded size: when the young half is full, it becomes the old half and the old one goes. */
export type TermMemory = { young: Map<string, number>; old: Map<string, number> }

/** The columns that are stored as terms, whichever kind of event has them. */
export const TERM_COLUMNS = [
  ...new Set(
    Object.values(COLUMNS).flatMap((columns) =>
      Object.entries(columns).flatMap(([name, type]) => (type === 'term' ? [name] : [])),
    ),
  ),
]

/** The table of a column's terms, with the columns `key` and `text`. */
export function termTable(column: string): string {
  return `terms_${column}`
}

export function termMemory(): TermMemory {
  return { young: new Map(), old: new Map() }
}

export function recall(memory: TermMemory, text: string): number | undefined {
  const young = memory.young.get(text)
  if (young !== undefined) return young
  const old = memory.old.get(text)
  if (old !== undefined) remember(memory, text, old)
  return old
}

export function remember(memory: TermMemory, text: string, key: number): void {
  if (memory.young.size >= REMEMBERED_TERMS) {
    memory.old = memory.young
    memory.young = new Map()
  }
  memory.young.set(text, key)
}

/** Keys of a column's texts, of those that have one. */
export async function findTermKeys(
  connection: DuckDBConnection,
  column: string,
  texts: Iterable<string>,
): Promise<Map<string, number>> {
  const list = [...texts]
  if (list.length === 0) return new Map()
  const result = await connection.run(
    `SELECT text, key FROM ${termTable(column)} WHERE text IN (SELECT unnest($1))`,
    [listValue(list)],
    [LIST(VARCHAR)],
  )
  return new Map((await result.getRows()) as [string, number][])
}

/** Keys are given upwards from 1; this is the newest of a column. */
export async function findLastTermKey(connection: DuckDBConnection, column: string): Promise<number> {
  const result = await connection.run(`SELECT coalesce(max(key), 0)::UINTEGER FROM ${termTable(column)}`)
  return (await result.getRows())[0]?.[0] as number
}
