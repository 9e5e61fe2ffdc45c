// Finds a row by the name in a request: its ID, or its slug or username in upper or lower case.
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * Returns the condition that one of `names` (at least one) equals the ID or the name. The name must be stored in lower
 * case or be an expression `lower(…)`, so that both comparisons use an index. If a string is the ID of one row and the
 * name of another row, the caller must prefer the ID.
 */
export function isNamed(id: string, name: string | Expression<string>, names: readonly string[]): RawBuilder<SqlBool> {
  const folded = names.map((each) => each.toLowerCase())
  const column = typeof name === 'string' ? sql.ref(name) : name
  return sql<SqlBool>`(${sql.ref(id)} in (${sql.join(names)}) or ${column} in (${sql.join(folded)}))`
}
