// Transfers projects to an organization, and back to one of its members.

import { findServiceOwner } from '#features/basics/access/accounts.ts'
import type { ProjectFacts } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type NewEvent, projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { shareOrganization } from '#features/community/teams/change-team.ts'
import { inheritTeams } from '#features/community/teams/queries.ts'
import { type InvitationRow, markInvitationsRead } from '#features/people/notifications/queries.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireFreeProject, requirePermissionIn, requireProjectOwner } from '../policy.ts'
import { addMovedProjects, findMember, findViewerIn, getOrganizationRow, lockVisibleProject } from '../queries.ts'

/**
 * Transfers a project to an organization. Removes its owner and the owner of the organization from the project's team,
 * because they have access through the organization.
 * @throws ApiError 404 for an unknown organization, 400 for an unknown project or one that an organization owns, 403
 * unless the caller is a member of both, owns the project (or is an admin) and has ADD_PROJECT.
 */
export async function addProject(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { organizationName, projectName }: { organizationName: string; projectName: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const organization = await getOrganizationRow(tx, organizationName)
    const absent = () => validationError('project_id', 'must be the ID or slug of a project that you can see')
    const { project, membership } = await lockVisibleProject(tx, viewer, projectName, absent)
    requireFreeProject(project, membership)
    if ((await shareOrganization(tx, organization.id)) === undefined) throw notFound('organization')
    const member = await findViewerIn(tx, viewer, organization)
    requireProjectOwner(viewer, { membership, member })
    await tx.updateTable('project').set({ organization_id: organization.id }).where('id', '=', project.id).execute()
    const rows = await deleteOwnerRows(tx, { teamId: project.team_id, organizationTeamId: organization.team_id })
    await markInvitationsRead(tx, changed, rows)
    await recordAudit(tx, {
      action: 'organization.project_added',
      actor: actorOf(viewer),
      subject: { kind: 'organization', id: organization.id },
      details: { project: project.id },
    })
    const formerOwner = rows.find(({ is_owner }) => is_owner)?.account_id
    const owner = { organization_id: organization.id }
    await recordEvents(tx, [
      organizationEvent('organization.project_added', { organizationId: organization.id, projectId: project.id }),
      { ...projectEvent('project.transferred', project.id, { owner }), account_id: formerOwner },
    ])
    await addMovedProjects(tx, changed, [project])
    await endLostAccess(tx, changed, { now: deps.now(), projectIds: [project.id] })
  })
}

/** Removes the owner of a project and the owner of the organization from the project's team. */
function deleteOwnerRows(
  tx: Tx,
  { teamId, organizationTeamId }: { teamId: string; organizationTeamId: string },
): Promise<(InvitationRow & { is_owner: boolean })[]> {
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
    .returning(['account_id', 'team_id', 'accepted', 'is_owner'])
    .execute()
}

function organizationEvent(
  kind: 'organization.project_added' | 'organization.project_removed',
  { organizationId, projectId }: { organizationId: string; projectId: string },
): NewEvent {
  return {
    kind,
    subject: { kind: 'organization', id: organizationId },
    organization_id: organizationId,
    project_id: projectId,
    data: { organization_id: organizationId, project_id: projectId },
  }
}

/**
 * Removes projects from their organization and makes a member of the organization their owner, all or none.
 * @throws ApiError 404 unless the organization exists and owns the projects, 403 without REMOVE_PROJECT, 400 unless the
 * new owner is an accepted member.
 */
export async function removeProjects(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  {
    organizationName,
    projectNames,
    newOwnerId,
  }: { organizationName: string; projectNames: readonly string[]; newOwnerId: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const organization = await getOrganizationRow(tx, organizationName)
    const projects: ProjectFacts[] = []
    // In the same order as every command that locks several projects.
    for (const name of projectNames.toSorted()) {
      const { project } = await lockVisibleProject(tx, viewer, name, () => notFound('project'))
      if (project.organization_id !== organization.id) throw notFound('project')
      projects.push(project)
    }
    await shareOrganization(tx, organization.id)
    requirePermissionIn(viewer, await findViewerIn(tx, viewer, organization), 'REMOVE_PROJECT')
    const newOwner = await findMember(tx, organization.team_id, newOwnerId)
    if (newOwner?.accepted !== true || (await findServiceOwner(tx, newOwnerId)) !== undefined)
      throw validationError('new_owner', 'must be an accepted member of this organization, not a service account')
    const [ids, teamIds] = [projects.map(({ id }) => id), projects.map(({ team_id }) => team_id)]
    await tx.updateTable('project').set({ organization_id: null }).where('id', 'in', ids).execute()
    await inheritTeams(tx, teamIds, newOwnerId, { keepMembership: true })
    await markInvitationsRead(
      tx,
      changed,
      teamIds.map((team_id) => ({ account_id: newOwnerId, team_id, accepted: false })),
    )
    for (const project of ids)
      await recordAudit(tx, {
        action: 'organization.project_removed',
        actor: actorOf(viewer),
        subject: { kind: 'organization', id: organization.id },
        accountIds: [newOwnerId],
        details: { project },
      })
    const moved = { owner: { user_id: newOwnerId } }
    await recordEvents(
      tx,
      ids.flatMap((projectId) => [
        organizationEvent('organization.project_removed', { organizationId: organization.id, projectId }),
        { ...projectEvent('project.transferred', projectId, moved), organization_id: organization.id },
      ]),
    )
    await addMovedProjects(tx, changed, projects)
    await endLostAccess(tx, changed, { now: deps.now(), projectIds: ids })
  })
}
