// Enables two-factor sign-in in two steps, and disables it.
import { hasSecondFactor, lockAccount, lockOtherProtectedAdmins } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { deleteFlows, findFlow, insertFlow, takeFlow } from '../mail/flows.ts'
import { confirmationGuess, invalidCredentials } from '../sign-in/sign-in-guard.ts'
import { newTotpSecret, removeTwoFactor, replaceBackupCodes, totpStep, totpUri, useCode } from './codes.ts'

/** A secret for an authenticator app, its otpauth URI, and the flow that confirms it. */
export type TwoFactorSetUp = { secret: string; uri: string; flow: string }

/** Starts the setup of two-factor sign-in. @throws ApiError `invalid_input` if it is already enabled */
export async function startTwoFactor({ db, now }: AccountDeps, accountId: string): Promise<TwoFactorSetUp> {
  const account = await getAccount(db, accountId)
  if (account.totp_secret !== null) throw alreadyOn()
  const { secret, uri } = newTotpSecret(account.username)
  const flow = await insertFlow(db, { kind: 'set_up_totp', accountId, data: { secret }, now: now() })
  return { secret, uri, flow }
}

/** Returns an unconfirmed setup; undefined if it was confirmed or has expired. */
export async function findTwoFactorSetUp(
  { db, now }: AccountDeps,
  { accountId, flow }: { accountId: string; flow: string },
): Promise<TwoFactorSetUp | undefined> {
  const setUp = await findFlow(db, 'set_up_totp', { secret: flow, now: now() })
  if (setUp?.account_id !== accountId) return undefined
  const secret = String(setUp.data['secret'])
  return { secret, uri: totpUri(secret, (await getAccount(db, accountId)).username), flow }
}

type Confirmation = { viewer: Viewer; code: string; password?: string | undefined }

/**
 * Enables two-factor sign-in with a first code and returns the backup codes. A wrong code does not use the flow.
 * @throws ApiError like `confirmOwner`, `invalid_credentials`, `invalid_input` if it is already enabled
 */
export async function enableTwoFactor(
  deps: AccountDeps,
  { viewer, flow: secret, code, password }: Confirmation & { flow: string },
): Promise<string[]> {
  await confirmOwner(deps, viewer, { password })
  const accountId = viewer.id
  const now = deps.now()
  return transaction(deps, async (tx, changed) => {
    changed.add('user', accountId)
    changed.add('viewer', accountId)
    const account = await lockAccount(tx, accountId)
    if (account.totp_secret !== null) throw alreadyOn()
    const flow = await takeFlow(tx, 'set_up_totp', { secret, now })
    if (flow?.account_id !== accountId) throw invalidCredentials('The flow is unknown or has expired')
    const totpSecret = String(flow.data['secret'])
    const step = totpStep({ secret: totpSecret, code, now })
    if (step === undefined) throw invalidCredentials('The code is wrong')
    await tx
      .updateTable('account')
      .set({ totp_secret: totpSecret, totp_last_step: step })
      .where('id', '=', accountId)
      .execute()
    await deleteFlows(tx, accountId, ['set_up_totp'])
    await enqueue(tx, 'accounts.send-mail', { kind: 'two-factor-enabled', account_id: accountId })
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'account.two_factor_enabled', actor: actorOf(viewer), subject })
    return replaceBackupCodes(tx, accountId)
  })
}

/**
 * Disables two-factor sign-in with a code or backup code, and the password.
 * @throws ApiError like `confirmOwner` and `lockOtherProtectedAdmins`, `invalid_credentials`, `ratelimit_error`, `invalid_input`
 * if it is not enabled
 */
export async function disableTwoFactor(deps: AccountDeps, { viewer, code, password }: Confirmation): Promise<void> {
  const { id: accountId } = viewer
  if (password !== undefined) return disableByProof(deps, viewer, { code, password })
  await confirmOwner(deps, viewer, {})
  await deps.guard.attempt(confirmationGuess(viewer), 'The code is wrong', () =>
    transaction(deps, async (tx, changed) => {
      const account = await lockAccount(tx, accountId)
      if (account.totp_secret === null) throw notOn()
      if (!(await useCode(tx, account, { code, now: deps.now() }))) return undefined
      if (isLastFactor(account)) await lockOtherProtectedAdmins(tx, accountId, deps.now())
      await removeSecondFactor(tx, changed, accountId, { actor: actorOf(viewer) })
      return true
    }),
  )
}

/** Disables two-factor sign-in with a password and a code, which `confirmOwner` uses. */
async function disableByProof(deps: AccountDeps, viewer: Viewer, proof: OwnerProof): Promise<void> {
  const { totp_secret } = await getAccount(deps.db, viewer.id)
  if (totp_secret === null) throw notOn()
  await confirmOwner(deps, viewer, proof)
  await transaction(deps, async (tx, changed) => {
    const account = await lockAccount(tx, viewer.id)
    if (account.totp_secret !== totp_secret) throw notOn()
    if (isLastFactor(account)) await lockOtherProtectedAdmins(tx, viewer.id, deps.now())
    await removeSecondFactor(tx, changed, viewer.id, { actor: actorOf(viewer) })
  })
}

const isLastFactor = ({ role, passkey_count }: { role: string; passkey_count: number }): boolean =>
  role === 'admin' && passkey_count === 0

/** Removes the authenticator app and, without passkeys, the backup codes and incomplete sign-ins. Notifies the user. */
export async function removeSecondFactor(
  tx: Tx,
  changed: ChangeSet,
  id: string,
  { actor, details = {} }: { actor: Actor; details?: { reason?: string } },
): Promise<void> {
  changed.add('user', id)
  changed.add('viewer', id)
  await removeTwoFactor(tx, id)
  await enqueue(tx, 'accounts.send-mail', { kind: 'two-factor-removed', account_id: id })
  const subject = { kind: 'user', id } as const
  await recordAudit(tx, { action: 'account.two_factor_disabled', actor, subject, details })
}

/**
 * Replaces the backup codes and returns the new ones.
 * @throws ApiError like `confirmOwner`, `invalid_input` without two-factor sign-in
 */
export async function renewBackupCodes(deps: AccountDeps, viewer: Viewer, proof: OwnerProof): Promise<string[]> {
  await confirmOwner(deps, viewer, proof)
  return transaction(deps, async (tx) => {
    const account = await lockAccount(tx, viewer.id)
    if (!hasSecondFactor(account)) throw notOn()
    const subject = { kind: 'user', id: viewer.id } as const
    await recordAudit(tx, { action: 'account.backup_codes_renewed', actor: actorOf(viewer), subject })
    return replaceBackupCodes(tx, viewer.id)
  })
}

export const notOn = (): ApiError => invalidInput('Two-factor sign-in is not enabled')
const alreadyOn = (): ApiError => invalidInput('Two-factor sign-in is already enabled')
