// Requires the password and the two-factor code before changes that could give an account to someone else.
import { hasSecondFactor, lockAccount } from '#features/basics/access/accounts.ts'
import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type AccountRow, getAccount } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { AccountDeps } from '../account-deps.ts'
import { parsePasskey } from '../passkeys/requests.ts'
import { confirmWithPasskey } from '../passkeys/sign-in-with-passkey.ts'
import { isConfirmed, markConfirmed } from '../sessions/queries.ts'
import { confirmationGuess } from '../sign-in/sign-in-guard.ts'
import { useCode } from '../two-factor/codes.ts'

const WRONG_CODE = 'The code is wrong'

/** Returns the implementation of `ConfirmOwner` for other features. */
export function createConfirmOwner(deps: AccountDeps): ConfirmOwner {
  return (viewer, proof) => confirmOwner(deps, viewer, proof)
}

/** Implements `ConfirmOwner`. */
export async function confirmOwner(deps: AccountDeps, viewer: Viewer, proof: OwnerProof): Promise<void> {
  const { db, guard, now } = deps
  const { password, code, passkey } = proof
  if (passkey !== undefined) {
    await confirmWithPasskey(deps, viewer, parsePasskey('assertion', passkey))
    await guard.forgive(confirmationGuess(viewer))
    return markConfirmed(db, viewer, now())
  }
  const account = await getAccount(db, viewer.id)
  const isByCode = !hasPassword(account) && hasSecondFactor(account)
  if (password === undefined && (!isByCode || code === undefined)) {
    if (await isConfirmed(db, viewer, now())) return
    throw isByCode
      ? missing('code', 'Enter a code, or confirm with a passkey')
      : missing('password', 'Enter the password of your account again')
  }
  const wrong = wrongText(account)
  const guess = confirmationGuess(viewer)
  if (password !== undefined)
    await guard.attempt(guess, wrong, async () => (await isOwners(deps, account, password, viewer)) || undefined)
  if (hasSecondFactor(account)) {
    if (code === undefined && (await isConfirmed(db, viewer, now()))) return
    if (code === undefined) throw missing('code', 'Two-factor sign-in is enabled. Enter a code as well.')
    await guard.attempt(guess, WRONG_CODE, () =>
      transaction(deps, async (tx) => {
        const locked = await lockAccount(tx, account.id)
        return !hasSecondFactor(locked) || (await useCode(tx, locked, { code, now: now() })) || undefined
      }),
    )
  }
  await guard.forgive(guess)
  await markConfirmed(db, viewer, now())
}

/** Returns whether the password is right. Accounts without a password use a token of the linked code host. */
async function isOwners(
  { passwords, codeHost }: AccountDeps,
  account: AccountRow,
  password: string,
  { caller }: Viewer,
): Promise<boolean> {
  if (account.password_hash !== null) return passwords.verify(account.password_hash, password, caller)
  const { code_host_id: hostId } = account
  return hostId !== null && (await codeHost?.identify(password)) === hostId
}

/** Whether the owner confirms with a text: a password, or a token of the linked code host. Others sign in with a provider or a passkey. */
export const hasPassword = ({ password_hash, code_host_id }: AccountRow): boolean =>
  password_hash !== null || code_host_id !== null

function wrongText({ password_hash, code_host_id }: AccountRow): string {
  if (password_hash !== null) return 'The password is wrong'
  return code_host_id === null ? 'Your account has no password' : 'The token does not belong to your account'
}

function missing(field: 'password' | 'code', message: string): ApiError {
  return new ApiError('unauthorized', message, { details: { field, message: 'is required for this request' } })
}
