// Lets the creator change the icon of a collection.

import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import { parseId } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { findVisibleCollection, lockVisibleCollection } from './queries.ts'

export function collectionIconOwner({ db, now }: Pick<Deps, 'db' | 'now'>): IconOwner {
  return {
    path: '/v3/collection',
    noun: 'Collection',
    scopes: ['COLLECTION_WRITE'],
    maxBytes: ICON_BYTES_MAX - 1,
    authorize: async (viewer, name) =>
      requireEditable(viewer, await findVisibleCollection(db, viewer, parseId(name, 'id'))).id,
    write: async (tx, _changed, { id, viewer, icon }) => {
      const before = requireEditable(viewer, await lockVisibleCollection(tx, viewer, id))
      await tx
        .updateTable('collection')
        .set({
          icon_url: icon?.url ?? null,
          raw_icon_url: icon?.rawUrl ?? null,
          color: icon?.color ?? null,
          updated: new Date(now()),
        })
        .where('id', '=', id)
        .execute()
      return [before.icon_url, before.raw_icon_url]
    },
  }
}
