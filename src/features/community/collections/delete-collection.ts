import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { lockVisibleCollection } from './queries.ts'

/** @throws ApiError 404 if the collection is hidden, 403 unless the viewer is its creator. */
export async function deleteCollection(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  id: string,
): Promise<void> {
  await transaction(deps, async (tx) => {
    const { icon_url, raw_icon_url } = requireEditable(viewer, await lockVisibleCollection(tx, viewer, id))
    await tx.deleteFrom('collection').where('id', '=', id).execute()
    await removeImages(tx, deps.config, [icon_url, raw_icon_url])
    const subject = { kind: 'collection', id } as const
    await recordAudit(tx, { action: 'collection.deleted', actor: actorOf(viewer), subject })
  })
}
