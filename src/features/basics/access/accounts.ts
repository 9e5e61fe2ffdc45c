// Locking an account's row, for every feature that changes one or rests on what it says.
import type { Selectable } from 'kysely'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Account } from '#platform/db/schema.ts'

/**
 * Locks an account's row until the transaction ends. What signs in, or changes how one signs in, starts with this and
 * then checks again what it rests on: a sign-in and a change of password at the same moment happen one after the other.
 * @throws ApiError 404, also while the account's deletion is pending.
 */
export async function lockAccount(tx: Tx, id: string): Promise<Selectable<Account>> {
  const row = await lockAccountIfAny(tx, id)
  if (row === undefined) throw notFound('user')
  return row
}

/** The same where an account that is gone is no error: undefined. */
export function lockAccountIfAny(tx: Tx, id: string): Promise<Selectable<Account> | undefined> {
  return tx
    .selectFrom('account')
    .selectAll()
    .where('id', '=', id)
    .where('deletion_due', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** The same for what an owner does also while the deletion of the account is pending. @throws ApiError 404. */
export async function lockAccountOrLeaving(tx: Tx, id: string): Promise<Selectable<Account>> {
  const row = await lockAnyAccount(tx, id)
  if (row === undefined) throw notFound('user')
  return row
}

/** The same where the absence of the account has an answer of its own. */
export function lockAnyAccount(tx: Tx, id: string): Promise<Selectable<Account> | undefined> {
  return tx.selectFrom('account').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Whether an account is suspended at this time. */
export function isSuspended(
  { suspended_at, suspended_until }: Pick<Selectable<Account>, 'suspended_at' | 'suspended_until'>,
  nowMs: number,
): boolean {
  return suspended_at !== null && (suspended_until === null || suspended_until.getTime() > nowMs)
}

/**
 * Makes sure that an admin is left when this account stops being one: what takes an admin away calls it in its
 * transaction. The admins stay locked until it ends, so that two who remove each other do not both succeed.
 * @throws ApiError `invalid_input` when there is no other admin who is not suspended.
 */
export async function lockOtherAdmins(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  const admins = await tx
    .selectFrom('account')
    .select(['id', 'suspended_at', 'suspended_until'])
    .where('role', '=', 'admin')
    .where('deletion_due', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  if (admins.some((admin) => admin.id !== accountId && !isSuspended(admin, nowMs))) return
  throw invalidInput('This is the only admin; make another account an admin first')
}
