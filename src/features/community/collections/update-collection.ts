import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requirePermittedPatch } from './policy.ts'
import { findVisibleCollection, lockVisibleCollection, replaceProjects, resolveProjects } from './queries.ts'
import { type CollectionPatch, toCollectionColumns } from './requests.ts'

/**
 * Edits a collection in one transaction, and always sets `updated`.
 * @throws ApiError 404 if the collection is hidden, 403 for a field that the viewer may not change, `validation_error`
 * naming `new_projects.N`.
 */
export async function updateCollection(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: CollectionPatch },
): Promise<void> {
  const update = toCollectionColumns(patch)
  requirePermittedPatch(viewer, await findVisibleCollection(deps.db, viewer, id), patch)
  const projectIds = await resolveProjects(deps.db, viewer, { names: patch.new_projects ?? [], field: 'new_projects' })
  await transaction(deps, async (tx) => {
    // Checked again because the status might have changed since the first check.
    const before = await lockVisibleCollection(tx, viewer, id)
    requirePermittedPatch(viewer, before, patch)
    await tx
      .updateTable('collection')
      .set({ ...update, updated: new Date(deps.now()) })
      .where('id', '=', id)
      .execute()
    if (before !== undefined && update.status !== undefined && update.status !== before.status) {
      const details = { from: before.status, to: update.status }
      const subject = { kind: 'collection', id } as const
      await recordAudit(tx, { action: 'collection.status_changed', actor: actorOf(viewer), subject, details })
    }
    if (patch.new_projects != null) {
      await replaceProjects(tx, { collectionId: id, projectIds, field: 'new_projects' })
    }
  })
}
