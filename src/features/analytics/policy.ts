// Who sees the analytics of a project.
import { type Membership, projectPermissions } from '#features/access/project-policy.ts'
import { hasProjectPermission } from '#lib/permissions.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'

/** Whether the viewer sees them for every project, so that no membership need be read. */
export function canSeeAllAnalytics(viewer: Viewer): boolean {
  return isAdmin(viewer)
}

export function canSeeAnalytics(viewer: Viewer, membership: Membership): boolean {
  return hasProjectPermission(projectPermissions(viewer, membership), 'VIEW_ANALYTICS')
}
