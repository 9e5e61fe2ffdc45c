// The avatar of a user, which the user and moderators can change.

import { lockAccount } from '#features/basics/access/accounts.ts'
import { requireApproved } from '#features/basics/access/email-policy.ts'
import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditableUser } from './policy.ts'
import { getAccountByName } from './queries.ts'

export function avatarOwner({ db }: Pick<Deps, 'db'>): IconOwner {
  return {
    path: '/v3/user',
    noun: 'User',
    scopes: ['USER_WRITE'],
    errors: ['500 file_hosting_error'],
    maxBytes: ICON_BYTES_MAX - 1,
    authorize: async (viewer, name) => {
      requireApproved(viewer)
      return requireEditableUser(viewer, await getAccountByName(db, name)).id
    },
    write: async (tx, changed, { id, icon }) => {
      const before = await lockAccount(tx, id)
      await tx
        .updateTable('account')
        .set({ avatar_url: icon?.key ?? null, raw_avatar_url: icon?.rawKey ?? null })
        .where('id', '=', id)
        .execute()
      changed.add('user', id)
      return [before.avatar_url, before.raw_avatar_url]
    },
  }
}
