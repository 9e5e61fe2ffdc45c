import type { Updateable } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import { onUnique } from '#db/pg-errors.ts'
import type { Account } from '#db/schema.ts'
import { lockAccount } from '#features/access/accounts.ts'
import { type PatchColumns, toColumns } from '#lib/patch.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { requireEditableUser, requireRankGiver } from './policy.ts'
import { assertUsernameFree, getAccountByName, listOwnedProjectIds, usernameTaken } from './queries.ts'
import type { UserPatch } from './requests.ts'

const columns = {
  username: (username) => (username === null ? {} : { username }),
  bio: (bio) => ({ bio }),
  role: (role) => (role === null ? {} : { role }),
  badges: (badges) => (badges === null ? {} : { badges }),
  payout_handle: (payout_handle) => ({ payout_handle }),
  allow_friend_requests: (allow) => (allow === null ? {} : { allow_friend_requests: allow }),
} satisfies PatchColumns<UserPatch, Updateable<Account>>

/**
 * Edits the user that `name` names; when one field is refused, none is saved.
 * @throws ApiError 404, 403 for what the viewer may not change, `conflict` naming `username`.
 */
export async function updateUser(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { name, patch }: { name: string; patch: UserPatch },
): Promise<void> {
  const { id } = requireEditableUser(viewer, await getAccountByName(deps.db, name))
  const update: Updateable<Account> = toColumns(patch, columns)
  if (update.role !== undefined || update.badges !== undefined) requireRankGiver(viewer)
  if (Object.keys(update).length === 0) return
  await transaction(deps, async (tx, changed) => {
    const locked = await lockAccount(tx, id)
    const newName = update.username === locked.username ? undefined : update.username
    if (newName !== undefined) await assertUsernameFree(tx, newName, id)
    await tx
      .updateTable('account')
      .set(update)
      .where('id', '=', id)
      .execute()
      .catch(onUnique({ account_username_key: usernameTaken }))
    changed.add('user', id)
    if (update.role !== undefined) changed.add('viewer', id)
    // Search shows projects with the name of their owner, and finds them by it.
    if (newName !== undefined) changed.add('project', ...(await listOwnedProjectIds(tx, id)))
  })
}
