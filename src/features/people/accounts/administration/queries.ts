// Queries for the administration of accounts.
import { sql } from 'kysely'
import { type AccountRow, suspendedAt } from '#features/people/users/queries.ts'
import type { Db, Page } from '#platform/db/db.ts'
import type { SessionRow } from '../sessions/views.ts'

/** Returns the accounts that are suspended at `now`, newest suspension first. */
export function listSuspended(db: Db, now: Date, { limit, offset }: Page): Promise<AccountRow[]> {
  return db
    .selectFrom('account')
    .selectAll()
    .where(suspendedAt(now))
    .where('deletion_due', 'is', null)
    .orderBy('suspended_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** Returns the sessions of an account that have not expired or can be refreshed, last used first: at most 100. */
export function listUserSessions(
  db: Db,
  { accountId, now }: { accountId: string; now: number },
): Promise<SessionRow[]> {
  return db
    .selectFrom('session')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('refresh_expires', '>', new Date(now))
    .orderBy('last_login', 'desc')
    .orderBy('id')
    .execute()
}

/** Returns the oldest organizations of which an account is an accepted member: at most 50. */
export function listOrganizationsOf(db: Db, accountId: string): Promise<{ name: string; slug: string }[]> {
  return db
    .selectFrom('organization')
    .innerJoin('team_member', 'team_member.team_id', 'organization.team_id')
    .select(['organization.name', 'organization.slug'])
    .where('team_member.account_id', '=', accountId)
    .where('team_member.accepted', '=', true)
    .orderBy('organization.created')
    .orderBy('organization.id')
    .limit(50)
    .execute()
}

/** Sessions, tokens and projects of an account. */
export type AccountFigures = {
  sessions: number
  tokens: number
  projects: number
  publicProjects: number
  seen: Date | null
}

/** Returns the figures of accounts by their IDs, in one statement. */
export async function listAccountFigures(
  db: Db,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, AccountFigures>> {
  const { rows } = await sql<AccountFigures & { id: string }>`
    select listed.id,
      (select count(*) from session where account_id = listed.id and refresh_expires > ${now})::int as sessions,
      ((select count(*) from personal_access_token where account_id = listed.id and expires > ${now})
        + (select count(*) from oauth_token where account_id = listed.id and expires > ${now}))::int as tokens,
      owned.projects, owned.public_projects as "publicProjects",
      greatest((select max(last_login) from session where account_id = listed.id),
        -- Sessions end, for example with a suspension.
        (select max(at) from audit_entry where actor_id = listed.id
          and action in ('account.created', 'account.signed_in'))) as seen
    from unnest(${ids}::text[]) as listed (id), lateral (
      select count(*)::int as projects, count(*) filter (where status in ('approved', 'archived'))::int as public_projects
      from team_member join project using (team_id) where account_id = listed.id and is_owner) owned`.execute(db)
  return new Map(rows.map(({ id, ...figures }) => [id, figures]))
}

export type SignedIn = { id: string; username: string; role: string; sessions: number; seen: Date }

/** Returns the accounts with sessions that have not expired, last seen first, and their total number. */
export async function listSignedIn(
  db: Db,
  { now, limit }: { now: Date; limit: number },
): Promise<{ accounts: SignedIn[]; total: number }> {
  const { rows } = await sql<SignedIn & { total: number }>`
    select account.id, account.username, account.role, count(*)::int as sessions, max(session.last_login) as seen,
      (count(*) over ())::int as total
    from session join account on account.id = session.account_id
    where session.refresh_expires > ${now}
    group by account.id order by seen desc, account.id limit ${limit}`.execute(db)
  return { accounts: rows.map(({ total: _, ...account }) => account), total: rows[0]?.total ?? 0 }
}
