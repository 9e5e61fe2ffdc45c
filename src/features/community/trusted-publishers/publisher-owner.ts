// The project or the organization that owns trusted publishers.
import { requireMember } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findViewerIn, getOrganizationRow } from '#features/community/organizations/queries.ts'
import type { Deps } from '#ports/deps.ts'
import {
  type PublisherChange,
  requireChangeInOrganization,
  requireChangeInProject,
  requireMemberOfOrganization,
} from './policy.ts'
import type { PublisherOwner } from './queries.ts'

/** The kind of resource in the path, and its ID or slug. */
export type OwnerName = { kind: 'project' | 'organization'; name: string }

/**
 * Returns the owner of publishers. Without `change`, for members who read them.
 * @throws ApiError 404, 403.
 */
export async function getOwner(
  deps: Deps,
  viewer: Viewer,
  { kind, name }: OwnerName,
  change?: PublisherChange,
): Promise<PublisherOwner> {
  if (kind === 'project') {
    const { project, membership } = await getProjectAsMember(deps, viewer, name)
    if (change === undefined) requireMember(viewer, membership)
    else requireChangeInProject(viewer, membership, change)
    return { project_id: project.id, organization_id: null }
  }
  const organization = await getOrganizationRow(deps.db, name)
  const member = await findViewerIn(deps.db, viewer, organization)
  if (change === undefined) requireMemberOfOrganization(viewer, member)
  else requireChangeInOrganization(viewer, member, change)
  return { project_id: null, organization_id: organization.id }
}

/** Returns the subject of audit entries. */
export function subjectOf({
  project_id,
  organization_id,
}: {
  project_id: string | null
  organization_id: string | null
}) {
  return project_id === null
    ? ({ kind: 'organization', id: organization_id ?? '' } as const)
    : ({ kind: 'project', id: project_id } as const)
}
