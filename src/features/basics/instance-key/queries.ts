import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import type { InstanceKey } from '#platform/db/schema.ts'

export type KeyRow = Selectable<InstanceKey>
export type NewKey = Pick<KeyRow, 'public_key' | 'private_key' | 'since' | 'signature'>

export function findCurrentKey(db: Db): Promise<KeyRow | undefined> {
  return db.selectFrom('instance_key').selectAll().where('until', 'is', null).executeTakeFirst()
}

/** Locks the table: a lock of the row would not show the next transaction the key that replaced it. */
export async function lockCurrentKey(tx: Tx): Promise<KeyRow | undefined> {
  await sql`lock table instance_key in share row exclusive mode`.execute(tx)
  return findCurrentKey(tx)
}

/** Returns the keys that are valid at a time, newest first. */
export function listValidKeys(db: Db, at: Date): Promise<KeyRow[]> {
  return db
    .selectFrom('instance_key')
    .selectAll()
    .where((eb) => eb.or([eb('until', 'is', null), eb('until', '>', at)]))
    .orderBy((eb) => eb('until', 'is', null), 'desc')
    .orderBy('since', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
}

/** Inserts the first key. Changes nothing if there is a current key. */
export async function insertFirstKey(db: Db, key: NewKey): Promise<void> {
  await db
    .insertInto('instance_key')
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Inserts a current key. A key that was valid earlier becomes current again. */
export async function upsertCurrentKey(tx: Tx, key: NewKey): Promise<void> {
  const { private_key, since, signature } = key
  await tx
    .insertInto('instance_key')
    .values(key)
    .onConflict((conflict) => conflict.column('public_key').doUpdateSet({ private_key, since, signature, until: null }))
    .execute()
}

export async function updateKeyEnd(tx: Tx, id: KeyRow['id'], until: Date): Promise<void> {
  await tx.updateTable('instance_key').set({ until }).where('id', '=', id).execute()
}
