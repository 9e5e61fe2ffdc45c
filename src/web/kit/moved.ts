// Paths with a previous slug or username. They lead to the present one for as long as nothing else has the previous name.

import { findPreviousOwner, type NamedKind } from '#features/basics/previous-names/queries.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getOrganization } from '#features/community/organizations/organization-cache.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { organizationPath, projectPath, projectSegments, userPath } from './paths.ts'
import type { PageRequest } from './request.ts'

type MovedRequest = Pick<PageRequest, 'req' | 'deps' | 'viewer'>

/** Returns the path and query with the present name, if the path has a previous name of something that the viewer sees. */
export async function findMovedPath({ req, deps, viewer }: MovedRequest): Promise<string | undefined> {
  const { pathname, search } = new URL(req.raw.url ?? '', 'http://local')
  const [, segment = '', named = '', ...below] = pathname.split('/')
  const kind = kindOf(segment, projectSegments(deps.taxonomy))
  if (kind === undefined) return undefined
  const suffix = /:\w+(\.\w+)$/.exec(req.routeOptions.url ?? '')?.[1] ?? ''
  const name = decodeURIComponent(named.slice(0, named.length - suffix.length))
  const id = await findPreviousOwner(deps.db, kind, name)
  if (id === undefined) return undefined
  try {
    return `${[await presentPath({ deps, viewer }, kind, id), ...below].join('/')}${suffix}${search}`
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function kindOf(segment: string, projects: readonly string[]): NamedKind | undefined {
  if (segment === 'user') return 'account'
  if (segment === 'organization') return 'organization'
  return projects.includes(segment) ? 'project' : undefined
}

/** @throws ApiError 404 if it is hidden from the viewer */
async function presentPath(
  { deps, viewer }: Pick<PageRequest, 'deps' | 'viewer'>,
  kind: NamedKind,
  id: string,
): Promise<string> {
  switch (kind) {
    case 'project':
      return projectPath(viewOf(await getProject(deps, viewer, id)))
    case 'organization':
      return organizationPath((await getOrganization(deps, id)).slug)
    case 'account':
      return userPath((await getCachedUser(deps, id)).username)
  }
}
