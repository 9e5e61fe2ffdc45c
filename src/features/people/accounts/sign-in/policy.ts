// Who may sign in.
import { isSuspended } from '#features/basics/access/accounts.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'

/** Asked once the password has proved right: only the owner learns why. @throws ApiError 403 for a suspended account. */
export function requireActive(account: AccountRow, nowMs: number): void {
  if (!isSuspended(account, nowMs)) return
  const { suspension_reason: reason, suspended_until: until } = account
  const end = until === null ? '' : ` until ${until.toISOString()}`
  throw new ApiError('forbidden', `This account is suspended${end}: ${reason}`, {
    details: { reason, suspended_until: until?.toISOString() ?? null },
  })
}
