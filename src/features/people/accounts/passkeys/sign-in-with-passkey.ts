// Sign-in and confirmation with a passkey. Its authenticator has verified the user, so that no further code is required.
import { lockAnyAccount } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import type { AccountDeps } from '../account-deps.ts'
import { requireActive } from '../policy.ts'
import type { Client } from '../sessions/queries.ts'
import { finish, openSession, recordRefusal, type SignedIn } from '../sign-in/sign-in.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'
import { RefusedPasskey, type UsedPasskey, verifyAssertion } from './ceremonies.ts'
import type { PasskeyAssertion } from './requests.ts'

const CHANGED = 'The passkey was deleted, or used by another request at the same time'

/**
 * Signs in with a passkey of any account.
 * @throws ApiError like `verifyAssertion`, 403 for a suspended account, and without `undoDeletion` for an account with a pending
 * deletion
 */
export async function signInWithPasskey(
  deps: AccountDeps,
  of: { credential: PasskeyAssertion; undoDeletion?: boolean | undefined; client: Client },
): Promise<SignedIn> {
  const { credential, undoDeletion: undo = false, client } = of
  const used = await verifyAssertion(deps, credential).catch(async (error: unknown) => {
    if (error instanceof RefusedPasskey)
      await recordRefusal(deps.db, { accountId: error.accountId, client, because: 'passkey' })
    throw error
  })
  const now = deps.now()
  const accountId = used.passkey.account_id
  const result = await transaction(deps, async (tx, changed) => {
    const account = await lockAnyAccount(tx, accountId)
    if (account === undefined) throw invalidCredentials(CHANGED)
    await recordUse(tx, used, now)
    requireActive(account, now)
    return openSession(tx, changed, { account, client, undo, now })
  })
  if ('session' in result) await finish(deps, accountId, client)
  return result
}

/** Checks that a passkey of the viewer has signed a challenge. @throws ApiError like `verifyAssertion` */
export async function confirmWithPasskey(
  deps: Pick<AccountDeps, 'db' | 'config' | 'now'>,
  viewer: Viewer,
  credential: PasskeyAssertion,
): Promise<void> {
  const used = await verifyAssertion(deps, credential, viewer.id)
  await recordUse(deps.db, used, deps.now())
}

/** Stores the use of a passkey, unless another request has used the same counter. @throws ApiError `invalid_credentials` */
async function recordUse(db: Db, { passkey, counter, isSynced }: UsedPasskey, now: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('passkey')
    .set({ counter, is_synced: isSynced, last_used: new Date(now) })
    .where('id', '=', passkey.id)
    .where('counter', '=', passkey.counter)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw invalidCredentials(CHANGED)
}
