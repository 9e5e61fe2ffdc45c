import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam } from './change-team.ts'
import { requireRemovable, requireTeamPermission, requireVisibleRow } from './policy.ts'

/**
 * Removes a row from a team: a member leaves or is removed, an invitee declines, or an invitation is withdrawn. Rows of a
 * removed organization member in the teams of its projects remain.
 * @throws ApiError 404, 403, 400 for the owner.
 */
export async function removeMember(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { teamId, accountId }: { teamId: string; accountId: string },
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team) => {
    const row = requireVisibleRow(team, viewer)
    if (accountId !== viewer.id) requireTeamPermission(team, row.accepted ? 'REMOVE_MEMBER' : 'MANAGE_INVITES')
    if (row.is_owner) throw invalidInput('The owner cannot be removed; transfer the ownership first', 'user_id')
    requireRemovable(team, row)
    await tx.deleteFrom('team_member').where('team_id', '=', teamId).where('account_id', '=', accountId).execute()
    await markInvitationsRead(tx, [row])
    const subject = { kind: 'team', id: teamId } as const
    const entry = { actor: actorOf(viewer), subject, accountIds: [accountId] }
    if (row.accepted) await recordAudit(tx, { ...entry, action: 'team.member_removed' })
  })
}
