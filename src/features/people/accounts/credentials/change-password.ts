// Sets passwords: by the old password, by a link in an email, or by the operator.
import { lockAccount, lockAccountOrLeaving } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf, COMMAND, ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { type AccountRow, findAccount, getAccount } from '#features/people/users/queries.ts'
import { addressKey } from '#lib/address-key.ts'
import { validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { findFlow, takeFlow } from '../mail/flows.ts'
import type { Client } from '../sessions/queries.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'
import { confirmOwner } from './confirm-owner.ts'

/** `endTokens`: whether to end access tokens, authorizations and everything else that acts for the account too. */
type Choice = { newPassword: string; endTokens: boolean }

const CHANGED = 'The password was changed by another request at the same time'
const INVALID_LINK = 'The link is unknown, was used, or has expired'

/**
 * Changes or sets the caller's password and ends their other sessions; with `endTokens`, also everything else that acts for
 * the account. Requires the old password or a confirmed session.
 * @throws ApiError like `confirmOwner` (wrong passwords count as failed sign-ins), `validation_error` for a weak password
 */
export async function changePassword(
  deps: AccountDeps,
  { viewer, newPassword, endTokens, proof }: { viewer: Viewer; proof: OwnerProof } & Choice,
): Promise<void> {
  const account = await getAccount(deps.db, viewer.id)
  await confirmOwner(deps, viewer, proof)
  const passwordHash = await checkAndHash(deps, { account, newPassword, caller: viewer.caller })
  const exceptId = viewer.token.kind === 'session' ? viewer.token.id : undefined
  await transaction(deps, async (tx, changed) => {
    const locked = await lockAccount(tx, account.id)
    if (locked.password_hash !== account.password_hash) throw invalidCredentials(CHANGED)
    const input = { accountId: account.id, passwordHash, exceptId, endTokens, now: deps.now(), actor: actorOf(viewer) }
    await setPassword(tx, changed, input)
  })
}

/**
 * Sets a password with the secret of a link, and ends all sessions; with `endTokens`, also everything else that acts for the
 * account.
 * @throws ApiError `invalid_credentials` for an invalid link, `validation_error` for a weak password (the link remains
 * valid)
 */
export async function resetPassword(
  deps: AccountDeps,
  { flow: secret, newPassword, endTokens, client }: { flow: string; client: Client } & Choice,
): Promise<void> {
  const { db, guard, now } = deps
  const flow = await findFlow(db, 'reset_password', { secret, now: now() })
  if (flow === undefined) throw invalidCredentials(INVALID_LINK)
  const accountId = flow.account_id
  const account = await getAccount(db, accountId)
  const passwordHash = await checkAndHash(deps, { account, newPassword, caller: addressKey(client.ip) })
  await transaction(deps, async (tx, changed) => {
    const { email } = await lockAccountOrLeaving(tx, accountId)
    const usedFlow = await takeFlow(tx, 'reset_password', { secret, now: now() })
    if (usedFlow?.data['email'] !== email) throw invalidCredentials(INVALID_LINK)
    const input = { accountId, passwordHash, endTokens, now: now(), actor: ownerAt(accountId, client) }
    await setPassword(tx, changed, input)
  })
  await guard.forgiveSignIns({ account: accountId, address: client.ip })
}

/** Returns the account whose password is changed: that of a link in an email, otherwise that of a session. */
export async function findPasswordOwner(
  { db, now }: Pick<AccountDeps, 'db' | 'now'>,
  { accountId, flow: secret }: { accountId: string | undefined; flow: string },
): Promise<AccountRow | undefined> {
  const flow = secret === '' ? undefined : await findFlow(db, 'reset_password', { secret, now: now() })
  const id = flow?.account_id ?? accountId
  return id === undefined ? undefined : findAccount(db, id)
}

/**
 * Sets the password of an account on behalf of the operator, and ends everything that acts for the account. With a
 * temporary password, which is random, the user must choose another one at the next sign-in.
 * @throws ApiError `validation_error` for a weak password
 */
export async function setPasswordOf(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'passwords' | 'now'>,
  { account, newPassword, isTemporary }: { account: AccountRow; newPassword: string; isTemporary: boolean },
): Promise<void> {
  const passwordHash = isTemporary
    ? await deps.passwords.hash(newPassword)
    : await checkAndHash(deps, { account, newPassword })
  await transaction(deps, async (tx, changed) => {
    await lockAccount(tx, account.id)
    const input = { accountId: account.id, passwordHash, isTemporary, endTokens: true, now: deps.now(), actor: COMMAND }
    await setPassword(tx, changed, input)
  })
}

async function checkAndHash(
  { passwords }: Pick<AccountDeps, 'passwords'>,
  { account, newPassword, caller }: { account: AccountRow; newPassword: string; caller?: string },
): Promise<string> {
  await passwords.check(newPassword, account, 'new_password', caller)
  if (account.password_is_temporary && (await passwords.verify(account.password_hash, newPassword, caller)))
    throw validationError('new_password', 'must differ from the temporary password')
  return passwords.hash(newPassword, caller)
}

type NewPassword = {
  accountId: string
  passwordHash: string
  isTemporary?: boolean
  endTokens: boolean
  now: number
  exceptId?: string | undefined
  actor: Actor
}

/** Sets a password and ends what the table of events names. */
async function setPassword(tx: Tx, changed: ChangeSet, input: NewPassword): Promise<void> {
  const { accountId, passwordHash, isTemporary = false, endTokens, exceptId, now, actor } = input
  await tx
    .updateTable('account')
    .set({ password_hash: passwordHash, password_is_temporary: isTemporary })
    .where('id', '=', accountId)
    .execute()
  changed.add('user', accountId)
  const event = endTokens ? 'password_reset' : 'password_changed'
  await endAccess(tx, changed, event, { accountId, now, exceptSessionId: exceptId })
  await enqueue(tx, 'accounts.send-mail', { kind: 'password-changed', account_id: accountId })
  await recordAudit(tx, {
    action: 'account.password_changed',
    actor,
    subject: { kind: 'user', id: accountId },
    details: { tokens: endTokens },
  })
}
