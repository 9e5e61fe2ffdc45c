import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Marks notifications of the account as read. Ignores other IDs. */
export async function markNotificationsRead(
  deps: Pick<Deps, 'db' | 'cache'>,
  ids: readonly string[],
  accountId: string,
): Promise<void> {
  if (ids.length === 0) return
  await transaction(deps, async (tx, changed) => {
    await tx
      .updateTable('notification')
      .set({ read: true })
      .where('id', 'in', ids)
      .where('account_id', '=', accountId)
      .where('read', '=', false)
      .execute()
    changed.add('unread', accountId)
  })
}
