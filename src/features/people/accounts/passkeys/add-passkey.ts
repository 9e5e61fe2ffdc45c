// Adds a passkey in two steps.
import { hasSecondFactor, lockAccount } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { countPasskeys } from '#features/people/revocation/delete-passkeys.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { replaceBackupCodes } from '../two-factor/codes.ts'
import { creationOptions, verifyCreation } from './ceremonies.ts'
import { PASSKEYS_MAX, type PasskeyRow } from './queries.ts'
import { type PasskeyCreation, toPasskeyName } from './requests.ts'
import type { PasskeyCreationOptions } from './views.ts'

/** Returns the options with which the browser creates a passkey. @throws ApiError `limit_reached` above 20 passkeys */
export async function startPasskey(deps: AccountDeps, accountId: string): Promise<PasskeyCreationOptions> {
  const account = await getAccount(deps.db, accountId)
  if (account.passkey_count >= PASSKEYS_MAX) throw tooManyPasskeys()
  return creationOptions(deps, { account, siteName: (await getSettings(deps)).name })
}

/**
 * Adds a passkey and notifies the user by email. Returns backup codes if the account had no two-factor sign-in before: from now
 * on, a password needs a passkey or a code as well.
 * @throws ApiError like `confirmOwner` and `verifyCreation`, `limit_reached`, `conflict` for a passkey that is already known
 */
export async function addPasskey(
  deps: AccountDeps,
  of: { viewer: Viewer; name: string; credential: PasskeyCreation; proof: OwnerProof },
): Promise<{ passkey: PasskeyRow; backupCodes: string[] | null }> {
  const { viewer, credential, proof } = of
  const name = toPasskeyName(of.name)
  await confirmOwner(deps, viewer, proof)
  const accountId = viewer.id
  const created = await verifyCreation(deps, { accountId, credential })
  return transaction(deps, async (tx, changed) => {
    const account = await lockAccount(tx, accountId)
    if (account.passkey_count >= PASSKEYS_MAX) throw tooManyPasskeys()
    const passkey = await tx
      .insertInto('passkey')
      .values({ id: newId(), account_id: accountId, name, ...created, created: new Date(deps.now()) })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(onUnique({ passkey_credential_id_key: alreadyAdded }))
    await countPasskeys(tx, changed, accountId)
    await enqueue(tx, 'accounts.send-mail', { kind: 'passkey-added', account_id: accountId, name: passkey.name })
    const subject = { kind: 'user', id: accountId } as const
    const details = { passkey: passkey.id }
    await recordAudit(tx, { action: 'account.passkey_added', actor: actorOf(viewer), subject, details })
    return { passkey, backupCodes: hasSecondFactor(account) ? null : await replaceBackupCodes(tx, accountId) }
  })
}

const tooManyPasskeys = (): ApiError =>
  new ApiError('limit_reached', `An account can have at most ${PASSKEYS_MAX} passkeys. Delete one that you do not use.`)

const alreadyAdded = (): ApiError => new ApiError('conflict', 'This passkey was already added')
