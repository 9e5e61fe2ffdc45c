// Adds one project to a collection or removes it.

import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { appendProject, lockVisibleCollection, removeProject } from './queries.ts'
import { PROJECTS_MAX } from './requests.ts'

/**
 * Adds a project at the end of the collection, or removes it. Idempotent.
 * @throws ApiError 404 if the collection is hidden, 403 unless the viewer is its creator, `invalid_input` if it is full.
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
    if (outcome === 'full')
      throw invalidInput(`The collection ${collection.name} is full (limit: ${PROJECTS_MAX} projects)`)
    if (outcome === 'same') return
    await tx
      .updateTable('collection')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', collection.id)
      .execute()
  })
}
