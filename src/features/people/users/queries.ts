// Queries of users and of their projects and organizations.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { isReservedUsername, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { listedFor } from '#features/basics/access/project-policy.ts'
import type { Role, Viewer } from '#features/basics/access/viewer.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Account } from '#platform/db/schema.ts'

export type AccountRow = Selectable<Account>

type FindOptions = {
  /** Whether to include accounts with a pending deletion. Default: false. */
  withLeaving?: boolean
}

/** Returns the accounts with these IDs or, ignoring case, usernames. */
export function listAccountsByNames(
  db: Db,
  names: readonly string[],
  { withLeaving = false }: FindOptions = {},
): Promise<AccountRow[]> {
  return db
    .selectFrom('account')
    .selectAll()
    .where(isNamed('id', sql<string>`lower(username)`, names))
    .$if(!withLeaving, (query) => query.where('deletion_due', 'is', null))
    .execute()
}

export function findAccount(db: Db, id: string): Promise<AccountRow | undefined> {
  return db.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst()
}

/** @throws ApiError 404. */
export async function getAccount(db: Db, id: string): Promise<AccountRow> {
  const row = await db.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('user')
  return row
}

/** Returns the account with this ID or else with this username. @throws ApiError 404. */
export async function getAccountByName(db: Db, name: string, options: FindOptions = {}): Promise<AccountRow> {
  const rows = await listAccountsByNames(db, [name], options)
  const row = rows.find(({ id }) => id === name) ?? rows[0]
  if (row === undefined) throw notFound('user')
  return row
}

/**
 * Requires that a username is not the name of another user, the ID of any user, or reserved for the placeholder
 * account or a former owner, ignoring case. Paths accept both names and IDs, so both must be unique.
 * @throws ApiError `conflict`.
 */
export async function assertUsernameFree(
  { db, now }: { db: Db; now: () => number },
  username: string,
  exceptId: string | null = null,
): Promise<void> {
  if (isReservedUsername(username)) throw usernameTaken()
  const { rows } = await sql`
    select from account where (lower(username) = lower(${username}) or lower(id) = lower(${username}))
      and id is distinct from ${exceptId}
    union all select from reserved_username where username = lower(${username})
      and account_id is distinct from ${exceptId} and expires > ${new Date(now())} limit 1`.execute(db)
  if (rows.length > 0) throw usernameTaken()
}

/** Period in which only the former owner of a username can use it again. */
const RESERVED_MS = 30 * DAY_MS
const RESERVED_MAX = 20

/**
 * Reserves the username that an account, which the caller has locked, gives up for `newName`.
 * @throws ApiError `limit_reached`, so that nobody can reserve any number of names.
 */
export async function reserveUsername(
  tx: Tx,
  { id: account_id, username, newName }: { id: string; username: string; newName: string },
  nowMs: number,
): Promise<void> {
  await tx.deleteFrom('reserved_username').where('username', '=', newName.toLowerCase()).execute()
  const things = `former usernames within ${RESERVED_MS / DAY_MS} days`
  const remedy = 'Wait, or use one of them.'
  await requireRoom(tx, account_id, { table: 'reserved_username', max: RESERVED_MAX, things, remedy })
  const row = { account_id, expires: new Date(nowMs + RESERVED_MS) }
  await tx
    .insertInto('reserved_username')
    .values({ username: username.toLowerCase(), ...row })
    .onConflict((conflict) => conflict.column('username').doUpdateSet(row))
    .execute()
}

export function usernameTaken(): ApiError {
  return new ApiError('conflict', 'This username is taken', { details: { field: 'username', message: 'is taken' } })
}

/** Returns the account with this email address, ignoring case. */
export function findAccountByEmail(db: Db, email: string): Promise<AccountRow | undefined> {
  return db
    .selectFrom('account')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', sql<string>`lower(${email})`)
    .where('deletion_due', 'is', null)
    .executeTakeFirst()
}

/** Returns the condition that an account is suspended at a time. */
export function suspendedAt(at: Date): RawBuilder<boolean> {
  return sql<boolean>`(suspended_at is not null and (suspended_until is null or suspended_until > ${at}))`
}

type AccountFilter = {
  role: Role | undefined
  /** Part of the username or email address. */
  text: string | undefined
  /** Time at which the accounts are suspended. */
  suspendedAt: Date | undefined
}

/** Returns accounts, newest first, and their total number. */
export async function listAccounts(
  db: Db,
  { role, text, suspendedAt: at, limit, offset = 0 }: AccountFilter & { limit: number; offset?: number },
): Promise<{ accounts: AccountRow[]; total: number }> {
  const pattern = `%${likeEscaped(text ?? '')}%`
  const matching = db
    .selectFrom('account')
    .where('id', '<>', PLACEHOLDER_ID)
    .$if(role !== undefined, (query) => query.where('role', '=', role ?? 'developer'))
    .$if(at !== undefined, (query) => query.where(suspendedAt(at ?? new Date(0))))
    .$if(text !== undefined, (query) =>
      query.where(sql<boolean>`(lower(username) like ${pattern} or lower(email) like ${pattern} or id = ${text})`),
    )
  const { total } = await matching.select((eb) => eb.fn.countAll<string>().as('total')).executeTakeFirstOrThrow()
  const accounts = await matching
    .selectAll()
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  return { accounts, total: Number(total) }
}

/** Lowers the case of a text and escapes it for a `like` pattern. */
export const likeEscaped = (text: string): string => text.toLowerCase().replace(/[\\%_]/g, (sign) => `\\${sign}`)

type FoundUser = Pick<AccountRow, 'id' | 'username' | 'avatar_url'>

/** Maximum number of users that a search by prefix returns. */
const PREFIX_SEARCH_MAX = 25

/** Returns the users whose name begins with `prefix`, ignoring case. The order puts an exact match first. */
export function listUsersByPrefix(db: Db, prefix: string, max = PREFIX_SEARCH_MAX): Promise<FoundUser[]> {
  const folded = sql<string>`(lower(username) collate "C")`
  return db
    .selectFrom('account')
    .select(['id', 'username', 'avatar_url'])
    .where(folded, 'like', `${likeEscaped(prefix)}%`)
    .where('deletion_due', 'is', null)
    .orderBy(folded)
    .limit(max)
    .execute()
}

/** Returns the query for the projects to whose own team an account belongs and that the viewer sees in lists, newest first. */
export function listedProjectsOf(db: Db, viewer: Viewer | null, accountId: string) {
  return listedProjects(db, viewer).where('project.team_id', 'in', acceptedTeams(db, accountId))
}

export async function listProjectIdsOf(db: Db, viewer: Viewer | null, accountId: string): Promise<string[]> {
  return (await listedProjectsOf(db, viewer, accountId).execute()).map(({ id }) => id)
}

/** Returns the query for the projects of an organization that the viewer sees in lists, newest first. */
export function listedProjectsOfOrganization(db: Db, viewer: Viewer | null, organizationId: string) {
  return listedProjects(db, viewer).where('project.organization_id', '=', organizationId)
}

/** Returns the IDs of the projects of these organizations that the viewer sees in lists, newest first. */
export async function listOrganizationProjectIds(
  db: Db,
  viewer: Viewer | null,
  organizationIds: readonly string[],
): Promise<string[]> {
  if (organizationIds.length === 0) return []
  const projects = listedProjects(db, viewer).where('project.organization_id', 'in', organizationIds)
  return (await projects.execute()).map(({ id }) => id)
}

function listedProjects(db: Db, viewer: Viewer | null) {
  return db
    .selectFrom('project')
    .select('project.id')
    .where(listedFor(viewer))
    .orderBy('project.published', 'desc')
    .orderBy('project.id')
}

/** Returns the IDs of the organizations of which an account is an accepted member, oldest first. */
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

/** Returns the IDs of the projects whose team this account owns. */
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
