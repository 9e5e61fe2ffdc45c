// Rows of organizations: reads, locks, and the rule for their slugs.
import { type Selectable, sql } from 'kysely'
import { listedFor } from '#features/basics/access/project-policy.ts'
import type { MemberRow } from '#features/community/teams/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Organization } from '#platform/db/schema.ts'

export type OrganizationRow = Selectable<Organization>

/** Organizations that `names` name as ID or, lower-cased, as slug. */
export function listOrganizationsByNames(db: Db, names: readonly string[]): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .selectAll()
    .where(isNamed('id', 'slug', names))
    .execute()
}

/** The row that `name` names as ID or slug (the ID wins); undefined when there is none. */
export async function findOrganization(db: Db, name: string): Promise<OrganizationRow | undefined> {
  const rows = await listOrganizationsByNames(db, [name])
  return rows.find(({ id }) => id === name) ?? rows[0]
}

/**
 * The same, locked until the transaction ends: for a change, or (`deletion`) also against new rows that refer to it.
 * @throws ApiError 404.
 */
export async function lockOrganization(tx: Tx, name: string, purpose: 'change' | 'deletion'): Promise<OrganizationRow> {
  const found = await findOrganization(tx, name)
  if (found === undefined) throw notFound('organization')
  const query = tx.selectFrom('organization').selectAll().where('id', '=', found.id)
  const row = await (purpose === 'deletion' ? query.forUpdate() : query.forNoKeyUpdate()).executeTakeFirst()
  if (row === undefined) throw notFound('organization')
  return row
}

/** An account's row in an organization's team. */
export async function findMember(db: Db, teamId: string, accountId: string): Promise<MemberRow | undefined> {
  const row = await db
    .selectFrom('team_member')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row === undefined ? undefined : { ...row, payouts_split: Number(row.payouts_split) }
}

/** IDs of an organization's projects that stand in its list for this viewer, newest first. */
export async function listProjectIds(db: Db, organizationId: string, viewer: Viewer | null): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('project.id')
    .where('project.organization_id', '=', organizationId)
    .where(listedFor(viewer))
    .orderBy('project.published', 'desc')
    .orderBy('project.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** IDs of all versions of these projects, for the cache: who owns a project decides who sees its hidden versions. */
export async function listVersionIdsOfProjects(db: Db, projectIds: readonly string[]): Promise<string[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('version').select('id').where('project_id', 'in', projectIds).execute()
  return rows.map(({ id }) => id)
}

/** Refuses a slug that is another organization's slug or, case aside, any organization's ID: both address one. */
export async function assertSlugFree(db: Db, slug: string, exceptId?: string): Promise<void> {
  const { rows } = await sql`select 1 from organization where (slug = ${slug} or lower(id) = ${slug})
    and id is distinct from ${exceptId ?? null} limit 1`.execute(db)
  if (rows.length > 0) throw slugTaken()
}

export function slugTaken(): ApiError {
  return new ApiError('conflict', 'This slug is taken', { details: { field: 'slug', message: 'is taken' } })
}
