// The forms that follow and unfollow a project.
import type { FastifyReply } from 'fastify'
import { followProject, unfollowProject } from '#features/catalogue/follows/follow-project.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { ApiError } from '#lib/errors.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { rowOfProject } from '../lists/rows.ts'

/** Follows or unfollows a project and leads back to it. Ignores a repeated form. */
export async function followFromPage(
  { deps, viewer, redirect, toSignIn }: PageRequest,
  project: CachedProject,
  isFollowing: boolean,
): Promise<FastifyReply> {
  const { path } = rowOfProject(project)
  if (viewer === null) return toSignIn(path)
  const act = isFollowing ? followProject(deps, viewer, project.id) : unfollowProject(deps, viewer, project.id)
  await act.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.kind !== 'invalid_input') throw error
  })
  return redirect(path, isFollowing ? 'followed' : 'unfollowed')
}
