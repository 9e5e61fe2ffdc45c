// Decides who may create a project in an organization. Unlike for existing projects, moderators need a membership.

import { hasOrganizationPermission } from '#lib/access/permissions.ts'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @param bits the viewer's permissions as a member of the organization. @throws ApiError 403 without ADD_PROJECT. */
export function requireAddProject(viewer: Viewer, bits: number): void {
  if (isAdmin(viewer) || hasOrganizationPermission(bits, 'ADD_PROJECT')) return
  throw forbidden('You lack the permission ADD_PROJECT in this organization')
}
