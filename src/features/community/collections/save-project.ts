// Puts one project into a collection, or takes it out, and leaves the others where they are.

import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { appendProject, lockVisibleCollection, removeProject } from './queries.ts'

/**
 * Doing it twice changes nothing the second time. A project that is put in stands last.
 * @throws ApiError 404 when the collection is hidden, 403 for another's, `invalid_input` when it is full.
 */
export async function saveProject(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { collectionId, projectId, isSaved }: { collectionId: string; projectId: string; isSaved: boolean },
): Promise<void> {
  await transaction(deps, async (tx) => {
    const collection = requireEditable(viewer, await lockVisibleCollection(tx, viewer, collectionId))
    const outcome = isSaved
      ? await appendProject(tx, collection.id, projectId)
      : await removeProject(tx, collection.id, projectId)
    if (outcome === 'full') throw invalidInput(`${collection.name} is full`)
    if (outcome === 'same') return
    await tx
      .updateTable('collection')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', collection.id)
      .execute()
  })
}
