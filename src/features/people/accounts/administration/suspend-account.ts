import { isSuspended, lockAccount, lockOtherAdmins } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { requireSuspendable } from '../policy.ts'
import type { SuspensionInput } from './requests.ts'

/**
 * Suspends an account, or changes the reason and end of its suspension. Ends its sessions and disables its tokens,
 * immediately in every process. Notifies the user by email.
 * @throws ApiError 404, 403 for the placeholder account, 400 for the calling admin and for the last admin.
 */
export async function suspendAccount(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { name, reason, until }: SuspensionInput & { name: string },
): Promise<{ id: string; username: string }> {
  const { id, username } = requireSuspendable(actor, await getAccountByName(deps.db, name))
  const now = deps.now()
  await transaction(deps, async (tx, changed) => {
    const { role } = await lockAccount(tx, id)
    if (role === 'admin') await lockOtherAdmins(tx, id, now)
    await tx
      .updateTable('account')
      .set({ suspended_at: new Date(now), suspended_until: until, suspension_reason: reason })
      .where('id', '=', id)
      .execute()
    await endAccess(tx, changed, 'suspended', { accountId: id, now })
    await enqueue(tx, 'accounts.send-mail', { kind: 'suspended', account_id: id })
    const details = { reason, until: until?.toISOString() ?? null }
    await recordAudit(tx, { action: 'account.suspended', actor, subject: { kind: 'user', id }, details })
    changed.add('user', id)
    changed.add('viewer', id)
  })
  return { id, username }
}

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
    changed.add('user', id)
    changed.add('viewer', id)
  })
  return { id, username }
}
