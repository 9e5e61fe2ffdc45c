import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { type ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isForeignKeyViolation, onUnique } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { type LockedTeam, lockTeam } from './lock-team.ts'
import { requireGrantable, requireTeamPermission } from './policy.ts'
import { countMembers } from './queries.ts'
import type { MemberChange } from './requests.ts'

/** Members and invitees of one team. */
export const TEAM_SIZE_MAX = 1_000

/**
 * Invites an account to a team and notifies it. A member of the organization that owns the project needs no
 * invitation: the row, which narrows or widens what they may do to this project, is accepted at once.
 * @throws ApiError 404, 403, or 400 for an unknown account, a member, an invitee, or more than the caller may give.
 */
export async function inviteMember(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>,
  viewer: Viewer,
  { teamId, accountId, fields }: { teamId: string; accountId: string; fields: MemberChange },
): Promise<void> {
  const { permissions = 0, organization_permissions, role = 'Member' } = fields
  await transaction(deps, async (tx, changed) => {
    const team = await lockTeam(tx, viewer, { teamId, targetId: accountId })
    const isOrganization = 'organization' in team.subject
    requireTeamPermission(team, 'MANAGE_INVITES')
    // Everybody may give no project permissions at all; in a project's team the rule for owners looks at that too.
    requireGrantable(team, {
      ...(isOrganization && permissions === 0 ? {} : { permissions }),
      ...(organization_permissions === undefined ? {} : { organization_permissions }),
    })
    if (isPlaceholder({ id: accountId })) throw unknownAccount()
    if (team.target.team !== undefined) throw alreadyThere()
    if ((await countMembers(tx, teamId)) >= TEAM_SIZE_MAX) {
      throw invalidInput(`A team has at most ${TEAM_SIZE_MAX} members and invitees`)
    }
    const accepted = team.target.organization?.accepted === true
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
      .catch(onUnique({ team_member_pkey: alreadyThere }))
    changed.add('team', teamId)
    if (!accepted) await insertNotifications(tx, [accountId], invitationBody(team, viewer, role))
  })
  recordEvent(deps, 'member.invited', { team_id: teamId })
}

function invitationBody({ subject, teamId }: LockedTeam, viewer: Viewer, role: string) {
  const common = { team_id: teamId, invited_by: viewer.id, role }
  return 'project' in subject
    ? ({ type: 'team_invite', project_id: subject.project.id, ...common } as const)
    : ({ type: 'organization_invite', organization_id: subject.organization.id, ...common } as const)
}

function alreadyThere(): ApiError {
  return validationError('user_id', 'is a member of this team or invited to it already')
}

function unknownAccount(): ApiError {
  return validationError('user_id', 'is no user')
}
