import type { ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVisibleByIds } from '#features/catalogue/projects/lookup/visible-lists.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { hasScope } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { joinJson } from '#lib/text/json-bytes.ts'
import { listCachedOrganizations, toOrganizationViews } from './organization-cache.ts'

/**
 * Returns the projects of a user and of their organizations, and these organizations by ID, as a JSON object.
 * @throws ApiError 404.
 */
export async function writeAllProjectsOf(deps: ProjectReader, viewer: Viewer | null, name: string): Promise<Buffer> {
  const { id } = await getCachedUser(deps, name)
  const organizations = await listCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, id))
  const own = await listProjectIdsOf(deps.db, viewer, id)
  const ofOrganizations = await listOrganizationProjectIds(
    deps.db,
    viewer,
    organizations.map((organization) => organization.id),
  )
  const projects = await listVisibleByIds(deps, viewer, [...new Set([...own, ...ofOrganizations])])
  const views = await toOrganizationViews(deps, organizationViewer(viewer), organizations)
  const entries = views.flatMap(({ bytes }, index) => [
    Buffer.from(`${index === 0 ? '' : ','}"${organizations[index]?.id}":`),
    bytes,
  ])
  return Buffer.concat([
    Buffer.from('{"projects":'),
    joinJson(projects),
    Buffer.from(',"organizations":{'),
    ...entries,
    Buffer.from('}}'),
  ])
}

/** Returns the viewer if their token includes ORGANIZATION_READ, otherwise null, for the view of the public. */
function organizationViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'ORGANIZATION_READ') ? viewer : null
}
