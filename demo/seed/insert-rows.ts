import { type InsertObject, sql } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import type { DB } from '#platform/db/schema.ts'

/** Maximum number of rows per statement. */
const ROWS_MAX = 5_000

/**
 * Inserts rows with equal columns in few statements. JSON columns accept values, not text. All rows are one parameter,
 * because one parameter per value would cost most of the time.
 */
export async function insertRows<Table extends keyof DB & string>(
  tx: Tx,
  table: Table,
  rows: readonly InsertObject<DB, Table>[],
): Promise<void> {
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((column) => sql.ref(column)))
  for (let start = 0; start < rows.length; start += ROWS_MAX) {
    const part = JSON.stringify(rows.slice(start, start + ROWS_MAX))
    await sql`insert into ${sql.table(table)} (${columns})
      select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${part}::json)`.execute(tx)
  }
}
