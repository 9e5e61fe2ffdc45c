// How many projects, organizations and collections an account may own. Only owned ones count: invitations and
// memberships do not, and what an organization owns counts for nobody.
import { type RawBuilder, sql } from 'kysely'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { isUnlimited } from './policy.ts'

export const QUOTA_KINDS = ['projects', 'organizations', 'collections'] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

/** What an account owns and may own; `max` is null where there is no limit. */
export type Quota = { current: number; max: number | null }

type QuotaConfig = Pick<Deps['config'], 'quotas'>
type Owner = Pick<Viewer, 'id' | 'role'>

/** As things are; only `checkQuota` holds what it counted. */
export async function getQuota(db: Db, config: QuotaConfig, owner: Owner, kind: QuotaKind): Promise<Quota> {
  const { rows } = await sql<{ current: number; override: number | null }>`
    select ${countOwned(owner.id, kind)} as current,
      (select ${sql.ref(kind)} from quota_override where account_id = ${owner.id}) as override`.execute(db)
  const row = rows[0]
  const max = isUnlimited(owner) ? null : (row?.override ?? config.quotas[kind])
  return { current: row?.current ?? 0, max }
}

/**
 * Lets one more thing of this kind be made in this transaction. The account's row stays locked until it ends, so that
 * of two creations at once the second counts what the first has made.
 * @throws ApiError `limit_reached`.
 */
export async function checkQuota(tx: Tx, config: QuotaConfig, owner: Owner, kind: QuotaKind): Promise<void> {
  await tx.selectFrom('account').select('id').where('id', '=', owner.id).forNoKeyUpdate().execute()
  const { current, max } = await getQuota(tx, config, owner, kind)
  if (max !== null && current >= max) {
    throw new ApiError('limit_reached', `You own ${current} ${kind} and may own ${max}`, {
      details: { kind, current, max },
    })
  }
}

function countOwned(accountId: string, kind: QuotaKind): RawBuilder<number> {
  if (kind === 'collections') {
    return sql<number>`(select count(*) from collection where account_id = ${accountId})`
  }
  const owned = sql.table(kind === 'projects' ? 'project' : 'organization')
  return sql<number>`(select count(*) from team_member inner join ${owned} owned on owned.team_id = team_member.team_id
    where team_member.account_id = ${accountId} and team_member.is_owner)`
}
