import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { addToFollowers, insertFollow } from './queries.ts'

/**
 * The viewer follows a project.
 * @throws ApiError `invalid_input` when it is followed already, 404 when it is deleted at this moment.
 */
export async function followProject(
  deps: { db: Db; cache: EntityCache },
  viewer: Viewer,
  projectId: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if (!(await insertFollow(tx, viewer.id, projectId))) throw invalidInput('You follow this project already')
    await addToFollowers(tx, projectId, 1)
    changed.add('project', projectId)
  })
}
