import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { canSeeRow } from '#features/access/team-policy.ts'
import { markInvitationsRead } from '#features/notifications/queries.ts'
import { forbidden, invalidInput, notFound } from '#lib/errors.ts'
import { isBitSubset } from '#lib/permissions.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import { lockScene, type Scene } from './lock-team.ts'
import { requireTeamPermission } from './member-fields.ts'
import type { MemberRow } from './queries.ts'

/**
 * Takes a row out of a team: a member leaves or is removed, an invitee declines, an invitation is withdrawn. Rows of a
 * former organization member in the teams of its projects stay.
 * @throws ApiError 404, 403 (also for a row whose end would give more than the caller holds), or 400 for the owner.
 */
export async function removeMember(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { teamId, accountId }: { teamId: string; accountId: string },
): Promise<void> {
  const scene = await lockScene(tx, viewer, teamId, accountId)
  const row = getTargetRow(scene, viewer)
  if (accountId !== viewer.id) requireTeamPermission(scene, row.accepted ? 'REMOVE_MEMBER' : 'MANAGE_INVITES')
  if (row.is_owner) throw invalidInput('The owner cannot be removed; transfer the ownership first', 'user_id')
  requireHeld(scene, row)
  await tx.deleteFrom('team_member').where('team_id', '=', teamId).where('account_id', '=', accountId).execute()
  changed.add('team', teamId)
  await markInvitationsRead(tx, [row])
}

/**
 * A row in the team of an organization's project goes before what the organization gives. Where it gives less, its end
 * is a grant: nobody lifts his own limits, or grants what he does not hold.
 */
function requireHeld({ bits, target }: Scene, row: MemberRow): void {
  if (!row.accepted || target.organization?.accepted !== true) return
  if (!isBitSubset(target.organization.permissions & ~row.permissions, bits.own)) {
    throw forbidden('Without this row the member would have permissions from the organization that you do not have')
  }
}

/**
 * The row of the scene's target.
 * @throws ApiError 404 when there is none, and for an invitation that the caller cannot see.
 */
export function getTargetRow({ caller, target }: Scene, viewer: Viewer): MemberRow {
  const asMember = caller.team?.accepted === true || caller.organization?.accepted === true || isAdmin(viewer)
  if (target.team === undefined || !canSeeRow(target.team, viewer, asMember)) throw notFound('team member')
  return target.team
}
