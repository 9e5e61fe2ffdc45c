// Who may change an organization and which projects it owns: pure rules.
import { isMember, type Membership } from '#features/basics/access/project-policy.ts'
import {
  type MemberFacts,
  organizationPermissions,
  requireOrganizationPermission,
} from '#features/basics/access/team-policy.ts'
import type { OrganizationPermission } from '#lib/access/permissions.ts'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'

/**
 * @param member the viewer's row in the organization's team.
 * @throws ApiError 403 naming the permission that the viewer lacks.
 */
export function requirePermissionIn(
  viewer: Viewer,
  member: MemberFacts | undefined,
  permission: OrganizationPermission,
): void {
  requireOrganizationPermission(organizationPermissions(viewer, member), permission)
}

/** @throws ApiError 400 to those who may know that an organization owns the project. */
export function requireFreeProject(project: { organization_id: string | null }, membership: Membership): void {
  if (project.organization_id !== null && isMember(membership)) {
    throw invalidInput('The project belongs to an organization already', 'project_id')
  }
}

/**
 * A project is given to an organization by its owner, or an admin in its team, who is a member of the organization and
 * has ADD_PROJECT there.
 * @throws ApiError 403.
 */
export function requireProjectGiver(
  viewer: Viewer,
  { membership, member }: { membership: Membership; member: MemberFacts | undefined },
): void {
  if (membership.project?.accepted !== true || !(membership.project.is_owner || isAdmin(viewer))) {
    throw forbidden('Only the owner of a project may give it to an organization')
  }
  if (member?.accepted !== true) throw forbidden('You are no member of this organization')
  requirePermissionIn(viewer, member, 'ADD_PROJECT')
}
