// A user's picture: his own to change, and moderators'.

import { ICON_BYTES_MAX, type IconOwner } from '#features/pictures/icons.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { requireEditableUser } from './policy.ts'
import { getAccountByName } from './queries.ts'

export function avatarOwner({ db }: Pick<Deps, 'db'>): IconOwner {
  return {
    path: '/v3/user',
    noun: 'User',
    scopes: ['USER_WRITE'],
    maxBytes: ICON_BYTES_MAX - 1,
    authorize: async (viewer, name) => requireEditableUser(viewer, await getAccountByName(db, name)).id,
    write: async (tx, changed, { id, icon }) => {
      const before = await tx
        .selectFrom('account')
        .select(['avatar_url', 'raw_avatar_url'])
        .where('id', '=', id)
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (before === undefined) throw notFound('user')
      await tx
        .updateTable('account')
        .set({ avatar_url: icon?.url ?? null, raw_avatar_url: icon?.rawUrl ?? null })
        .where('id', '=', id)
        .execute()
      changed.add('user', id)
      return [before.avatar_url, before.raw_avatar_url]
    },
  }
}
