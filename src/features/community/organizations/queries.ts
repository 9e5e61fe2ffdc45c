// Rows of organizations.
import { type Selectable, sql } from 'kysely'
import { findMembership } from '#features/basics/access/memberships.ts'
import { hasOrganizationPermission, type OrganizationPermission } from '#features/basics/access/permissions.ts'
import { canSeeProject, type Membership, type ProjectFacts } from '#features/basics/access/project-policy.ts'
import { capMember } from '#features/basics/access/team-policy.ts'
import { coversOrganization, type Viewer } from '#features/basics/access/viewer.ts'
import type { MemberRow } from '#features/community/teams/queries.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Organization } from '#platform/db/schema.ts'

export type OrganizationRow = Selectable<Organization>

/** Returns the organizations whose ID is in `names` or whose slug is in `names`, lower-cased, without hidden ones. */
export function listOrganizationsByNames(db: Db, names: readonly string[]): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .selectAll()
    .where(isNamed('id', 'slug', names))
    .where('hidden', '=', false)
    .execute()
}

/** Returns the organization with this ID or slug. An ID takes precedence. @throws ApiError 404. */
export async function getOrganizationRow(db: Db, name: string): Promise<OrganizationRow> {
  const rows = await listOrganizationsByNames(db, [name])
  const row = rows.find(({ id }) => id === name) ?? rows[0]
  if (row === undefined) throw notFound('organization')
  return row
}

/**
 * Returns the organization, locked until the transaction ends. The purpose `deletion` also prevents new rows that refer
 * to it.
 * @throws ApiError 404.
 */
export async function lockOrganization(tx: Tx, name: string, purpose: 'change' | 'deletion'): Promise<OrganizationRow> {
  const { id } = await getOrganizationRow(tx, name)
  const query = tx.selectFrom('organization').selectAll().where('id', '=', id)
  const row = await (purpose === 'deletion' ? query.forUpdate() : query.forNoKeyUpdate()).executeTakeFirst()
  if (row === undefined) throw notFound('organization')
  return row
}

/** Returns an account's row in an organization's team. */
export async function findMember(db: Db, teamId: string, accountId: string): Promise<MemberRow | undefined> {
  const row = await db
    .selectFrom('team_member')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row === undefined ? undefined : { ...row, payouts_split: Number(row.payouts_split) }
}

/**
 * Returns the viewer's row in an organization's team; undefined also if their token does not cover the organization. A token
 * of a service account has at most the permissions of the member who created it.
 */
export async function findViewerIn(
  db: Db,
  viewer: Viewer,
  organization: Pick<OrganizationRow, 'id' | 'team_id'>,
): Promise<MemberRow | undefined> {
  if (!coversOrganization(viewer, organization.id)) return undefined
  const row = await findMember(db, organization.team_id, viewer.id)
  return viewer.maker === undefined ? row : capMember(row, await findMember(db, organization.team_id, viewer.maker))
}

/**
 * Adds everything that a change of owner affects to the change set: the projects, their teams and their versions, whose
 * owner decides who can see hidden ones.
 */
export async function addMovedProjects(
  tx: Tx,
  changed: ChangeSet,
  projects: readonly { id: string; team_id: string }[],
): Promise<void> {
  const projectIds = projects.map(({ id }) => id)
  changed.add('project', ...projectIds)
  changed.add('team', ...projects.map(({ team_id }) => team_id))
  if (projectIds.length === 0) return
  const versions = await tx.selectFrom('version').select('id').where('project_id', 'in', projectIds).execute()
  changed.addEach(
    'version',
    versions.map(({ id }) => id),
  )
}

/** Locks the project with this ID or slug. @throws the error of `absent` if the project is absent or hidden. */
export async function lockVisibleProject(
  tx: Tx,
  viewer: Viewer,
  name: string,
  absent: () => ApiError,
): Promise<{ project: ProjectFacts; membership: Membership }> {
  const project = await tx
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where((eb) => eb.or([eb('id', '=', name), eb('slug', '=', name.toLowerCase())]))
    .orderBy(sql`(id = ${name})`, 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project === undefined) throw absent()
  const membership = await findMembership(tx, viewer, project)
  if (!canSeeProject(viewer, project, membership)) throw absent()
  return { project, membership }
}

/** Returns the organizations in which an account has a permission, by name. */
export async function listOrganizationsWith(
  db: Db,
  accountId: string,
  permission: OrganizationPermission,
): Promise<{ id: string; name: string }[]> {
  const rows = await db
    .selectFrom('team_member')
    .innerJoin('organization', 'organization.team_id', 'team_member.team_id')
    .select(['organization.id', 'organization.name', 'team_member.organization_permissions'])
    .where('team_member.account_id', '=', accountId)
    .where('team_member.accepted', '=', true)
    .orderBy('organization.name')
    .orderBy('organization.id')
    .execute()
  return rows.filter((row) => hasOrganizationPermission(row.organization_permissions ?? 0, permission))
}

export type OwnOrganization = Pick<OrganizationRow, 'id' | 'slug' | 'name' | 'icon_url' | 'team_id'> & {
  role: string
  /** Whether the account is a member, not only invited. */
  accepted: boolean
  members: number
  invitations: number
  projects: number
}

/** Returns the organizations of which an account is a member or to which it is invited, by name, with their counts. */
export async function listOwnOrganizations(db: Db, accountId: string): Promise<OwnOrganization[]> {
  const { rows } = await sql<OwnOrganization>`
    select organization.id, slug, name, icon_url, organization.team_id, own.role, own.accepted,
      (select count(*) from team_member where team_id = organization.team_id and accepted)::int as members,
      (select count(*) from team_member where team_id = organization.team_id and not accepted)::int as invitations,
      (select count(*) from project where organization_id = organization.id)::int as projects
    from team_member own join organization on organization.team_id = own.team_id
    where own.account_id = ${accountId} order by lower(name), organization.id`.execute(db)
  return rows
}

/** Returns the projects that an account owns and that no organization owns, by name. */
export function listFreeProjects(db: Db, accountId: string): Promise<{ id: string; name: string; slug: string }[]> {
  return db
    .selectFrom('team_member')
    .innerJoin('project', 'project.team_id', 'team_member.team_id')
    .select(['project.id', 'project.name', 'project.slug'])
    .where('team_member.account_id', '=', accountId)
    .where('team_member.is_owner', '=', true)
    .where('project.organization_id', 'is', null)
    .orderBy('project.name')
    .orderBy('project.id')
    .execute()
}

/** @throws ApiError `conflict` if another organization has this slug, or an ID that differs from it only in case. */
export async function assertSlugFree(db: Db, slug: string, exceptId?: string): Promise<void> {
  const { rows } = await sql`select 1 from organization where (slug = ${slug} or lower(id) = ${slug})
    and id is distinct from ${exceptId ?? null} limit 1`.execute(db)
  if (rows.length > 0) throw slugTaken()
}

export function slugTaken(): ApiError {
  return new ApiError('conflict', 'This slug is taken', { details: { field: 'slug', message: 'is taken' } })
}
