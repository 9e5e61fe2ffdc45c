import { findServiceOwner } from '#features/basics/access/accounts.ts'
import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { type ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { isForeignKeyViolation, onUnique } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam, type LockedTeam, recordMemberEvent } from './change-team.ts'
import { requireGrantable, requireShareable, requireTeamPermission } from './policy.ts'
import { countMembers } from './queries.ts'
import { type MemberChange, requireOpenRole } from './requests.ts'

/** Maximum number of members and invitees of one team. */
export const TEAM_SIZE_MAX = 1_000

/**
 * Invites a user to a team and notifies them. A member of the organization that owns the project is added immediately,
 * without an invitation; the row replaces their permissions from the organization.
 * @throws ApiError 404, 403, 400 for an unknown user, a member, an invitee, or permissions that the caller may not grant.
 */
export async function inviteMember(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'now'>,
  viewer: Viewer,
  { teamId, accountId, fields }: { teamId: string; accountId: string; fields: MemberChange },
): Promise<void> {
  const { permissions = 0, organization_permissions, role = 'Member' } = fields
  await changeTeam(deps, viewer, { teamId, targetId: accountId }, async (tx, team, changed) => {
    const isOrganization = 'organization' in team.subject
    requireTeamPermission(team, 'MANAGE_INVITES')
    requireOpenRole(role)
    // Inviting without project permissions needs no right in an organization. In a project's team, `requireGrantable`
    // must always check them, because the owner of the organization needs all permissions.
    requireGrantable(team, {
      ...(isOrganization && permissions === 0 ? {} : { permissions }),
      ...(organization_permissions === undefined ? {} : { organization_permissions }),
    })
    requireShareable(team, viewer, fields.payouts_split ?? 0)
    if (isPlaceholder({ id: accountId })) throw unknownAccount()
    const serviceOf = await findServiceOwner(tx, accountId)
    if (serviceOf !== undefined && serviceOf !== organizationOf(team)) throw unknownAccount()
    if (team.target.team !== undefined) throw alreadyInTeam()
    if ((await countMembers(tx, teamId)) >= TEAM_SIZE_MAX)
      throw invalidInput(`A team can have at most ${TEAM_SIZE_MAX} members and invitees`)
    // Nobody signs in as a service account to accept an invitation.
    const accepted = team.target.organization?.accepted === true || serviceOf !== undefined
    await tx
      .insertInto('team_member')
      .values({
        payouts_split: 0,
        ordering: 0,
        ...fields,
        team_id: teamId,
        account_id: accountId,
        role,
        permissions,
        organization_permissions: isOrganization ? (organization_permissions ?? 0) : null,
        accepted,
      })
      .execute()
      .catch((error: unknown) => {
        if (isForeignKeyViolation(error, 'team_member_account_id_fkey')) throw unknownAccount()
        throw error
      })
      .catch(onUnique({ team_member_pkey: alreadyInTeam }))
    if (!accepted) await insertNotifications(tx, changed, [accountId], invitationBody(team, viewer, role))
    await recordMemberEvent(tx, accepted ? 'member.joined' : 'member.invited', team, { user_id: accountId, role })
  })
  recordEvent(deps, 'member.invited', { team_id: teamId })
}

function organizationOf({ subject }: LockedTeam): string | undefined {
  return 'organization' in subject ? subject.organization.id : subject.owner?.id
}

function invitationBody({ subject, teamId }: LockedTeam, viewer: Viewer, role: string) {
  const common = { team_id: teamId, invited_by: viewer.id, role }
  return 'project' in subject
    ? ({ type: 'team_invite', project_id: subject.project.id, ...common } as const)
    : ({ type: 'organization_invite', organization_id: subject.organization.id, ...common } as const)
}

function alreadyInTeam(): ApiError {
  return validationError('user_id', 'is already a member of this team or invited to it')
}

function unknownAccount(): ApiError {
  return validationError('user_id', 'must be the ID of a user')
}
