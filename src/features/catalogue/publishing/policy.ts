// Decides who may create a project in an organization. Unlike for existing projects, moderators need a membership.

import { hasOrganizationPermission } from '#features/basics/access/permissions.ts'
import { coversOrganization, isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/**
 * A fine-grained token creates projects only in the organizations of its limits.
 * @throws ApiError 403 for a project outside the limits of the token.
 */
export function requireCreation(viewer: Viewer, organizationId: string | null): void {
  if (organizationId === null ? viewer.limits === undefined : coversOrganization(viewer, organizationId)) return
  throw forbidden('This token can create projects only in the organizations to which it is limited')
}

/** @param bits the viewer's permissions as a member of the organization. @throws ApiError 403 without ADD_PROJECT. */
export function requireAddProject(viewer: Viewer, bits: number): void {
  if (isAdmin(viewer) || hasOrganizationPermission(bits, 'ADD_PROJECT')) return
  throw forbidden('You lack the permission ADD_PROJECT in this organization')
}
