// Rows of organizations.
import { type Selectable, sql } from 'kysely'
import type { MemberRow } from '#features/community/teams/queries.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Organization } from '#platform/db/schema.ts'

export type OrganizationRow = Selectable<Organization>

/** Returns the organizations whose ID is in `names` or whose slug is in `names`, lower-cased. */
export function listOrganizationsByNames(db: Db, names: readonly string[]): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .selectAll()
    .where(isNamed('id', 'slug', names))
    .execute()
}

/** Returns the organization with this ID or slug. An ID takes precedence. */
export async function findOrganization(db: Db, name: string): Promise<OrganizationRow | undefined> {
  const rows = await listOrganizationsByNames(db, [name])
  return rows.find(({ id }) => id === name) ?? rows[0]
}

/**
 * Returns the organization, locked until the transaction ends. The purpose `deletion` also prevents new rows that refer
 * to it.
 * @throws ApiError 404.
 */
export async function lockOrganization(tx: Tx, name: string, purpose: 'change' | 'deletion'): Promise<OrganizationRow> {
  const organization = await findOrganization(tx, name)
  if (organization === undefined) throw notFound('organization')
  const query = tx.selectFrom('organization').selectAll().where('id', '=', organization.id)
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

/** Returns the IDs of all versions of these projects, whose owner decides who can see their hidden versions. */
export async function listVersionIdsOfProjects(db: Db, projectIds: readonly string[]): Promise<string[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('version').select('id').where('project_id', 'in', projectIds).execute()
  return rows.map(({ id }) => id)
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
