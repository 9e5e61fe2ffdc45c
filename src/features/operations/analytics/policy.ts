// Who sees the analytics of a project.

import { findMembership } from '#features/basics/access/memberships.ts'
import { type Membership, type ProjectFacts, projectPermissions } from '#features/basics/access/project-policy.ts'
import { hasProjectPermission } from '#lib/access/permissions.ts'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'

/** Whether the viewer sees them for every project, so that no membership need be read. */
export function canSeeAllAnalytics(viewer: Viewer | null): boolean {
  return isAdmin(viewer)
}

export function canSeeAnalytics(viewer: Viewer, membership: Membership): boolean {
  return hasProjectPermission(projectPermissions(viewer, membership), 'VIEW_ANALYTICS')
}

/** Whether the viewer, who sees the project, sees how its downloads are made up. */
export async function maySeeStatistics(
  db: Db,
  viewer: Viewer | null,
  project: ProjectFacts & { isPublic: boolean },
): Promise<boolean> {
  if (project.isPublic || canSeeAllAnalytics(viewer)) return true
  return viewer !== null && canSeeAnalytics(viewer, await findMembership(db, viewer.id, project))
}
