// Decides who can see and change the trusted publishers of a project or an organization.
import {
  isMember,
  type Membership,
  projectPermissions,
  requireProjectPermission,
} from '#features/basics/access/project-policy.ts'
import {
  defaultProjectPermissions,
  type MemberFacts,
  organizationPermissions,
  requireOrganizationPermission,
} from '#features/basics/access/team-policy.ts'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

const NEEDED = ['UPLOAD_VERSION', 'EDIT_DETAILS'] as const

/** Adding needs a member, because a publisher acts for the account that added it. Admins can remove publishers too. */
export type PublisherChange = 'add' | 'remove'

/** @throws ApiError 403 naming the permission that the viewer lacks. */
export function requireChangeInProject(viewer: Viewer, membership: Membership, change: PublisherChange): void {
  const bits = change === 'remove' || isMember(membership) ? projectPermissions(as(viewer, change), membership) : 0
  for (const permission of NEEDED) requireProjectPermission(bits, permission)
}

/** @throws ApiError 403 naming the permission that the viewer lacks. */
export function requireChangeInOrganization(
  viewer: Viewer,
  member: MemberFacts | undefined,
  change: PublisherChange,
): void {
  const bits = defaultProjectPermissions(as(viewer, change), member)
  for (const permission of NEEDED) requireProjectPermission(bits, permission)
  requireOrganizationPermission(organizationPermissions(as(viewer, change), member), 'EDIT_DETAILS')
}

/** Requires an accepted member or a moderator. @throws ApiError 403. */
export function requireMemberOfOrganization(viewer: Viewer, member: MemberFacts | undefined): void {
  if (member?.accepted !== true && !isModerator(viewer)) throw forbidden('You are not a member of this organization')
}

function as(viewer: Viewer, change: PublisherChange): Viewer {
  return change === 'add' ? { ...viewer, role: 'developer' } : viewer
}
