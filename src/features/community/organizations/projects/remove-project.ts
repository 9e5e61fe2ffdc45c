import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { shareOrganization } from '#features/community/teams/change-team.ts'
import { inheritTeams } from '#features/community/teams/queries.ts'
import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requirePermissionIn } from '../policy.ts'
import { findMember, findOrganization } from '../queries.ts'
import { addMovedProjects, lockVisibleProject } from './move-project.ts'

/**
 * Removes a project from its organization and makes a member of the organization its owner.
 * @throws ApiError 404 unless the organization exists and owns the project, 403 without REMOVE_PROJECT, 400 unless the
 * new owner is an accepted member.
 */
export async function removeProject(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { organizationName, projectName, newOwnerId }: { organizationName: string; projectName: string; newOwnerId: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const organization = await findOrganization(tx, organizationName)
    if (organization === undefined) throw notFound('organization')
    const { project } = await lockVisibleProject(tx, viewer, projectName, () => notFound('project'))
    if (project.organization_id !== organization.id) throw notFound('project')
    await shareOrganization(tx, organization.id)
    requirePermissionIn(viewer, await findMember(tx, organization.team_id, viewer.id), 'REMOVE_PROJECT')
    const newOwner = await findMember(tx, organization.team_id, newOwnerId)
    if (newOwner?.accepted !== true)
      throw validationError('new_owner', 'must be an accepted member of this organization')
    await tx.updateTable('project').set({ organization_id: null }).where('id', '=', project.id).execute()
    await inheritTeams(tx, [project.team_id], newOwnerId, { keepMembership: true })
    await markInvitationsRead(tx, [{ account_id: newOwnerId, team_id: project.team_id, accepted: false }])
    await recordAudit(tx, {
      action: 'organization.project_removed',
      actor: actorOf(viewer),
      subject: { kind: 'organization', id: organization.id },
      accountIds: [newOwnerId],
      details: { project: project.id },
    })
    await addMovedProjects(tx, changed, [project])
  })
}
