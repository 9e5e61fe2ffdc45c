// Permissions for sign-ins and for changes of accounts by operators.
import { isSuspended } from '#features/basics/access/accounts.ts'
import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { ApiError, forbidden, invalidInput } from '#lib/errors.ts'

/** @throws ApiError 403 for the placeholder account. */
export function requireAdministrable<Account extends { id: string }>(account: Account): Account {
  if (isPlaceholder(account)) throw forbidden('The placeholder account for deleted users cannot be changed')
  return account
}

/** @throws ApiError `invalid_input` for the admin's own account, 403 for the placeholder account. */
export function requireSuspendable<Account extends { id: string }>(actor: Actor, account: Account): Account {
  if (actor.kind === 'account' && actor.id === account.id) throw invalidInput('You cannot suspend your own account')
  return requireAdministrable(account)
}

/** Asked once the password has proved right: only the owner learns why. @throws ApiError 403 for a suspended account. */
export function requireActive(account: AccountRow, nowMs: number): void {
  if (!isSuspended(account, nowMs)) return
  const { suspension_reason: reason, suspended_until: until } = account
  const end = until === null ? '' : ` until ${until.toISOString()}`
  throw new ApiError('forbidden', `This account is suspended${end}: ${reason}`, {
    details: { reason, suspended_until: until?.toISOString() ?? null },
  })
}

/**
 * Asked once the password has proved right: only the owner learns of the deletion.
 * @throws ApiError 403 unless the owner has asked for the deletion, and now wants to `undo` it.
 */
export function requireUndoable({ due, byOwner, undo }: { due: Date; byOwner: boolean; undo: boolean }): void {
  if (byOwner && undo) return
  const end = due.toISOString()
  const text = byOwner
    ? `This account will be deleted on ${end}. Until then its owner can undo that when signing in.`
    : `An operator has deleted this account. It ends for good on ${end}; until then an operator can restore it.`
  throw new ApiError('forbidden', text, { details: { deletion_due: end, can_undo: byOwner } })
}
