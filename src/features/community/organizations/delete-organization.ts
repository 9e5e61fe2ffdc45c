import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { inheritTeams } from '#features/community/teams/queries.ts'
import { type InvitationRow, markInvitationsRead } from '#features/people/notifications/queries.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { requirePermissionIn } from './policy.ts'
import {
  addMovedProjects,
  findViewerIn,
  getOrganizationRow,
  lockOrganization,
  type OrganizationRow,
} from './queries.ts'
import { retireServiceAccounts } from './retire-service-accounts.ts'

/**
 * Deletes an organization with its team. Its owner becomes the owner of all its projects. Its other members are removed
 * from the teams of these projects. Its service accounts are deleted.
 * @throws ApiError 404, 403 without DELETE_ORGANIZATION.
 */
export async function deleteOrganization(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'log' | 'metrics' | 'now'>,
  viewer: Viewer,
  name: string,
): Promise<void> {
  const id = await transaction(deps, async (tx, changed) => {
    const row = await lockWithProjects(tx, name)
    requirePermissionIn(viewer, await findViewerIn(tx, viewer, row), 'DELETE_ORGANIZATION')
    await eraseOrganization(tx, changed, row, { actor: actorOf(viewer), now: deps.now() })
    return row.id
  })
  recordEvent(deps, 'organization.deleted', { organization_id: id })
}

/** Deletes an organization, which the caller has locked with its projects. */
export async function eraseOrganization(
  tx: Tx,
  changed: ChangeSet,
  row: OrganizationRow,
  { actor, now }: { actor: Actor; now: number },
): Promise<void> {
  const members = await tx
    .selectFrom('team_member')
    .select(['team_id', 'account_id', 'accepted', 'is_owner'])
    .where('team_id', '=', row.team_id)
    .execute()
  const projectIds = await releaseProjects(tx, changed, row.id, members)
  await retireServiceAccounts(tx, changed, { organizationId: row.id, now })
  await markInvitationsRead(tx, changed, members)
  await tx.deleteFrom('organization').where('id', '=', row.id).execute()
  await tx.deleteFrom('team').where('id', '=', row.team_id).execute()
  await endLostAccess(tx, changed, { now, projectIds })
  await removeImages(tx, [row.icon_url, row.raw_icon_url])
  const details = { slug: row.slug, name: row.name }
  const subject = { kind: 'organization', id: row.id } as const
  await recordAudit(tx, { action: 'organization.deleted', actor, subject, details })
  changed.add('organization', row.id)
  changed.add('team', row.team_id)
}

/** Locks the projects before their organization, in the same order as every command that locks both. */
async function lockWithProjects(tx: Tx, name: string): Promise<OrganizationRow> {
  const { id } = await getOrganizationRow(tx, name)
  await tx.selectFrom('project').select('id').where('organization_id', '=', id).orderBy('id').forNoKeyUpdate().execute()
  return lockOrganization(tx, id, 'deletion')
}

type Member = InvitationRow & { is_owner: boolean }

/**
 * Makes the owner of the organization the owner of its projects. Members who were not in the organization remain. Returns the
 * IDs of the projects.
 */
async function releaseProjects(tx: Tx, changed: ChangeSet, id: string, members: readonly Member[]): Promise<string[]> {
  const projects = await tx
    .updateTable('project')
    .set({ organization_id: null })
    .where('organization_id', '=', id)
    .returning(['project.id', 'project.team_id'])
    .execute()
  if (projects.length === 0) return []
  const owner = members.find(({ is_owner }) => is_owner)
  if (owner === undefined) throw new Error(`Organization ${id} has no owner to take its projects`)
  const teamIds = projects.map(({ team_id }) => team_id)
  const leaving = members.filter((member) => member.accepted && member !== owner).map(({ account_id }) => account_id)
  if (leaving.length > 0) {
    const rows = await tx
      .deleteFrom('team_member')
      .where('team_id', 'in', teamIds)
      .where('account_id', 'in', leaving)
      .returning(['account_id', 'team_id', 'accepted'])
      .execute()
    await markInvitationsRead(tx, changed, rows)
  }
  await inheritTeams(tx, teamIds, owner.account_id, { keepMembership: false })
  await recordEvents(
    tx,
    projects.map((project) =>
      projectEvent('project.transferred', project.id, { owner: { user_id: owner.account_id } }),
    ),
  )
  await addMovedProjects(tx, changed, projects)
  return projects.map((project) => project.id)
}
