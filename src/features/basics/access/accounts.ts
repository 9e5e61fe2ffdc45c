// Locks for account rows, for every feature that changes an account or depends on its state.
import { type Selectable, sql } from 'kysely'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Account } from '#platform/db/schema.ts'

/**
 * Locks an account's row until the transaction ends. Every sign-in and every change of credentials starts with this
 * lock and then repeats its checks, so that a sign-in and a concurrent change of password run one after the other.
 * @throws ApiError 404 also if the deletion of the account is pending.
 */
export async function lockAccount(tx: Tx, id: string): Promise<Selectable<Account>> {
  const row = await lockAccountIfAny(tx, id)
  if (row === undefined) throw notFound('user')
  return row
}

/** Locks an account like `lockAccount`, but returns undefined instead of throwing. */
export function lockAccountIfAny(tx: Tx, id: string): Promise<Selectable<Account> | undefined> {
  return tx
    .selectFrom('account')
    .selectAll()
    .where('id', '=', id)
    .where('deletion_due', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Locks an account even if its deletion is pending. @throws ApiError 404. */
export async function lockAccountOrLeaving(tx: Tx, id: string): Promise<Selectable<Account>> {
  const row = await lockAnyAccount(tx, id)
  if (row === undefined) throw notFound('user')
  return row
}

/** Locks an account even if its deletion is pending; returns undefined if it does not exist. */
export function lockAnyAccount(tx: Tx, id: string): Promise<Selectable<Account> | undefined> {
  return tx.selectFrom('account').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Whether a password is not enough to sign in: the account has an authenticator app or a passkey. */
export function hasSecondFactor({
  totp_secret,
  passkey_count,
}: Pick<Selectable<Account>, 'totp_secret' | 'passkey_count'>): boolean {
  return totp_secret !== null || passkey_count > 0
}

/** SQL form of `hasSecondFactor` for a row of `account`. */
export const HAS_SECOND_FACTOR = sql<boolean>`(account.totp_secret is not null or account.passkey_count > 0)`

/** Returns whether an account is suspended at `nowMs`. */
export function isSuspended(
  { suspended_at, suspended_until }: Pick<Selectable<Account>, 'suspended_at' | 'suspended_until'>,
  nowMs: number,
): boolean {
  return suspended_at !== null && (suspended_until === null || suspended_until.getTime() > nowMs)
}

/** Whether moderators and admins need two-factor sign-in (`require_staff_two_factor`). */
const IS_TWO_FACTOR_REQUIRED = sql<boolean>`coalesce((select require_staff_two_factor from instance_settings), false)`

/**
 * Makes sure that another admin remains who can use the role. Every command that removes an admin calls it in its transaction. It
 * locks all admins until the transaction ends, so that two admins cannot remove each other at the same time.
 * @throws ApiError `invalid_input` if there is no other admin, or none of them can use the role.
 */
export async function lockOtherAdmins(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  const admins = await tx
    .selectFrom('account')
    .select(['id', 'suspended_at', 'suspended_until'])
    .select(sql<boolean>`${HAS_SECOND_FACTOR} or not ${IS_TWO_FACTOR_REQUIRED}`.as('hasRole'))
    .where('role', '=', 'admin')
    .where('deletion_due', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const others = admins.filter((admin) => admin.id !== accountId && !isSuspended(admin, nowMs))
  if (others.length === 0) throw invalidInput('This is the only admin; make another account an admin first')
  if (!others.some(({ hasRole }) => hasRole))
    throw invalidInput('No other admin uses two-factor sign-in, which this instance requires')
}

/**
 * Makes sure that another admin can use the role, before an admin turns off two-factor sign-in. Without the setting, no admin
 * needs it, and nothing is checked.
 * @throws ApiError like `lockOtherAdmins`
 */
export async function lockOtherProtectedAdmins(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  const { rows } = await sql<{ isRequired: boolean }>`select ${IS_TWO_FACTOR_REQUIRED} as "isRequired"`.execute(tx)
  if (rows[0]?.isRequired === true) await lockOtherAdmins(tx, accountId, nowMs)
}

/** Returns the organization that owns a service account; undefined for the account of a person. */
export async function findServiceOwner(db: Db, accountId: string): Promise<string | undefined> {
  const row = await db.selectFrom('account').select('service_of').where('id', '=', accountId).executeTakeFirst()
  return row?.service_of ?? undefined
}
