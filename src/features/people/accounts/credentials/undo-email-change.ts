import { lockAccountOrLeaving } from '#features/basics/access/accounts.ts'
import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { findFlow, invalidLink, takeFlow } from '../mail/flows.ts'
import { emailTaken } from '../queries.ts'
import type { Client } from '../sessions/queries.ts'
import { removeTwoFactor } from '../two-factor/codes.ts'

/**
 * Restores the previous email address and revokes everything that an attacker could have: the password, two-factor sign-in
 * that was added after the change, and what the table of events names. Sends a link to set a new password.
 * @throws ApiError `invalid_input` naming `flow` if the link was used or has expired, `conflict` naming `email` if
 * another account now has the email address.
 */
export async function undoEmailChange(deps: AccountDeps, secret: string, client: Client): Promise<void> {
  const now = deps.now()
  const accountId = (await findFlow(deps.db, 'undo_email_change', { secret, now }))?.account_id
  if (accountId === undefined) throw invalidLink()
  await transaction(deps, async (tx, changed) => {
    await lockAccountOrLeaving(tx, accountId)
    const flow = await takeFlow(tx, 'undo_email_change', { secret, now })
    if (flow === undefined) throw invalidLink()
    const { email, had_two_factor: hadTwoFactor, changed_at: changedAt } = flow.data
    await tx
      .updateTable('account')
      .set({ email: String(email), email_verified: true, password_hash: null, password_is_temporary: false })
      .where('id', '=', accountId)
      .execute()
      .catch(onUnique({ account_email_key: emailTaken }))
    changed.add('user', accountId)
    changed.add('viewer', accountId)
    if (hadTwoFactor !== true) await removeTwoFactor(tx, accountId)
    await endAccess(tx, changed, 'email_undone', { accountId, now, since: new Date(Number(changedAt)) })
    await enqueue(tx, 'accounts.send-mail', { kind: 'reset-password', account_id: accountId })
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'account.email_restored', actor: ownerAt(accountId, client), subject })
  })
  recordEvent(deps, 'account.email_restored', { account_id: accountId })
}
