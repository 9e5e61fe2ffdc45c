// Projects into organizations and out of them (specification: Project ownership by an organization).
import { sql } from 'kysely'
import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { findMembership } from '#features/access/memberships.ts'
import { canSeeProject, isMember, type Membership, type ProjectFacts } from '#features/access/project-policy.ts'
import { organizationPermissions, requireOrganizationPermission } from '#features/access/team-policy.ts'
import { markInvitationsRead } from '#features/notifications/queries.ts'
import { shareOrganization } from '#features/teams/lock-team.ts'
import { inheritTeams } from '#features/teams/queries.ts'
import { type ApiError, forbidden, invalidInput, notFound, validationError } from '#lib/errors.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import { findMember, findOrganization, listVersionIdsOfProjects } from './queries.ts'

export type Move = { organizationName: string; projectName: string }

/**
 * Gives a project to an organization. The rows of its owner and of the organization's owner leave its team: their
 * access goes on through the organization, as does that of every member without a row of his own.
 * @throws ApiError 404 for the organization; 400 for an unknown project or one that an organization owns; 403 unless
 * the caller is a member of both, owns the project (or is an admin) and has ADD_PROJECT.
 */
export async function addProject(tx: Tx, changed: ChangeSet, viewer: Viewer, move: Move): Promise<void> {
  const organization = await findOrganization(tx, move.organizationName)
  if (organization === undefined) throw notFound('organization')
  const { project, membership } = await lockVisibleProject(tx, viewer, move.projectName, unknownProject)
  if (project.organization_id !== null && isMember(membership)) {
    throw invalidInput('The project belongs to an organization already', 'project_id')
  }
  if ((await shareOrganization(tx, organization.id)) === undefined) throw notFound('organization')
  const row = await findMember(tx, organization.team_id, viewer.id)
  if (membership.project?.accepted !== true || !(membership.project.is_owner || isAdmin(viewer))) {
    throw forbidden('Only the owner of a project may give it to an organization')
  }
  if (row?.accepted !== true) throw forbidden('You are no member of this organization')
  requireOrganizationPermission(organizationPermissions(viewer, row), 'ADD_PROJECT')
  await tx.updateTable('project').set({ organization_id: organization.id }).where('id', '=', project.id).execute()
  const rows = await tx
    .deleteFrom('team_member')
    .where('team_id', '=', project.team_id)
    .where((eb) =>
      eb.or([
        eb('is_owner', '=', true),
        eb(
          'account_id',
          'in',
          eb
            .selectFrom('team_member as owner')
            .select('owner.account_id')
            .where('owner.team_id', '=', organization.team_id)
            .where('owner.is_owner', '=', true),
        ),
      ]),
    )
    .returning(['account_id', 'team_id', 'accepted'])
    .execute()
  await markInvitationsRead(tx, rows)
  await announceMoves(tx, changed, [project])
}

/**
 * Takes a project out of its organization and makes one of the organization's members its owner.
 * @throws ApiError 404 for the organization, the project, and a project of another owner; 403 without REMOVE_PROJECT;
 * 400 when the new owner is no accepted member.
 */
export async function removeProject(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { newOwnerId, ...move }: Move & { newOwnerId: string },
): Promise<void> {
  const organization = await findOrganization(tx, move.organizationName)
  if (organization === undefined) throw notFound('organization')
  const { project } = await lockVisibleProject(tx, viewer, move.projectName, noSuchProject)
  if (project.organization_id !== organization.id) throw noSuchProject()
  await shareOrganization(tx, organization.id)
  const bits = organizationPermissions(viewer, await findMember(tx, organization.team_id, viewer.id))
  requireOrganizationPermission(bits, 'REMOVE_PROJECT')
  const newOwner = await findMember(tx, organization.team_id, newOwnerId)
  if (newOwner?.accepted !== true) throw validationError('new_owner', 'is no accepted member of this organization')
  await tx.updateTable('project').set({ organization_id: null }).where('id', '=', project.id).execute()
  await inheritTeams(tx, [project.team_id], newOwnerId, { keepStanding: true })
  await markInvitationsRead(tx, [{ account_id: newOwnerId, team_id: project.team_id, accepted: false }])
  await announceMoves(tx, changed, [project])
}

/** Names what a change of owner changes for the cache: the projects, their teams, and who sees their versions. */
export async function announceMoves(
  tx: Tx,
  changed: ChangeSet,
  projects: readonly { id: string; team_id: string }[],
): Promise<void> {
  const projectIds = projects.map(({ id }) => id)
  const versionIds = await listVersionIdsOfProjects(tx, projectIds)
  changed.add('project', ...projectIds)
  changed.add('team', ...projects.map(({ team_id }) => team_id))
  // One by one: there may be more than a call takes arguments.
  for (const id of versionIds) changed.add('version', id)
}

type Seen = { project: ProjectFacts; membership: Membership }

/** @throws what `absent` makes, when there is no such project or the viewer may not see it. */
async function lockVisibleProject(tx: Tx, viewer: Viewer, name: string, absent: () => ApiError): Promise<Seen> {
  const project = await tx
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where((eb) => eb.or([eb('id', '=', name), eb('slug', '=', name.toLowerCase())]))
    .orderBy(sql`(id = ${name})`, 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project === undefined) throw absent()
  const membership = await findMembership(tx, viewer.id, project)
  if (!canSeeProject(viewer, project, membership)) throw absent()
  return { project, membership }
}

const unknownProject = (): ApiError => validationError('project_id', 'is no project')
const noSuchProject = (): ApiError => notFound('project')
