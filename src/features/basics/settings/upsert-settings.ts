import type { Updateable } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import type { InstanceSettings } from '#platform/db/schema.ts'

/** Writes the only row of the settings and raises its revision. */
export async function upsertSettings(tx: Tx, values: Updateable<InstanceSettings>, now: number): Promise<void> {
  const row = { ...values, changed: new Date(now) }
  await tx
    .insertInto('instance_settings')
    .values(row)
    .onConflict((conflict) => conflict.column('singleton').doUpdateSet(row))
    .execute()
}
