import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteFlows } from '../mail/flows.ts'
import { requireAdministrable } from '../policy.ts'
import { emailTaken } from '../queries.ts'
import { checkEmail } from '../sign-up/create-account.ts'
import { isDomainBlocked } from '../sign-up-blocks/queries.ts'

export type EmailInput = { email: string; verified: boolean }

/**
 * Sets the email address of an account, or states that its address is verified. An unverified address receives a link. Links
 * that were sent to the former address become invalid, and it gets no link to undo the change: it may be somebody else's by now.
 * @returns also whether the domain of the address is blocked for users
 * @throws ApiError 404, 403 for the placeholder account, `validation_error` or `conflict` naming `email`.
 */
export async function setEmail(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { name, email, verified }: EmailInput & { name: string },
): Promise<{ id: string; username: string; isBlocked: boolean }> {
  checkEmail(email)
  const { id, username } = requireAdministrable(await getAccountByName(deps.db, name))
  await transaction(deps, async (tx, changed) => {
    const { email: former } = await lockAccount(tx, id)
    await tx
      .updateTable('account')
      .set({ email, email_verified: verified })
      .where('id', '=', id)
      .execute()
      .catch(onUnique({ account_email_key: emailTaken }))
    const isChanged = former?.toLowerCase() !== email.toLowerCase()
    if (isChanged) await deleteFlows(tx, id, ['verify_email', 'reset_password', 'undo_email_change'])
    if (!verified) await enqueue(tx, 'accounts.send-mail', { kind: 'verify-email', account_id: id })
    const action = verified && !isChanged ? 'account.email_verified' : 'account.email_changed'
    await recordAudit(tx, { action, actor, subject: { kind: 'user', id }, details: { verified } })
    changed.add('user', id)
    changed.add('viewer', id)
  })
  return { id, username, isBlocked: await isDomainBlocked(deps.db, { email, now: new Date(deps.now()) }) }
}
