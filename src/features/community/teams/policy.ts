// Decides who may change which members of a locked team.

import { ALL_PROJECT_PERMISSIONS, isBitSubset } from '#features/basics/access/permissions.ts'
import { requireProjectPermission } from '#features/basics/access/project-policy.ts'
import { canSeeRow, requireOrganizationPermission } from '#features/basics/access/team-policy.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { type ApiError, forbidden, notFound, validationError } from '#lib/errors.ts'
import type { LockedTeam } from './change-team.ts'
import type { MemberRow } from './queries.ts'
import type { MemberChange } from './requests.ts'

/** Permissions that both projects and organizations have, with different bits. */
type TeamPermission = 'MANAGE_INVITES' | 'REMOVE_MEMBER' | 'EDIT_MEMBER'

/** @throws ApiError 403 naming the permission that the caller lacks. */
export function requireTeamPermission({ subject, bits }: LockedTeam, permission: TeamPermission): void {
  if ('organization' in subject) requireOrganizationPermission(bits.own, permission)
  else requireProjectPermission(bits.own, permission)
}

/**
 * Returns the target's row.
 * @throws ApiError 404 if the row does not exist or is an invitation that the caller cannot see.
 */
export function requireVisibleRow({ caller, target }: LockedTeam, viewer: Viewer): MemberRow {
  const asMember = caller.team?.accepted === true || caller.organization?.accepted === true || isAdmin(viewer)
  if (target.team === undefined || !canSeeRow(target.team, viewer, asMember)) throw notFound('team member')
  return target.team
}

/**
 * Checks the permissions that the caller grants to the target.
 * @throws ApiError 403 if the caller may not grant permissions of this kind, 400 for permissions that they do not have,
 * and for less than all permissions for the owner of the organization.
 */
export function requireGrantable(
  { subject, bits, target }: LockedTeam,
  { permissions, organization_permissions }: Pick<MemberChange, 'permissions' | 'organization_permissions'>,
): void {
  if ('organization' in subject) {
    if (permissions !== undefined) requireOrganizationPermission(bits.own, 'EDIT_MEMBER_DEFAULT_PERMISSIONS')
    if (!isBitSubset(organization_permissions ?? 0, bits.own)) throw beyondOwn('organization_permissions')
  } else {
    if (organization_permissions !== undefined)
      throw validationError('organization_permissions', 'is allowed only in the teams of organizations')
    const ownsAll = target.organization?.is_owner === true
    if (ownsAll && permissions !== undefined && permissions !== ALL_PROJECT_PERMISSIONS)
      throw validationError('permissions', 'must include all permissions for the owner of the organization')
  }
  if (!isBitSubset(permissions ?? 0, bits.project)) throw beyondOwn('permissions')
}

/**
 * Returns the bits of a row that someone who has `own` can grant and remove. A change sends all bits of the row, so a row
 * with other bits cannot be changed.
 */
export function editableBits(bits: number, own: number): number {
  return isBitSubset(bits, own) ? own : 0
}

/**
 * A row in a project's team takes precedence over the permissions from the organization. If the row grants fewer
 * permissions, removing it adds permissions, which the caller must have.
 * @throws ApiError 403.
 */
export function requireRemovable({ bits, target }: LockedTeam, row: MemberRow): void {
  if (!row.accepted || target.organization?.accepted !== true) return
  if (!isBitSubset(target.organization.permissions & ~row.permissions, bits.own))
    throw forbidden('Removing this member would give them permissions from the organization that you do not have')
}

/**
 * Checks the share of revenue that the caller gives to the target. Their own share can only fall, and the owner's share
 * stays, unless the caller owns the team.
 * @throws ApiError 403.
 */
export function requireShareable({ caller, target }: LockedTeam, viewer: Viewer, share: number): void {
  const current = target.team?.payouts_split ?? 0
  if (share === current || ownsTeam(caller, viewer)) return
  if (target.team?.is_owner === true) throw forbidden('Only the owner can change the payouts_split of the owner')
  if (target.id === viewer.id && share > current) throw forbidden('You cannot raise your own payouts_split')
}

/** @throws ApiError 403 unless the caller owns the team or the organization that owns its project, or is an admin. */
export function requireTeamOwner({ caller }: LockedTeam, viewer: Viewer): void {
  if (!ownsTeam(caller, viewer)) throw forbidden('Only the owner can transfer the ownership')
}

function ownsTeam({ team, organization }: LockedTeam['caller'], viewer: Viewer): boolean {
  return team?.is_owner === true || organization?.is_owner === true || isAdmin(viewer)
}

function beyondOwn(field: string): ApiError {
  return validationError(field, 'includes a permission that you do not have')
}
