// The projects that somebody follows, for themselves and for admins.
import type { CachedProject, ProjectReader } from '#features/projects/lookup/project-cache.ts'
import { listVisibleByIds, projectViewer } from '#features/projects/lookup/visible-lists.ts'
import { getCachedUser } from '#features/users/user-cache.ts'
import { forbidden } from '#lib/errors.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import { listFollowedIds } from './queries.ts'

/**
 * The projects that the user `name` names follows, as far as the viewer sees them, the last followed first.
 * @throws ApiError 404 for an unknown user, 403 for another's account.
 */
export async function listFollowedProjects(
  reader: ProjectReader,
  viewer: Viewer,
  name: string,
): Promise<CachedProject[]> {
  const { id } = await getCachedUser(reader, name)
  if (id !== viewer.id && !isAdmin(viewer)) throw forbidden('These are the follows of another account')
  return listVisibleByIds(reader, projectViewer(viewer), await listFollowedIds(reader.db, id))
}
