// An application's icon, which its owner and moderators change.
import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import { parseId } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { getApplication, lockApplication } from './queries.ts'

export function applicationIconOwner({ db }: Pick<Deps, 'db'>): IconOwner {
  return {
    path: '/oauth/app',
    noun: 'Application',
    scopes: ['SESSION_ACCESS'],
    maxBytes: ICON_BYTES_MAX,
    authorize: async (viewer, id) => requireEditable(viewer, await getApplication(db, parseId(id, 'id'))).id,
    write: async (tx, _changed, { id, viewer, icon }) => {
      const before = requireEditable(viewer, await lockApplication(tx, id))
      await tx
        .updateTable('oauth_client')
        .set({ icon_url: icon?.key ?? null, raw_icon_url: icon?.rawKey ?? null })
        .where('id', '=', id)
        .execute()
      return [before.icon_url, before.raw_icon_url]
    },
  }
}
