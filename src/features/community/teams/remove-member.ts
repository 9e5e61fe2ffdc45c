import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { lockTeam } from './lock-team.ts'
import { requireRemovable, requireTeamPermission, requireVisibleRow } from './policy.ts'

/**
 * Takes a row out of a team: a member leaves or is removed, an invitee declines, an invitation is withdrawn. Rows of a
 * former organization member in the teams of its projects stay.
 * @throws ApiError 404, 403 (also for a row whose removal would give more than the caller holds), or 400 for the owner.
 */
export async function removeMember(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { teamId, accountId }: { teamId: string; accountId: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const team = await lockTeam(tx, viewer, { teamId, targetId: accountId })
    const row = requireVisibleRow(team, viewer)
    if (accountId !== viewer.id) requireTeamPermission(team, row.accepted ? 'REMOVE_MEMBER' : 'MANAGE_INVITES')
    if (row.is_owner) throw invalidInput('The owner cannot be removed; transfer the ownership first', 'user_id')
    requireRemovable(team, row)
    await tx.deleteFrom('team_member').where('team_id', '=', teamId).where('account_id', '=', accountId).execute()
    changed.add('team', teamId)
    await markInvitationsRead(tx, [row])
    const subject = { kind: 'team', id: teamId } as const
    const entry = { actor: actorOf(viewer), subject, accountIds: [accountId] }
    if (row.accepted) await recordAudit(tx, { ...entry, action: 'team.member_removed' })
  })
}
