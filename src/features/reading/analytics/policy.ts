// Decides who can see the analytics of a project.

import { findMembership } from '#features/basics/access/memberships.ts'
import { hasProjectPermission } from '#features/basics/access/permissions.ts'
import { type Membership, type ProjectFacts, projectPermissions } from '#features/basics/access/project-policy.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'

/** Returns whether the viewer can see the analytics of every project, so that callers can skip memberships. */
export function canSeeAllAnalytics(viewer: Viewer | null): boolean {
  return isAdmin(viewer)
}

export function canSeeAnalytics(viewer: Viewer, membership: Membership): boolean {
  return hasProjectPermission(projectPermissions(viewer, membership), 'VIEW_ANALYTICS')
}

/** Returns whether the viewer can see the revenue of a project on its pages. `POST /v3/analytics` uses scopes instead. */
export function canSeeRevenue(viewer: Viewer, membership: Membership): boolean {
  const permissions = projectPermissions(viewer, membership)
  return canSeeAnalytics(viewer, membership) && hasProjectPermission(permissions, 'VIEW_PAYOUTS')
}

/** Returns whether a viewer who can see the project can also see its download statistics. */
export async function maySeeStatistics(
  db: Db,
  viewer: Viewer | null,
  project: ProjectFacts & { isPublic: boolean },
): Promise<boolean> {
  if (project.isPublic || canSeeAllAnalytics(viewer)) return true
  return viewer !== null && canSeeAnalytics(viewer, await findMembership(db, viewer, project))
}
