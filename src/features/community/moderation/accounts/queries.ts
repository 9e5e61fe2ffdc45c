// The list of accounts for moderators, with the facts by which they recognize accounts that belong together.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { HAS_SECOND_FACTOR } from '#features/basics/access/accounts.ts'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { listAccountFigures } from '#features/people/accounts/administration/queries.ts'
import { describeUserAgent } from '#features/people/accounts/sessions/user-agent.ts'
import { type AccountRow, likeEscaped, suspendedAt } from '#features/people/users/queries.ts'
import { countRows, type Db, type Page } from '#platform/db/db.ts'
import type { AccountFilter, AccountOrder } from './requests.ts'

export type Origin = { event: 'sign_up' | 'sign_in'; at: Date; address_range: string; device: string | null }
export type ListedAccount = AccountRow & {
  projects: number
  publicProjects: number
  seen: Date | null
  origins: Origin[]
}

/** SQL condition: a project of `account`, or of an organization that the account owns, was ever approved. */
export const HAS_PUBLISHED = sql<SqlBool>`exists (
  select from team_member own left join organization on organization.team_id = own.team_id
    join project on project.team_id = own.team_id or project.organization_id = organization.id
  where own.account_id = account.id and own.is_owner and project.approved is not null)`

const ORDERS: Readonly<Record<AccountOrder, RawBuilder<unknown>>> = {
  newest: sql`account.created desc, account.id`,
  oldest: sql`account.created, account.id`,
  name: sql`lower(account.username), account.id`,
  seen: sql`(select at from account_origin where account_id = account.id and event = 'sign_in') desc nulls last,
    account.created desc, account.id`,
}

/** `searchesEmail`: whether the text can be part of an email address. */
type Reading = { searchesEmail: boolean; now: Date }

/** Returns one page of the accounts that match, with their facts, and the total number. */
export async function listFilteredAccounts(
  db: Db,
  { filter, sort, limit, offset }: { filter: AccountFilter; sort: AccountOrder } & Page,
  reading: Reading,
): Promise<{ accounts: ListedAccount[]; total: number }> {
  const matching = db.selectFrom('account').where(matches(filter, reading))
  const rows = await matching.selectAll('account').orderBy(ORDERS[sort]).limit(limit).offset(offset).execute()
  const total = await countRows(matching)
  return { accounts: await withFacts(db, rows, reading.now), total }
}

/** Adds the figures and the origins of accounts, with two statements. */
export async function withFacts(db: Db, rows: readonly AccountRow[], now: Date): Promise<ListedAccount[]> {
  const ids = rows.map(({ id }) => id)
  const figures = await listAccountFigures(db, ids, now)
  const origins = await listOrigins(db, ids)
  return rows.map((row) => {
    const { projects = 0, publicProjects = 0, seen = null } = figures.get(row.id) ?? {}
    return { ...row, projects, publicProjects, seen, origins: origins.get(row.id) ?? [] }
  })
}

async function listOrigins(db: Db, ids: readonly string[]): Promise<Map<string, Origin[]>> {
  const { rows } = await sql<{ account_id: string; user_agent: string } & Omit<Origin, 'device'>>`
    select account_id, event, at, address_range::text as address_range, user_agent from account_origin
    where account_id = any(${[...ids]}::text[]) order by at desc`.execute(db)
  return Map.groupBy(
    rows.map(({ user_agent, ...row }) => ({ ...row, device: deviceOf(user_agent) })),
    ({ account_id }) => account_id,
  )
}

/** Returns the program and the system of a User-Agent, such as `Firefox, Linux`. */
export function deviceOf(userAgent: string): string | null {
  const { os, platform } = describeUserAgent(userAgent)
  return [platform, os].filter((part) => part !== null).join(', ') || null
}

function matches(filter: AccountFilter, { searchesEmail, now }: Reading): RawBuilder<SqlBool> {
  const conditions: RawBuilder<SqlBool>[] = [sql`account.id <> ${PLACEHOLDER_ID}`]
  const add = (condition: RawBuilder<SqlBool>) => conditions.push(condition)
  const { text, role, suspended, waiting, published, two_factor, from, before, address_range, email_domain } = filter
  if (text !== undefined) {
    const pattern = `%${likeEscaped(text)}%`
    const inEmail = searchesEmail ? sql`or lower(account.email) like ${pattern}` : sql``
    add(sql`(lower(account.username) like ${pattern} or account.id = ${text} ${inEmail})`)
  }
  if (role !== undefined) add(sql`account.role = ${role}`)
  if (suspended !== undefined) add(sql`${suspendedAt(now)} = ${suspended}`)
  if (waiting !== undefined) add(sql`account.awaits_approval = ${waiting}`)
  if (published !== undefined) add(sql`${HAS_PUBLISHED} = ${published}`)
  if (two_factor !== undefined) add(sql`${HAS_SECOND_FACTOR} = ${two_factor}`)
  if (from !== undefined) add(sql`account.created >= ${from}`)
  if (before !== undefined) add(sql`account.created < ${before}`)
  if (email_domain !== undefined)
    add(sql`lower(split_part(account.email, '@', 2)) = ${email_domain} and account.email is not null`)
  if (address_range !== undefined)
    add(sql`exists (select from account_origin origin where origin.account_id = account.id
      and origin.address_range && network(${address_range}::inet))`)
  return sql`(${sql.join(conditions, sql` and `)})`
}
