// Who may change which rows of a team, given the team as it was locked: pure rules.
import { requireProjectPermission } from '#features/basics/access/project-policy.ts'
import { canSeeRow, requireOrganizationPermission } from '#features/basics/access/team-policy.ts'
import { ALL_PROJECT_PERMISSIONS, isBitSubset } from '#lib/access/permissions.ts'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { type ApiError, forbidden, notFound, validationError } from '#lib/errors.ts'
import type { LockedTeam } from './lock-team.ts'
import type { MemberRow } from './queries.ts'
import type { MemberChange } from './requests.ts'

/** Permissions over a team that projects and organizations both have, with bits of their own. */
type TeamPermission = 'MANAGE_INVITES' | 'REMOVE_MEMBER' | 'EDIT_MEMBER'

/** @throws ApiError 403 naming the permission that the caller lacks over the team. */
export function requireTeamPermission({ subject, bits }: LockedTeam, permission: TeamPermission): void {
  if ('organization' in subject) requireOrganizationPermission(bits.own, permission)
  else requireProjectPermission(bits.own, permission)
}

/**
 * The target's row.
 * @throws ApiError 404 when there is none, and for an invitation that the caller cannot see.
 */
export function requireVisibleRow({ caller, target }: LockedTeam, viewer: Viewer): MemberRow {
  const asMember = caller.team?.accepted === true || caller.organization?.accepted === true || isAdmin(viewer)
  if (target.team === undefined || !canSeeRow(target.team, viewer, asMember)) throw notFound('team member')
  return target.team
}

/**
 * The permissions that a caller gives to the target: nobody gives what they do not hold.
 * @throws ApiError 403 when the caller may give none of this kind, 400 for more than they hold, and for anything less
 * than everything to the organization's owner.
 */
export function requireGrantable(
  { subject, bits, target }: LockedTeam,
  given: Pick<MemberChange, 'permissions' | 'organization_permissions'>,
): void {
  if ('organization' in subject) {
    if (given.permissions !== undefined) {
      requireOrganizationPermission(bits.own, 'EDIT_MEMBER_DEFAULT_PERMISSIONS')
    }
    if (!isBitSubset(given.organization_permissions ?? 0, bits.own)) throw beyondOwn('organization_permissions')
  } else {
    if (given.organization_permissions !== undefined) {
      throw validationError('organization_permissions', 'is for the teams of organizations only')
    }
    const ownsAll = target.organization?.is_owner === true
    if (ownsAll && given.permissions !== undefined && given.permissions !== ALL_PROJECT_PERMISSIONS) {
      throw validationError('permissions', "cannot be less than everything for the organization's owner")
    }
  }
  if (!isBitSubset(given.permissions ?? 0, bits.project)) throw beyondOwn('permissions')
}

/**
 * A row in the team of an organization's project goes before what the organization gives. Where it gives less, removing
 * it gives permissions: nobody lifts their own limits, or gives what they do not hold.
 * @throws ApiError 403.
 */
export function requireRemovable({ bits, target }: LockedTeam, row: MemberRow): void {
  if (!row.accepted || target.organization?.accepted !== true) return
  if (!isBitSubset(target.organization.permissions & ~row.permissions, bits.own)) {
    throw forbidden('Without this row the member would have permissions from the organization that you do not have')
  }
}

/** The owner of an organization counts as the owner of its projects. @throws ApiError 403 for others than admins. */
export function requireTeamOwner({ caller }: LockedTeam, viewer: Viewer): void {
  const isOwner = caller.team?.is_owner === true || caller.organization?.is_owner === true
  if (!isOwner && !isAdmin(viewer)) throw forbidden('Only the owner may transfer the ownership')
}

function beyondOwn(field: string): ApiError {
  return validationError(field, 'holds a permission that you do not have')
}
