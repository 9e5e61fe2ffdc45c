// Editing a user: by himself, by moderators, and what only admins may give.
import type { Updateable } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import { onUnique } from '#db/pg-errors.ts'
import type { Account } from '#db/schema.ts'
import { forbidden, notFound } from '#lib/errors.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { requireEditableUser } from './policy.ts'
import { assertUsernameFree, getAccountByName, listOwnedProjectIds, usernameTaken } from './queries.ts'
import type { UserPatch } from './views.ts'

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
  const update = toUpdate(patch)
  if ((update.role !== undefined || update.badges !== undefined) && !isAdmin(viewer)) {
    throw forbidden('Only admins may change roles and badges')
  }
  if (Object.keys(update).length === 0) return
  await transaction(deps, async (tx, changed) => {
    const locked = await tx
      .selectFrom('account')
      .select('username')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (locked === undefined) throw notFound('user')
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

/** The columns that a body sets; keys that it does not know are left alone. */
function toUpdate({
  username,
  bio,
  role,
  badges,
  payout_handle,
  allow_friend_requests,
}: UserPatch): Updateable<Account> {
  return {
    ...(username == null ? {} : { username }),
    ...(bio === undefined ? {} : { bio }),
    ...(role == null ? {} : { role }),
    ...(badges == null ? {} : { badges }),
    ...(payout_handle === undefined ? {} : { payout_handle }),
    ...(allow_friend_requests == null ? {} : { allow_friend_requests }),
  }
}
