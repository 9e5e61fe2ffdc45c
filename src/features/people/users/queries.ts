// Reads of accounts as users.
import { type Selectable, sql } from 'kysely'
import { isReservedUsername, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { listedFor } from '#features/basics/access/project-policy.ts'
import type { Role, Viewer } from '#lib/access/viewer.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Account } from '#platform/db/schema.ts'

export type AccountRow = Selectable<Account>

type Finding = {
  /** Also accounts whose deletion is pending, which nobody finds otherwise. */
  withLeaving?: boolean
}

/** Accounts that `names` name as ID or, case-insensitively, as username. */
export function listAccountsByNames(
  db: Db,
  names: readonly string[],
  { withLeaving = false }: Finding = {},
): Promise<AccountRow[]> {
  return db
    .selectFrom('account')
    .selectAll()
    .where(isNamed('id', sql<string>`lower(username)`, names))
    .$if(!withLeaving, (query) => query.where('deletion_due', 'is', null))
    .execute()
}

/** @throws ApiError 404. */
export async function getAccount(db: Db, id: string): Promise<AccountRow> {
  const row = await db.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('user')
  return row
}

/** The account that `name` names as ID or username; the ID wins. @throws ApiError 404. */
export async function getAccountByName(db: Db, name: string, finding: Finding = {}): Promise<AccountRow> {
  const rows = await listAccountsByNames(db, [name], finding)
  const row = rows.find(({ id }) => id === name) ?? rows[0]
  if (row === undefined) throw notFound('user')
  return row
}

/**
 * Refuses a username that is another's name, anybody's ID, or kept for the placeholder account, case aside: names and
 * IDs address users alike.
 */
export async function assertUsernameFree(db: Db, username: string, exceptId?: string): Promise<void> {
  if (isReservedUsername(username)) throw usernameTaken()
  const { rows } = await sql<{ id: string }>`
    select id from account where (lower(username) = lower(${username}) or lower(id) = lower(${username}))
      and id is distinct from ${exceptId ?? null} limit 1`.execute(db)
  if (rows.length > 0) throw usernameTaken()
}

export function usernameTaken(): ApiError {
  return new ApiError('conflict', 'This username is taken', { details: { field: 'username', message: 'is taken' } })
}

/** An account by e-mail address, case aside. */
export function findAccountByEmail(db: Db, email: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('account')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', sql<string>`lower(${email})`)
    .where('deletion_due', 'is', null)
    .executeTakeFirst()
}

/** Accounts for operators, the newest first, and how many there are; `text` is part of a name or an address. */
export async function listAccounts(
  db: Db,
  { role, text, limit }: { role: Role | undefined; text: string | undefined; limit: number },
): Promise<{ accounts: AccountRow[]; total: number }> {
  const pattern = `%${(text ?? '').toLowerCase().replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  let found = db.selectFrom('account').where('id', '<>', PLACEHOLDER_ID)
  if (role !== undefined) found = found.where('role', '=', role)
  if (text !== undefined) {
    found = found.where(sql<boolean>`(lower(username) like ${pattern} or lower(email) like ${pattern})`)
  }
  const { total } = await found.select((eb) => eb.fn.countAll<string>().as('total')).executeTakeFirstOrThrow()
  const accounts = await found.selectAll().orderBy('created', 'desc').orderBy('id').limit(limit).execute()
  return { accounts, total: Number(total) }
}

/** The most users that a search by the beginning of their name finds. */
const FOUND_MAX = 25

/** Users whose name begins with `prefix`, case aside: the exact name first, the others in alphabetical order. */
export function listUsersByPrefix(
  db: Db,
  prefix: string,
): Promise<Pick<AccountRow, 'id' | 'username' | 'avatar_url'>[]> {
  const folded = sql<string>`(lower(username) collate "C")`
  const pattern = `${prefix.toLowerCase().replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  // In the order of characters a name stands before the longer ones that begin with it.
  return db
    .selectFrom('account')
    .select(['id', 'username', 'avatar_url'])
    .where(folded, 'like', pattern)
    .where('deletion_due', 'is', null)
    .orderBy(folded)
    .limit(FOUND_MAX)
    .execute()
}

/**
 * IDs of the projects to whose own team an account belongs, newest first: those that stand in another's list for this
 * viewer.
 */
export async function listProjectIdsOf(db: Db, viewer: Viewer | null, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('project.id')
    .where('project.team_id', 'in', acceptedTeams(db, accountId))
    .where(listedFor(viewer))
    .orderBy('project.published', 'desc')
    .orderBy('project.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The same for all projects of these organizations. */
export async function listOrganizationProjectIds(
  db: Db,
  viewer: Viewer | null,
  organizationIds: readonly string[],
): Promise<string[]> {
  if (organizationIds.length === 0) return []
  const rows = await db
    .selectFrom('project')
    .select('project.id')
    .where('project.organization_id', 'in', organizationIds)
    .where(listedFor(viewer))
    .orderBy('project.published', 'desc')
    .orderBy('project.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** IDs of the organizations of which an account is an accepted member, oldest first. */
export async function listOrganizationIdsOf(db: Db, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('organization')
    .select('id')
    .where('team_id', 'in', acceptedTeams(db, accountId))
    .orderBy('created')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

function acceptedTeams(db: Db, accountId: string) {
  return db.selectFrom('team_member').select('team_id').where('account_id', '=', accountId).where('accepted', '=', true)
}

/** IDs of the projects whose team's owner is this account. */
export async function listOwnedProjectIds(db: Db, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('team_member')
    .innerJoin('project', 'project.team_id', 'team_member.team_id')
    .select('project.id')
    .where('team_member.account_id', '=', accountId)
    .where('team_member.is_owner', '=', true)
    .execute()
  return rows.map(({ id }) => id)
}
