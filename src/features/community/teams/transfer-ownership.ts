import { findServiceOwner } from '#features/basics/access/accounts.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { projectEvent, recordEvent } from '#features/basics/events/record-event.ts'
import { listProjectIdsOfOrganization } from '#features/catalogue/projects/queries.ts'
import { insertNotifications, markInvitationsRead } from '#features/people/notifications/queries.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { requireRevision } from '#platform/cache/revisions.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam } from './change-team.ts'
import { withCurrentMembers } from './current-team.ts'
import { requireTeamOwner } from './policy.ts'
import { demoteOwners } from './queries.ts'

export type OwnershipTransfer = {
  teamId: string
  accountId: string
  /** Revision of the team on which the transfer is based. Default: any. */
  revision?: number | undefined
}

/**
 * Transfers a team to one of its accepted members, who gets all permissions. The former owner remains a member with the
 * same permissions. Removes the rows of an organization's new owner from the teams of its projects, where they could
 * restrict them.
 * @throws ApiError 404, 403 unless the caller is the owner or an admin, 400 if an organization owns the project, or if the
 * target is not an accepted member or is the owner, `conflict` for an outdated revision.
 */
export async function transferOwnership(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  viewer: Viewer,
  transfer: OwnershipTransfer,
): Promise<void> {
  const { teamId } = transfer
  await withCurrentMembers(deps, viewer, { teamId, edit: () => saveTransfer(deps, viewer, transfer) })
}

async function saveTransfer(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { teamId, accountId, revision }: OwnershipTransfer,
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team, changed) => {
    const { subject, target } = team
    requireTeamOwner(team, viewer)
    requireRevision(team, revision)
    if ('project' in subject && subject.owner !== undefined)
      throw invalidInput('The project belongs to an organization; transfer the organization instead')
    if (target.team?.accepted !== true) throw validationError('user_id', 'must be an accepted member of this team')
    if (target.team.is_owner) throw validationError('user_id', 'is already the owner')
    if ((await findServiceOwner(tx, accountId)) !== undefined)
      throw validationError('user_id', 'must not be a service account')
    const [formerId] = await demoteOwners(tx, [teamId], accountId)
    await makeOwner(tx, { teamId, accountId, isOrganization: 'organization' in subject })
    const thing =
      'organization' in subject ? { organization: subject.organization.id } : { project: subject.project.id }
    await recordAudit(tx, {
      action: 'team.owner_changed',
      actor: actorOf(viewer),
      subject: { kind: 'team', id: teamId },
      accountIds: [accountId],
      details: thing,
    })
    // Search results show the owner's name, also for projects of the organization.
    if ('organization' in subject) {
      await dropProjectRows(tx, changed, subject.organization.id, accountId)
      changed.add('project', ...(await listProjectIdsOfOrganization(tx, subject.organization.id)))
    } else {
      changed.add('project', subject.project.id)
      const event = projectEvent('project.transferred', subject.project.id, { owner: { user_id: accountId } })
      await recordEvent(tx, { ...event, account_id: formerId })
      await insertNotifications(tx, changed, [accountId], {
        type: 'project_transferred',
        project_id: subject.project.id,
        new_owner_user_id: accountId,
        new_owner_organization_id: null,
      })
    }
  })
}

async function makeOwner(
  tx: Tx,
  { teamId, accountId, isOrganization }: { teamId: string; accountId: string; isOrganization: boolean },
): Promise<void> {
  await tx
    .updateTable('team_member')
    .set({
      is_owner: true,
      role: 'Owner',
      permissions: ALL_PROJECT_PERMISSIONS,
      ...(isOrganization ? { organization_permissions: ALL_ORGANIZATION_PERMISSIONS } : {}),
    })
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .execute()
}

async function dropProjectRows(tx: Tx, changed: ChangeSet, organizationId: string, accountId: string): Promise<void> {
  const rows = await tx
    .deleteFrom('team_member')
    .using('project')
    .whereRef('project.team_id', '=', 'team_member.team_id')
    .where('project.organization_id', '=', organizationId)
    .where('team_member.account_id', '=', accountId)
    .returning(['team_member.team_id', 'team_member.account_id', 'team_member.accepted'])
    .execute()
  await markInvitationsRead(tx, changed, rows)
  changed.add('team', ...rows.map(({ team_id }) => team_id))
}
