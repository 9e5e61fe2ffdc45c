import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam } from './change-team.ts'
import { requireGrantable, requireTeamPermission, requireVisibleRow } from './policy.ts'
import type { MemberChange } from './requests.ts'

/**
 * Edits a member or an invitee. Permissions that do not change need no right to grant them, so that a client can send
 * a whole form.
 * @throws ApiError 404, 403, 400 for permissions of the owner and for permissions that the caller may not grant.
 */
export async function editMember(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { teamId, accountId, fields }: { teamId: string; accountId: string; fields: MemberChange },
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team) => {
    const row = requireVisibleRow(team, viewer)
    requireTeamPermission(team, 'EDIT_MEMBER')
    const change: MemberChange = { ...fields }
    for (const field of ['permissions', 'organization_permissions'] as const) {
      if (change[field] === row[field]) delete change[field]
      if (change[field] !== undefined && row.is_owner) {
        throw validationError(field, 'cannot be changed for the owner; transfer the ownership instead')
      }
    }
    requireGrantable(team, change)
    if (Object.keys(change).length === 0) return
    await tx
      .updateTable('team_member')
      .set(change)
      .where('team_id', '=', teamId)
      .where('account_id', '=', accountId)
      .execute()
    await recordAudit(tx, {
      action: 'team.member_changed',
      actor: actorOf(viewer),
      subject: { kind: 'team', id: teamId },
      accountIds: [accountId],
      details: { fields: Object.keys(change) },
    })
  })
}
