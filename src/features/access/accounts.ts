// Locking an account's row, for every feature that changes one or rests on what it says.
import type { Selectable } from 'kysely'
import type { Tx } from '#db/db.ts'
import type { Account } from '#db/schema.ts'
import { notFound } from '#lib/errors.ts'

/**
 * Locks an account's row until the transaction ends. What signs in, or changes how one signs in, starts with this and
 * then checks again what it rests on: a sign-in and a change of password at the same moment happen one after the other.
 * @throws ApiError 404.
 */
export async function lockAccount(tx: Tx, id: string): Promise<Selectable<Account>> {
  const row = await lockAccountIfAny(tx, id)
  if (row === undefined) throw notFound('user')
  return row
}

/** The same where an account that is gone is no error: undefined. */
export function lockAccountIfAny(tx: Tx, id: string): Promise<Selectable<Account> | undefined> {
  return tx.selectFrom('account').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}
