// An account keeps at least one way to sign in.
import type { AccountRow } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'

/** Requires that a locked account has a way to sign in. @throws ApiError `invalid_input` */
export function requireSignIn({ password_hash, passkey_count }: AccountRow): void {
  if (password_hash !== null || passkey_count > 0) return
  throw invalidInput('This is your only way to sign in. Set a password first, or add a passkey.')
}
