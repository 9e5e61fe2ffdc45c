import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Deletes notifications of the account. Ignores other IDs. */
export async function deleteNotifications(
  deps: Pick<Deps, 'db' | 'cache'>,
  ids: readonly string[],
  accountId: string,
): Promise<void> {
  if (ids.length === 0) return
  await transaction(deps, async (tx, changed) => {
    await tx.deleteFrom('notification').where('id', 'in', ids).where('account_id', '=', accountId).execute()
    changed.add('unread', accountId)
  })
}
