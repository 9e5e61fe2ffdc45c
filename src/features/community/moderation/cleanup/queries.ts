// The accounts of a cleanup with their content.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Account, CleanedAccount } from '#platform/db/schema.ts'
import { HAS_PUBLISHED } from '../accounts/queries.ts'
import type { CleanupFacts } from './policy.ts'

type Named = { id: string; name: string }
/** Public content of an account. `projects` includes those under review and those of `organizations`. */
export type Content = {
  projects: (Named & { slug: string; status: string })[]
  collections: (Named & { status: string })[]
  /** The organizations of which the account is the only member. */
  organizations: Named[]
  /** The open reports about the account and its projects; missing in cleanups of earlier releases. */
  reports?: ReportedItem[]
}
type ReportedItem = { id: string; report_type: string; item_type: string }
export type Target = CleanupFacts &
  Pick<Selectable<Account>, 'username' | 'bio' | 'avatar_url' | 'raw_avatar_url' | 'email_verified'> &
  Pick<Selectable<Account>, 'suspended_at' | 'suspended_until' | 'suspension_reason'> & { content: Content }

/** Statuses of projects that only members and moderators see. */
const HIDDEN = sql.raw(`('draft', 'rejected')`)

/** The organizations of `account` without another member. */
const OWN_ORGANIZATIONS = sql`
  select organization.id, organization.name from team_member own join organization using (team_id)
  where own.account_id = account.id and own.is_owner and not organization.hidden and not exists (
    select from team_member other where other.team_id = organization.team_id and other.account_id <> account.id
      and other.accepted)`

/** Returns the accounts with these IDs and their content, in the order of their names, in one statement. */
export async function listTargets(db: Db, ids: readonly string[]): Promise<Target[]> {
  const { rows } = await sql<Target>`
    select id, username, role, service_of, deletion_due, bio, avatar_url, raw_avatar_url, email_verified, suspended_at,
      suspended_until, suspension_reason, ${HAS_PUBLISHED} as published,
      exists (select from cleaned_account where account_id = account.id) as cleaned,
      jsonb_build_object(
        'projects', (select coalesce(jsonb_agg(jsonb_build_object('id', project.id, 'slug', slug, 'name', project.name,
            'status', status) order by project.name), '[]')
          from project where status not in ${HIDDEN} and (team_id in (
              select team_id from team_member where account_id = account.id and is_owner)
            or organization_id in (select owned.id from (${OWN_ORGANIZATIONS}) owned))),
        'collections', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'status', status)
            order by name), '[]') from collection where account_id = account.id and status in ('listed', 'unlisted')),
        'organizations', (select coalesce(jsonb_agg(jsonb_build_object('id', owned.id, 'name', owned.name)
            order by owned.name), '[]') from (${OWN_ORGANIZATIONS}) owned),
        'reports', (select coalesce(jsonb_agg(jsonb_build_object('id', report.id, 'report_type', report_type,
            'item_type', item_type) order by report.created, report.id), '[]')
          from report left join version on version.id = report.version_id
          where not report.closed and (report.account_id = account.id or coalesce(report.project_id, version.project_id) in (
            select project.id from project where team_id in (
                select team_id from team_member where account_id = account.id and is_owner)
              or organization_id in (select owned.id from (${OWN_ORGANIZATIONS}) owned))))
      ) as content
    from account where id = any(${[...ids]}::text[]) order by lower(username)`.execute(db)
  return rows
}

/**
 * Locks the accounts with their projects and organizations, in the order of all transactions. Rows that are added before the
 * accounts are locked are locked by the second pass; if that causes a deadlock, the transaction is repeated.
 */
export async function lockTargets(tx: Tx, ids: readonly string[]): Promise<void> {
  await lockContent(tx, ids)
  await sql`select from account where id = any(${[...ids]}::text[]) order by id for no key update`.execute(tx)
  await lockContent(tx, ids)
}

async function lockContent(tx: Tx, ids: readonly string[]): Promise<void> {
  const teams = sql`select team_id from team_member where account_id = any(${[...ids]}::text[]) and is_owner`
  await sql`select from project where team_id in (${teams})
    or organization_id in (select id from organization where team_id in (${teams})) order by id for update`.execute(tx)
  await sql`select from organization where team_id in (${teams}) order by id for update`.execute(tx)
}

export type CleanedRow = Omit<Selectable<CleanedAccount>, 'content'> & { content: Content; username: string }

/** Returns the accounts of a cleanup with their values before it. */
export async function listCleaned(db: Db, cleanupId: string): Promise<CleanedRow[]> {
  const rows = await db
    .selectFrom('cleaned_account')
    .innerJoin('account', 'account.id', 'cleaned_account.account_id')
    .selectAll('cleaned_account')
    .select('account.username')
    .where('cleanup_id', '=', cleanupId)
    .orderBy('account_id')
    .execute()
  return rows.map((row) => ({ ...row, content: row.content as Content }))
}

export type CleanupRow = { id: string; action: string; created: Date; moderator: string | null; accounts: number }

/** Returns the cleanups since a time, newest first. */
export async function listCleanups(db: Db, since: Date): Promise<CleanupRow[]> {
  const { rows } = await sql<CleanupRow>`
    select cleanup.id, action, cleanup.created, username as moderator,
      (select count(*)::int from cleaned_account where cleanup_id = cleanup.id) as accounts
    from account_cleanup cleanup left join account on account.id = actor_id
    where cleanup.created > ${since} order by cleanup.created desc, cleanup.id limit 100`.execute(db)
  return rows
}
