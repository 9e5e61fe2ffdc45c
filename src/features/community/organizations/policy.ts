// Decides who may change an organization and its projects.

import { requireApproved } from '#features/basics/access/email-policy.ts'
import type { OrganizationPermission } from '#features/basics/access/permissions.ts'
import { isMember, type Membership } from '#features/basics/access/project-policy.ts'
import {
  type MemberFacts,
  organizationPermissions,
  requireOrganizationPermission,
} from '#features/basics/access/team-policy.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
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
  requireApproved(viewer)
  requireOrganizationPermission(organizationPermissions(viewer, member), permission)
}

/** @throws ApiError 400 if an organization owns the project; only members of the project may learn this. */
export function requireFreeProject(project: { organization_id: string | null }, membership: Membership): void {
  if (project.organization_id !== null && isMember(membership))
    throw invalidInput('The project already belongs to an organization', 'project_id')
}

/**
 * @throws ApiError 403 unless the viewer owns the project (or is an admin and in its team), is a member of the
 * organization and has ADD_PROJECT there.
 */
export function requireProjectOwner(
  viewer: Viewer,
  { membership, member }: { membership: Membership; member: MemberFacts | undefined },
): void {
  if (membership.project?.accepted !== true || !(membership.project.is_owner || isAdmin(viewer)))
    throw forbidden('Only the owner of a project can transfer it to an organization')
  if (member?.accepted !== true) throw forbidden('You are not a member of this organization')
  requirePermissionIn(viewer, member, 'ADD_PROJECT')
}
