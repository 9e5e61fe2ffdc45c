import type { InsertObject } from 'kysely'
import type { Tx } from '#db/db.ts'
import type { DB } from '#db/schema.ts'

/** PostgreSQL takes 65,535 values in one statement. */
const VALUES_MAX = 30_000

/** Inserts rows of one shape, in as few statements as there have to be. */
export async function insertRows<Table extends keyof DB & string>(
  tx: Tx,
  table: Table,
  rows: readonly InsertObject<DB, Table>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).length
  const size = Math.max(1, Math.floor(VALUES_MAX / Math.max(1, columns)))
  for (let start = 0; start < rows.length; start += size) {
    await tx
      .insertInto(table)
      .values(rows.slice(start, start + size))
      .execute()
  }
}
