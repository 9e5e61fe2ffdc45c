import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudits } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueueEach } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Approves accounts that wait, which can then publish, and notifies the users by email. Accounts that do not wait stay as
 * they are. Returns the number of approved accounts.
 */
export async function approveAccounts(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  ids: readonly string[],
): Promise<number> {
  return transaction(deps, async (tx, changed) => {
    const rows = await tx
      .updateTable('account')
      .set({ awaits_approval: false })
      .where('id', 'in', [...ids])
      .where('awaits_approval', '=', true)
      .returning('id')
      .execute()
    const actor = actorOf(viewer)
    await recordAudits(
      tx,
      rows.map(({ id }) => ({ action: 'account.approved', actor, subject: { kind: 'user', id } })),
    )
    const mails = rows.map(({ id }) => ({ kind: 'approved' as const, account_id: id }))
    if (mails.length > 0) await enqueueEach(tx, 'accounts.send-mail', mails)
    changed.add('user', ...rows.map(({ id }) => id))
    changed.add('viewer', ...rows.map(({ id }) => id))
    return rows.length
  })
}
