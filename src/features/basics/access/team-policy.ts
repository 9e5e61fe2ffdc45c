// Who may do what in a team, and what of it each viewer sees: pure rules. What members may do to a project is in
// project-policy.ts.

import {
  ALL_ORGANIZATION_PERMISSIONS,
  ALL_PROJECT_PERMISSIONS,
  hasOrganizationPermission,
  MODERATOR_ORGANIZATION_PERMISSIONS,
  type OrganizationPermission,
} from '#lib/access/permissions.ts'
import { isAdmin, isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** What of a team's row decides who may do what. */
export type MemberFacts = {
  account_id: string
  is_owner: boolean
  accepted: boolean
  permissions: number
  organization_permissions: number | null
}

/**
 * The organization permission bits, first match wins: admin all; accepted member the bits of that row; moderator a few;
 * else none. A moderator who is a member has the member's bits.
 */
export function organizationPermissions(viewer: Viewer | null, row: MemberFacts | undefined): number {
  if (isAdmin(viewer)) return ALL_ORGANIZATION_PERMISSIONS
  if (row?.accepted === true) return row.organization_permissions ?? 0
  return isModerator(viewer) ? MODERATOR_ORGANIZATION_PERMISSIONS : 0
}

/** The project bits that a member of an organization holds in its projects, and so may give to other members. */
export function defaultProjectPermissions(viewer: Viewer | null, row: MemberFacts | undefined): number {
  if (isAdmin(viewer)) return ALL_PROJECT_PERMISSIONS
  return row?.accepted === true ? row.permissions : 0
}

/** @throws ApiError 403 naming the permission when `bits` lack it. */
export function requireOrganizationPermission(bits: number, permission: OrganizationPermission): void {
  if (!hasOrganizationPermission(bits, permission)) {
    throw forbidden(`You lack the permission ${permission} in this organization`)
  }
}

/** Whether the viewer is one of these rows' accepted members. */
export function isAcceptedIn(rows: readonly MemberFacts[], viewer: Viewer | null): boolean {
  return viewer !== null && rows.some((row) => row.accepted && row.account_id === viewer.id)
}

/** Members see every row of their team; others the accepted ones, and invitees their own. */
export function canSeeRow(row: MemberFacts, viewer: Viewer | null, asMember: boolean): boolean {
  return asMember || row.accepted || row.account_id === viewer?.id
}
