import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { validationError } from '#lib/errors.ts'
import type { Viewer } from '#lib/viewer.ts'
import { lockScene } from './lock-team.ts'
import { checkGrants, type MemberChange, requireTeamPermission } from './member-fields.ts'
import { getTargetRow } from './remove-member.ts'

/**
 * Changes a member's or an invitee's row. A value that is there already is no change: what a form sends back as it was
 * neither grants nor takes anything.
 * @throws ApiError 404, 403, or 400 for an owner's permissions and for more than the caller may give.
 */
export async function editMember(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { teamId, accountId, fields }: { teamId: string; accountId: string; fields: MemberChange },
): Promise<void> {
  const scene = await lockScene(tx, viewer, teamId, accountId)
  const row = getTargetRow(scene, viewer)
  requireTeamPermission(scene, 'EDIT_MEMBER')
  const change: MemberChange = { ...fields }
  for (const field of ['permissions', 'organization_permissions'] as const) {
    if (change[field] === row[field]) delete change[field]
    if (change[field] !== undefined && row.is_owner) {
      throw validationError(field, 'of the owner cannot be changed; transfer the ownership instead')
    }
  }
  checkGrants(scene, change)
  if (Object.keys(change).length === 0) return
  await tx
    .updateTable('team_member')
    .set(change)
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .execute()
  changed.add('team', teamId)
}
