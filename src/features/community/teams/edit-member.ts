// Edits, accepts and removes the row of a member or an invitee.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'
import { requireRevision } from '#platform/cache/revisions.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam, type LockedTeam, recordMemberEvent } from './change-team.ts'
import { withCurrentMembers } from './current-team.ts'
import {
  requireGrantable,
  requireRemovable,
  requireShareable,
  requireTeamPermission,
  requireVisibleRow,
} from './policy.ts'
import { type MemberChange, requireOpenRole } from './requests.ts'

export type MemberEdit = {
  teamId: string
  accountId: string
  fields: MemberChange
  /** Revision of the team on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * Edits a member or an invitee. Permissions that do not change need no right to grant them, so that a client can send
 * a whole form.
 * @throws ApiError 404, 403, 400 for permissions of the owner and for permissions that the caller may not grant, `conflict`
 * for an outdated revision.
 */
export async function editMember(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  viewer: Viewer,
  edit: MemberEdit,
): Promise<void> {
  const { teamId } = edit
  await withCurrentMembers(deps, viewer, { teamId, edit: () => saveMember(deps, viewer, edit) })
}

async function saveMember(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { teamId, accountId, fields, revision }: MemberEdit,
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team) => {
    requireVisibleRow(team, viewer)
    requireTeamPermission(team, 'EDIT_MEMBER')
    requireRevision(team, revision)
    await applyChange(tx, viewer, team, fields)
  })
}

/** Changes the target of a locked team, which the caller may edit. Skips fields that do not change. */
export async function applyChange(tx: Tx, viewer: Viewer, team: LockedTeam, fields: MemberChange): Promise<void> {
  const row = requireVisibleRow(team, viewer)
  const change: MemberChange = { ...fields }
  for (const field of Object.keys(change) as (keyof MemberChange)[]) {
    if (change[field] === row[field]) delete change[field]
  }
  for (const field of ['permissions', 'organization_permissions'] as const) {
    if (change[field] !== undefined && row.is_owner)
      throw validationError(field, 'cannot be changed for the owner; transfer the ownership instead')
  }
  if (change.role !== undefined && !row.is_owner) requireOpenRole(change.role)
  requireGrantable(team, change)
  if (change.payouts_split !== undefined) requireShareable(team, viewer, change.payouts_split)
  if (Object.keys(change).length === 0) return
  await tx
    .updateTable('team_member')
    .set(change)
    .where('team_id', '=', team.teamId)
    .where('account_id', '=', row.account_id)
    .execute()
  await recordAudit(tx, {
    action: 'team.member_changed',
    actor: actorOf(viewer),
    subject: { kind: 'team', id: team.teamId },
    accountIds: [row.account_id],
    details: { fields: Object.keys(change) },
  })
}

/**
 * Accepts the caller's pending invitation.
 * @throws ApiError 404 if the caller is not invited, 400 if they are already a member.
 */
export async function joinTeam(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'now'>,
  viewer: Viewer,
  teamId: string,
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: viewer.id }, async (tx, team, changed) => {
    const { caller } = team
    if (caller.team === undefined) throw notFound('invitation')
    if (caller.team.accepted) throw invalidInput('You are already a member of this team')
    await tx
      .updateTable('team_member')
      .set({ accepted: true })
      .where('team_id', '=', teamId)
      .where('account_id', '=', viewer.id)
      .execute()
    await markInvitationsRead(tx, changed, [caller.team], 'accepted')
    await recordMemberEvent(tx, 'member.joined', team, { user_id: viewer.id, role: caller.team.role })
  })
  recordEvent(deps, 'member.joined', { team_id: teamId })
}

/**
 * Removes a row from a team: a member leaves or is removed, an invitee declines, or an invitation is withdrawn. Rows of a
 * removed organization member in the teams of its projects remain.
 * @throws ApiError 404, 403, 400 for the owner.
 */
export async function removeMember(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { teamId, accountId }: { teamId: string; accountId: string },
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team, changed) => {
    const row = requireVisibleRow(team, viewer)
    if (accountId !== viewer.id) requireTeamPermission(team, row.accepted ? 'REMOVE_MEMBER' : 'MANAGE_INVITES')
    if (row.is_owner) throw invalidInput('The owner cannot be removed; transfer the ownership first', 'user_id')
    requireRemovable(team, row)
    await tx.deleteFrom('team_member').where('team_id', '=', teamId).where('account_id', '=', accountId).execute()
    await markInvitationsRead(tx, changed, [row], accountId === viewer.id ? 'declined' : undefined)
    const subject = { kind: 'team', id: teamId } as const
    const entry = { actor: actorOf(viewer), subject, accountIds: [accountId] }
    if (!row.accepted) return
    await recordAudit(tx, { ...entry, action: 'team.member_removed' })
    await recordMemberEvent(tx, 'member.left', team, { user_id: accountId, role: row.role })
  })
}
