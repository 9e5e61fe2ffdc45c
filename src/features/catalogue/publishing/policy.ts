// Who may put a new project into an organization: a pure rule.
import { forbidden } from '#lib/errors.ts'
import { hasOrganizationPermission } from '#lib/permissions.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'

/**
 * @param bits the viewer's permissions as a member of the organization.
 * @throws ApiError 403 without ADD_PROJECT.
 */
export function requireAddProject(viewer: Viewer, bits: number): void {
  if (isAdmin(viewer) || hasOrganizationPermission(bits, 'ADD_PROJECT')) return
  throw forbidden('You lack the permission ADD_PROJECT in this organization')
}
