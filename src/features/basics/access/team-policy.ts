// Permissions and visibility within a team, as pure rules. project-policy.ts has the permissions on projects.

import {
  ALL_ORGANIZATION_PERMISSIONS,
  ALL_PROJECT_PERMISSIONS,
  hasOrganizationPermission,
  MODERATOR_ORGANIZATION_PERMISSIONS,
  type OrganizationPermission,
} from '#features/basics/access/permissions.ts'
import { isAdmin, isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import { mustAwaitApproval } from './email-policy.ts'

/** The columns of a team member that determine permissions and visibility. */
export type MemberFacts = {
  account_id: string
  is_owner: boolean
  accepted: boolean
  permissions: number
  organization_permissions: number | null
}

/**
 * Returns the viewer's permission bits in an organization from the first rule that applies: admins have all; accounts that
 * wait for approval have none; accepted members have those of their row, even if they are moderators; moderators have a few.
 */
export function organizationPermissions(viewer: Viewer | null, row: MemberFacts | undefined): number {
  if (isAdmin(viewer)) return ALL_ORGANIZATION_PERMISSIONS
  if (mustAwaitApproval(viewer)) return 0
  if (row?.accepted === true) return row.organization_permissions ?? 0
  return isModerator(viewer) ? MODERATOR_ORGANIZATION_PERMISSIONS : 0
}

/** Returns a member's permission bits on the projects of an organization, which they can also grant to others. */
export function defaultProjectPermissions(viewer: Viewer | null, row: MemberFacts | undefined): number {
  if (isAdmin(viewer)) return ALL_PROJECT_PERMISSIONS
  if (mustAwaitApproval(viewer)) return 0
  return row?.accepted === true ? row.permissions : 0
}

/** Returns the row of a service account, reduced to the permissions of the member who created its token. */
export function capMember<Row extends MemberFacts>(
  row: Row | undefined,
  maker: MemberFacts | undefined,
): Row | undefined {
  if (row === undefined || maker?.accepted !== true) return undefined
  return {
    ...row,
    permissions: row.permissions & maker.permissions,
    organization_permissions: (row.organization_permissions ?? 0) & (maker.organization_permissions ?? 0),
  }
}

/** Requires that `bits` contain a permission. @throws ApiError 403 naming the permission. */
export function requireOrganizationPermission(bits: number, permission: OrganizationPermission): void {
  if (!hasOrganizationPermission(bits, permission))
    throw forbidden(`You lack the permission ${permission} in this organization`)
}

/** Returns whether the viewer has an accepted row, and also the maker of a service account's token. */
export function isAcceptedIn(rows: readonly MemberFacts[], viewer: Viewer | null): boolean {
  if (viewer === null) return false
  const isIn = (id: string) => rows.some((row) => row.accepted && row.account_id === id)
  return isIn(viewer.id) && (viewer.maker === undefined || isIn(viewer.maker))
}

/** Returns whether the viewer can see a row: members see all, invitees their own, everyone the accepted ones. */
export function canSeeRow(row: MemberFacts, viewer: Viewer | null, asMember: boolean): boolean {
  return asMember || row.accepted || row.account_id === viewer?.id
}
