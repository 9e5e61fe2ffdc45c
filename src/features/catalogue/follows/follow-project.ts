// Makes a viewer follow a project, and stop following it.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { findProject, getProject, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { addToFollowers, deleteFollow, insertFollow } from './queries.ts'

/** @throws ApiError `invalid_input` if the viewer already follows the project, 404 if it was deleted in the meantime. */
export async function followProject(
  deps: { db: Db; cache: EntityCache },
  viewer: Viewer,
  projectId: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if (!(await insertFollow(tx, viewer.id, projectId))) throw invalidInput('You already follow this project')
    await addToFollowers(tx, projectId, 1)
    changed.add('project', projectId)
    changed.add('follows', viewer.id)
  })
}

/** Also works for a project that was hidden later. @throws ApiError 404, `invalid_input` if it is not followed. */
export async function unfollowProject(deps: ProjectReader, viewer: Viewer, name: string): Promise<void> {
  const project = await findProject(deps, name)
  if (project === undefined) throw notFound('project')
  const wasFollowed = await transaction(deps, async (tx, changed) => {
    if (!(await deleteFollow(tx, viewer.id, project.id))) return false
    await addToFollowers(tx, project.id, -1)
    changed.add('project', project.id)
    changed.add('follows', viewer.id)
    return true
  })
  if (wasFollowed) return
  // Throws 404 instead if the project is hidden from the viewer.
  await getProject(deps, viewer, name)
  throw invalidInput('You do not follow this project')
}
