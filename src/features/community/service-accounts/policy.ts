// Decides who manages the service accounts of an organization.
import { type Membership, projectPermissions } from '#features/basics/access/project-policy.ts'
import {
  defaultProjectPermissions,
  type MemberFacts,
  organizationPermissions,
  requireOrganizationPermission,
} from '#features/basics/access/team-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** Admins see and delete service accounts; only members create them and their tokens. */
export function asMember(viewer: Viewer): Viewer {
  return { ...viewer, role: 'developer' }
}

/** @throws ApiError 403 naming the permission that the viewer lacks. */
export function requireManager(viewer: Viewer, member: MemberFacts | undefined): void {
  const bits = organizationPermissions(viewer, member)
  for (const permission of ['MANAGE_INVITES', 'EDIT_MEMBER'] as const) requireOrganizationPermission(bits, permission)
}

/**
 * A token of a service account must not give its creator permissions that they lack.
 * @param service the service account's row in the organization's team.
 * @throws ApiError 403.
 */
export function requireNoMoreThan(
  viewer: Viewer,
  member: MemberFacts | undefined,
  service: MemberFacts | undefined,
): void {
  const own = organizationPermissions(viewer, member)
  const ownProject = defaultProjectPermissions(viewer, member)
  const extra = (service?.organization_permissions ?? 0) & ~own
  const extraProject = (service?.permissions ?? 0) & ~ownProject
  if (extra !== 0 || extraProject !== 0)
    throw forbidden('The service account has permissions in this organization that you do not have')
}

/**
 * Does the same for single projects, whose own teams can differ from that of the organization.
 * @throws ApiError 403 naming a project.
 */
export function requireNoMoreThanInProjects({
  own,
  service,
}: {
  own: ReadonlyMap<string, Membership>
  service: ReadonlyMap<string, Membership>
}): void {
  for (const [id, membership] of service) {
    const extra = projectPermissions(null, membership) & ~projectPermissions(null, own.get(id) ?? {})
    if (extra !== 0) throw forbidden(`The service account has permissions on the project ${id} that you do not have`)
  }
}
