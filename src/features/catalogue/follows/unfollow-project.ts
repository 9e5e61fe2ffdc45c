import { findProject, getProject, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { addToFollowers, deleteFollow } from './queries.ts'

/**
 * The viewer stops following the project that `name` names, also one that has been hidden since.
 * @throws ApiError 404 for a project that is absent, or hidden and not followed; `invalid_input` when it is not followed.
 */
export async function unfollowProject(deps: ProjectReader, viewer: Viewer, name: string): Promise<void> {
  const project = await findProject(deps, name)
  if (project === undefined) throw notFound('project')
  const wasFollowed = await transaction(deps, async (tx, changed) => {
    if (!(await deleteFollow(tx, viewer.id, project.id))) return false
    await addToFollowers(tx, project.id, -1)
    changed.add('project', project.id)
    return true
  })
  if (wasFollowed) return
  await getProject(deps, viewer, name)
  throw invalidInput('You do not follow this project')
}
