import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { type AccountRow, assertUsernameFree, listOwnedProjectIds, reserveUsername } from './queries.ts'

/**
 * Requires that a username is free for an account, which the caller has locked, reserves the present one, and announces the
 * projects whose owner gets another name. The caller writes the new one.
 * @throws ApiError `conflict` naming `username`, `limit_reached`.
 */
export async function takeUsername(
  tx: Tx,
  changed: ChangeSet,
  { account, newName, now }: { account: AccountRow; newName: string; now: number },
): Promise<void> {
  await assertUsernameFree({ db: tx, now: () => now }, newName, account.id)
  if (newName.toLowerCase() !== account.username.toLowerCase()) await reserveUsername(tx, { ...account, newName }, now)
  // Search shows projects with the name of their owner, and finds them by it.
  changed.add('project', ...(await listOwnedProjectIds(tx, account.id)))
}
