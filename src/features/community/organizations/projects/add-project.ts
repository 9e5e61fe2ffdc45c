import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { shareOrganization } from '#features/community/teams/lock-team.ts'
import { type AnsweredRow, markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireFreeProject, requireProjectGiver } from '../policy.ts'
import { findMember, findOrganization } from '../queries.ts'
import { addMovedProjects, lockVisibleProject } from './move-project.ts'

/**
 * Gives a project to an organization. The rows of its owner and of the organization's owner leave its team: their
 * access goes on through the organization, as does that of every member without a row in the team.
 * @throws ApiError 404 for the organization; 400 for an unknown project or one that an organization owns; 403 unless
 * the caller is a member of both, owns the project (or is an admin) and has ADD_PROJECT.
 */
export async function addProject(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { organizationName, projectName }: { organizationName: string; projectName: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const organization = await findOrganization(tx, organizationName)
    if (organization === undefined) throw notFound('organization')
    const absent = () => validationError('project_id', 'is no project')
    const { project, membership } = await lockVisibleProject(tx, viewer, projectName, absent)
    requireFreeProject(project, membership)
    if ((await shareOrganization(tx, organization.id)) === undefined) throw notFound('organization')
    const member = await findMember(tx, organization.team_id, viewer.id)
    requireProjectGiver(viewer, { membership, member })
    await tx.updateTable('project').set({ organization_id: organization.id }).where('id', '=', project.id).execute()
    const rows = await deleteOwnerRows(tx, { teamId: project.team_id, organizationTeamId: organization.team_id })
    await markInvitationsRead(tx, rows)
    await recordAudit(tx, {
      action: 'organization.project_added',
      actor: actorOf(viewer),
      subject: { kind: 'organization', id: organization.id },
      details: { project: project.id },
    })
    await addMovedProjects(tx, changed, [project])
  })
}

/** Takes the owner and the organization's owner out of a project's team. */
function deleteOwnerRows(
  tx: Tx,
  { teamId, organizationTeamId }: { teamId: string; organizationTeamId: string },
): Promise<AnsweredRow[]> {
  return tx
    .deleteFrom('team_member')
    .where('team_id', '=', teamId)
    .where((eb) =>
      eb.or([
        eb('is_owner', '=', true),
        eb(
          'account_id',
          'in',
          eb
            .selectFrom('team_member as owner')
            .select('owner.account_id')
            .where('owner.team_id', '=', organizationTeamId)
            .where('owner.is_owner', '=', true),
        ),
      ]),
    )
    .returning(['account_id', 'team_id', 'accepted'])
    .execute()
}
