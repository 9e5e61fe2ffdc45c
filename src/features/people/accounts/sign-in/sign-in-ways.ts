// An account keeps at least one way to sign in.
import type { AccountRow } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import type { AccountDeps } from '../account-deps.ts'

/**
 * Requires that a locked account has a way to sign in. Providers that the operator has removed do not count.
 * @throws ApiError `invalid_input`
 */
export function requireSignIn(
  { providers }: Pick<AccountDeps, 'providers'>,
  { password_hash, passkey_count, sign_in_providers }: AccountRow,
): void {
  if (password_hash !== null || passkey_count > 0 || sign_in_providers.some((id) => providers.has(id))) return
  throw invalidInput('This is your only way to sign in. Set a password first, or add a passkey.')
}
