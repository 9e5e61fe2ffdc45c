import { isSuspended, lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Lifts a suspension. Access tokens work again; sessions are not restored. Notifies the user by email.
 * @throws ApiError 404, `invalid_input` if the account is not suspended.
 */
export async function unsuspendAccount(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  name: string,
): Promise<{ id: string; username: string }> {
  const { id, username } = await getAccountByName(deps.db, name)
  await transaction(deps, async (tx, changed) => {
    if (!isSuspended(await lockAccount(tx, id), deps.now())) throw invalidInput('This account is not suspended')
    await tx
      .updateTable('account')
      .set({ suspended_at: null, suspended_until: null, suspension_reason: null })
      .where('id', '=', id)
      .execute()
    await enqueue(tx, 'accounts.send-mail', { kind: 'unsuspended', account_id: id })
    await recordAudit(tx, { action: 'account.unsuspended', actor, subject: { kind: 'user', id } })
    changed.add('viewer', id)
  })
  return { id, username }
}
