// Limits for the projects, organizations and collections that an account owns. Invitations, memberships and the
// projects of organizations do not count.
import { type RawBuilder, sql } from 'kysely'
import { requireApproved } from '#features/basics/access/email-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { DB } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'

export const QUOTA_KINDS = ['projects', 'organizations', 'collections'] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

/** The number of resources that an account owns and its limit; null without a limit. */
export type Quota = { current: number; max: number | null }

type QuotaConfig = Pick<Deps['config'], 'quotas'>
type Owner = Pick<Viewer, 'id' | 'role'>

/** Returns the current quota without a lock. Use `checkQuota` to enforce it. */
export async function getQuota(db: Db, config: QuotaConfig, owner: Owner, kind: QuotaKind): Promise<Quota> {
  const { rows } = await sql<{ current: number; override: number | null }>`
    select ${countOwned(owner.id, kind)} as current,
      (select ${sql.ref(kind)} from quota_override where account_id = ${owner.id}) as override`.execute(db)
  const row = rows[0]
  // Admins have no limits.
  const max = owner.role === 'admin' ? null : (row?.override ?? config.quotas[kind])
  return { current: row?.current ?? 0, max }
}

/**
 * Requires that the account is approved, and room for one more resource. Locks the account until the transaction ends, so that
 * concurrent creations count each other. @throws ApiError 403, `limit_reached`.
 */
export async function checkQuota(tx: Tx, config: QuotaConfig, owner: Owner, kind: QuotaKind): Promise<void> {
  const account = await tx
    .selectFrom('account')
    .select('awaits_approval')
    .where('id', '=', owner.id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  requireApproved({ ...owner, awaitsApproval: account?.awaits_approval === true })
  if (kind === 'projects' && owner.role === 'developer') await requireFirstProjects(tx, owner.id)
  const { current, max } = await getQuota(tx, config, owner, kind)
  if (max !== null && current >= max) {
    throw new ApiError('limit_reached', `You have reached your limit for ${kind} (${max})`, {
      details: { kind, current, max },
    })
  }
}

/** A new author can create a limited number of projects per day, until one is approved. @throws ApiError `limit_reached`. */
async function requireFirstProjects(tx: Tx, accountId: string): Promise<void> {
  const { rows } = await sql<{ max: number; recent: number }>`
    with own as (select project.published, project.approved from team_member join project using (team_id)
      where account_id = ${accountId} and is_owner)
    select first_projects_per_day as max, (select count(*)::int from own where published > now() - interval '1 day') as recent
    from instance_settings
    where first_projects_per_day is not null and not exists (select from own where approved is not null)`.execute(tx)
  const [row] = rows
  if (row === undefined || row.recent < row.max) return
  throw new ApiError(
    'limit_reached',
    `A new author can create ${row.max === 1 ? 'one project' : `${row.max} projects`} per day until a moderator approves a project. Try again tomorrow.`,
    { details: { kind: 'projects', current: row.recent, max: row.max } },
  )
}

type RoomLimit = { table: keyof DB; max: number; things: string; remedy?: string }

/**
 * Requires that an account, which the caller has locked, has fewer than `max` rows in a table. `things` names the rows.
 * @throws ApiError `limit_reached`.
 */
export async function requireRoom(
  tx: Tx,
  accountId: string,
  { table, max, things, remedy = 'Delete one first.' }: RoomLimit,
): Promise<void> {
  const { rows } = await sql`
    select from ${sql.table(table)} where account_id = ${accountId} offset ${max - 1} limit 1`.execute(tx)
  if (rows.length === 0) return
  throw new ApiError('limit_reached', `An account can have at most ${max} ${things}. ${remedy}`)
}

function countOwned(accountId: string, kind: QuotaKind): RawBuilder<number> {
  if (kind === 'collections') return sql<number>`(select count(*) from collection where account_id = ${accountId})`
  const owned = sql.table(kind === 'projects' ? 'project' : 'organization')
  return sql<number>`(select count(*) from team_member inner join ${owned} owned on owned.team_id = team_member.team_id
    where team_member.account_id = ${accountId} and team_member.is_owner)`
}
