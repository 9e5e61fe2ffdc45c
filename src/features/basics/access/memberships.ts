// Queries of team memberships for policies and notifications.
import { sql } from 'kysely'
import type { MembershipViewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import { capMembership, isCovered, type Membership, type ProjectFacts } from './project-policy.ts'

/**
 * Returns the viewer's memberships by project ID. Omits projects without one, and those that the token does not cover. A
 * token of a service account has at most the permissions of the member who created it.
 */
export async function listMemberships(
  db: Db,
  viewer: MembershipViewer,
  projectIds: readonly string[],
): Promise<Map<string, Membership>> {
  const { maker, ...account } = viewer
  const own = await listRows(db, account, projectIds)
  if (maker === undefined || own.size === 0) return own
  const makers = await listRows(db, { id: maker }, [...own.keys()])
  return new Map([...own].map(([id, membership]) => [id, capMembership(membership, makers.get(id) ?? {})]))
}

async function listRows(
  db: Db,
  viewer: Omit<MembershipViewer, 'maker'>,
  projectIds: readonly string[],
): Promise<Map<string, Membership>> {
  if (projectIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('project')
    .leftJoin('organization', 'organization.id', 'project.organization_id')
    .innerJoin('team_member', (join) =>
      join
        .on('team_member.account_id', '=', viewer.id)
        .on((eb) =>
          eb.or([
            eb('team_member.team_id', '=', eb.ref('project.team_id')),
            eb('team_member.team_id', '=', eb.ref('organization.team_id')),
          ]),
        ),
    )
    .select([
      'project.id',
      'team_member.accepted',
      'team_member.is_owner',
      'team_member.permissions',
      sql<boolean>`team_member.team_id = project.team_id`.as('in_project_team'),
    ])
    .where(sql<boolean>`project.id = any(${[...projectIds]}::text[])`)
    .where(isCovered(viewer))
    .execute()
  const memberships = new Map<string, Membership>()
  for (const { id, in_project_team, ...row } of rows) {
    const membership = memberships.get(id) ?? {}
    memberships.set(id, in_project_team ? { ...membership, project: row } : { ...membership, organization: row })
  }
  return memberships
}

/** Returns the viewer's rows in the teams of the project and of its organization, including pending invitations. */
export async function findMembership(
  db: Db,
  viewer: MembershipViewer,
  project: Pick<ProjectFacts, 'id'>,
): Promise<Membership> {
  return (await listMemberships(db, viewer, [project.id])).get(project.id) ?? {}
}

/** Returns the distinct account IDs of the accepted members of the project's team and of its organization. */
export async function listMemberIds(
  db: Db,
  project: Pick<ProjectFacts, 'team_id' | 'organization_id'>,
): Promise<string[]> {
  const members = await db
    .selectFrom('team_member')
    .leftJoin('organization', 'organization.team_id', 'team_member.team_id')
    .select('team_member.account_id')
    .distinct()
    .where('team_member.accepted', '=', true)
    .where((eb) =>
      eb.or([
        eb('team_member.team_id', '=', project.team_id),
        eb('organization.id', '=', project.organization_id ?? ''),
      ]),
    )
    .execute()
  return members.map(({ account_id }) => account_id)
}
