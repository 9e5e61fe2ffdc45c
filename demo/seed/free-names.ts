// Chooses names for demo items that no other resource uses.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

const COLUMN = { account: 'username', organization: 'slug', project: 'slug' } as const
const LENGTH_MAX = { account: 39, organization: 64, project: 64 } as const

/** Maps each wanted name to itself, or to the name with `-demo` if the name or ID is in use (case-insensitive). */
export async function freeNames(
  db: Db,
  table: keyof typeof COLUMN,
  wanted: readonly string[],
): Promise<Map<string, string>> {
  const other = (name: string): string => `${name.slice(0, LENGTH_MAX[table] - 5)}-demo`
  const column = sql.ref(COLUMN[table])
  const { rows } = await sql<{ name: string }>`
    select lower(${column}) as name from ${sql.table(table)} where lower(${column}) = any(${lower(wanted)}::text[])
    union select lower(id) from ${sql.table(table)} where lower(id) = any(${lower(wanted)}::text[])`.execute(db)
  const taken = new Set(rows.map(({ name }) => name))
  return new Map(wanted.map((name) => [name, taken.has(name.toLowerCase()) ? other(name) : name]))
}

const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase())
