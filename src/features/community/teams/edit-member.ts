import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { lockTeam } from './lock-team.ts'
import { requireGrantable, requireTeamPermission, requireVisibleRow } from './policy.ts'
import type { MemberChange } from './requests.ts'

/**
 * Changes a member's or an invitee's row. A value that is there already is no change: what a form sends back as it was
 * neither gives nor takes anything.
 * @throws ApiError 404, 403, or 400 for an owner's permissions and for more than the caller may give.
 */
export async function editMember(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { teamId, accountId, fields }: { teamId: string; accountId: string; fields: MemberChange },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const team = await lockTeam(tx, viewer, { teamId, targetId: accountId })
    const row = requireVisibleRow(team, viewer)
    requireTeamPermission(team, 'EDIT_MEMBER')
    const change: MemberChange = { ...fields }
    for (const field of ['permissions', 'organization_permissions'] as const) {
      if (change[field] === row[field]) delete change[field]
      if (change[field] !== undefined && row.is_owner) {
        throw validationError(field, 'of the owner cannot be changed; transfer the ownership instead')
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
    changed.add('team', teamId)
    await recordAudit(tx, {
      action: 'team.member_changed',
      actor: actorOf(viewer),
      subject: { kind: 'team', id: teamId },
      accountIds: [accountId],
      details: { fields: Object.keys(change) },
    })
  })
}
