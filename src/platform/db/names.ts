// How a request names a row: by its ID as it stands, or by its slug or username whatever the case.
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * Whether one of `names`, of which there must be one at least, is the ID or the name, which is stored in lower case or
 * given as `lower(…)`. Both are looked up by index. A text can be the ID of one row and the name of another: then the
 * ID wins, which is the caller's to see to.
 */
export function isNamed(id: string, name: string | Expression<string>, names: readonly string[]): RawBuilder<SqlBool> {
  const folded = names.map((each) => each.toLowerCase())
  const column = typeof name === 'string' ? sql.ref(name) : name
  return sql<SqlBool>`(${sql.ref(id)} in (${sql.join(names)}) or ${column} in (${sql.join(folded)}))`
}
