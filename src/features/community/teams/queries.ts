// Rows of teams.
import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import type { MemberFacts } from '#features/basics/access/team-policy.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'

export type MemberRow = MemberFacts & { team_id: string; role: string; payouts_split: number; ordering: number }

/** A team with its project or organization and all its rows in display order. */
export type TeamRead = {
  id: string
  project_id: string | null
  organization_id: string | null
  revision: number
  /** Revision of the organization, whose view contains the members. */
  organization_revision: number | null
  members: MemberRow[]
}

/** Returns the teams with these IDs. Skips unknown IDs. */
export function listTeamReads(db: Db, ids: readonly string[]): Promise<TeamRead[]> {
  return db
    .selectFrom('team')
    .leftJoin('project', 'project.team_id', 'team.id')
    .leftJoin('organization', 'organization.team_id', 'team.id')
    .select((eb) => [
      'team.id',
      'project.id as project_id',
      'organization.id as organization_id',
      'team.revision',
      'organization.revision as organization_revision',
      jsonArrayFrom(
        eb
          .selectFrom('team_member')
          .select([
            'team_member.team_id',
            'team_member.account_id',
            'team_member.role',
            'team_member.is_owner',
            'team_member.permissions',
            'team_member.organization_permissions',
            'team_member.accepted',
            // A numeric column is a number in JSON, but a string in rows.
            sql<number>`team_member.payouts_split`.as('payouts_split'),
            'team_member.ordering',
          ])
          .whereRef('team_member.team_id', '=', 'team.id')
          .orderBy('team_member.ordering')
          .orderBy('team_member.created')
          .orderBy('team_member.account_id'),
      ).as('members'),
    ])
    .where('team.id', 'in', ids)
    .execute()
}

/** Returns the project of a team, with the team of the organization that owns it. */
export function findProjectOfTeam(
  db: Db,
  teamId: string,
): Promise<{ status: string; owning_team_id: string | null } | undefined> {
  return db
    .selectFrom('project')
    .leftJoin('organization', 'organization.id', 'project.organization_id')
    .select(['project.status', 'organization.team_id as owning_team_id'])
    .where('project.team_id', '=', teamId)
    .executeTakeFirst()
}

/** Makes the owners of these teams plain members. Call this before you set a new owner: a team can have only one. */
export async function demoteOwners(tx: Tx, teamIds: readonly string[], exceptId: string): Promise<string[]> {
  if (teamIds.length === 0) return []
  const rows = await tx
    .updateTable('team_member')
    .set({ is_owner: false, role: 'Member' })
    .where('team_id', 'in', teamIds)
    .where('is_owner', '=', true)
    .where('account_id', '<>', exceptId)
    .returning('account_id')
    .execute()
  return rows.map(({ account_id }) => account_id)
}

/**
 * Sets the owner of project teams that leave an organization, with the role `Inherited Owner`, or `Owner` if
 * `keepMembership` is set and the account is an accepted member of the team.
 */
export async function inheritTeams(
  tx: Tx,
  teamIds: readonly string[],
  ownerId: string,
  { keepMembership }: { keepMembership: boolean },
): Promise<void> {
  if (teamIds.length === 0) return
  await demoteOwners(tx, teamIds, ownerId)
  const role = keepMembership
    ? sql<string>`case when team_member.accepted then 'Owner' else 'Inherited Owner' end`
    : 'Inherited Owner'
  await tx
    .insertInto('team_member')
    .values(
      teamIds
        .toSorted()
        .map((teamId) => ({
          team_id: teamId,
          account_id: ownerId,
          role: 'Inherited Owner',
          is_owner: true,
          accepted: true,
          permissions: ALL_PROJECT_PERMISSIONS,
        })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'account_id'])
        .doUpdateSet({
          role,
          is_owner: true,
          accepted: true,
          permissions: ALL_PROJECT_PERMISSIONS,
          organization_permissions: null,
        }),
    )
    .execute()
}

export function countMembers(db: Db, teamId: string): Promise<number> {
  return countRows(db.selectFrom('team_member').where('team_id', '=', teamId))
}

/** Returns whether the account is a member of each of these teams; false for a pending invitation. Skips other teams. */
export async function listOwnMemberships(
  db: Db,
  accountId: string,
  teamIds: readonly string[],
): Promise<Map<string, boolean>> {
  if (teamIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('team_member')
    .select(['team_id', 'accepted'])
    .where('account_id', '=', accountId)
    .where('team_id', 'in', teamIds)
    .execute()
  return new Map(rows.map(({ team_id, accepted }) => [team_id, accepted]))
}
