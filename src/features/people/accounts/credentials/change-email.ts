// Changes and verifies email addresses.
import { lockAccount } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import type { AccountDeps } from '../account-deps.ts'
import { deleteFlows, invalidLink, takeFlow } from '../mail/flows.ts'
import { requireVerificationMail } from '../mail/mail-allowance.ts'
import { emailTaken } from '../queries.ts'
import { retryLater } from '../sign-in/sign-in-guard.ts'
import { checkEmail } from '../sign-up/create-account.ts'
import { requireAllowedDomain } from '../sign-up/policy.ts'
import { answerDelayMs, takeAnswer } from '../sign-up/taken-answers.ts'
import { confirmOwner } from './confirm-owner.ts'

/**
 * Changes the email address of an account. The new address must be verified, unless the operator does not require it.
 * The previous address receives a link to undo the change; other links that were sent to it become invalid.
 * @throws ApiError `validation_error` (also for a blocked domain) or `conflict` (also for the current address) naming
 * `email`; `ratelimit_error` after 5 addresses of other accounts; like `confirmOwner`
 */
export async function changeEmail(
  deps: AccountDeps,
  { viewer, email, proof }: { viewer: Viewer; email: string; proof: OwnerProof },
): Promise<void> {
  checkEmail(email)
  await confirmOwner(deps, viewer, proof)
  await requireAllowedDomain(deps, email)
  const accountId = viewer.id
  await requireVerificationMail(deps.counters, accountId)
  const delayMs = await answerDelayMs(deps.counters, viewer.address)
  if (delayMs > 0) throw retryLater('Too many email addresses of other accounts', delayMs)
  const emailVerified = !deps.config.accounts.requireVerifiedEmail
  const unchanged = emailUnchanged()
  await transaction(deps, async (tx, changed) => {
    changed.add('user', accountId)
    changed.add('viewer', accountId)
    const { email: previous, totp_secret } = await lockAccount(tx, accountId)
    if (previous?.toLowerCase() === email.toLowerCase()) throw unchanged
    await tx
      .updateTable('account')
      .set({ email, email_verified: emailVerified })
      .where('id', '=', accountId)
      .execute()
      .catch(onUnique({ account_email_key: emailTaken }))
    await deleteFlows(tx, accountId, ['verify_email', 'reset_password'])
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'account.email_changed', actor: actorOf(viewer), subject })
    if (!emailVerified) await enqueue(tx, 'accounts.send-mail', { kind: 'verify-email', account_id: accountId })
    if (previous !== null)
      await enqueue(tx, 'accounts.send-mail', {
        kind: 'email-changed',
        account_id: accountId,
        former_email: previous,
        had_two_factor: totp_secret !== null,
        changed_at: deps.now(),
      })
  }).catch(async (error: unknown) => {
    if (error instanceof ApiError && error.kind === 'conflict' && error !== unchanged)
      await takeAnswer(deps.counters, viewer.address)
    throw error
  })
}

/**
 * Sends the verification link again.
 * @throws ApiError `invalid_input` if there is nothing to verify, `ratelimit_error` after 10 emails per hour
 */
export async function resendVerification(deps: AccountDeps, accountId: string): Promise<void> {
  const { email, email_verified: isVerified } = await getAccount(deps.db, accountId)
  if (email === null) throw invalidInput('This account has no email address')
  if (isVerified) throw invalidInput('The email address is already verified')
  await requireVerificationMail(deps.counters, accountId)
  await transaction(deps, (tx) => enqueue(tx, 'accounts.send-mail', { kind: 'verify-email', account_id: accountId }))
}

/** Verifies an email address. @throws ApiError `invalid_input` naming `flow` if the link was used or is not valid. */
export async function verifyEmail(deps: Pick<Deps, 'db' | 'cache' | 'now'>, secret: string): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const flow = await takeFlow(tx, 'verify_email', { secret, now: deps.now() })
    if (flow === undefined) throw invalidLink()
    const { account_id: id, data } = flow
    changed.add('user', id)
    changed.add('viewer', id)
    const { numUpdatedRows } = await tx
      .updateTable('account')
      .set({ email_verified: true })
      .where('id', '=', id)
      .where('email', '=', String(data['email']))
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw invalidInput('The email address was changed after the link was sent', 'flow')
  })
}

function emailUnchanged(): ApiError {
  const details = { field: 'email', message: 'is already the address of this account' }
  return new ApiError('conflict', 'This is already the email address of this account', { details })
}
