// The limits of an account, and the amount that it has stored.
import { sql } from 'kysely'
import { getQuota, QUOTA_KINDS, type Quota, type QuotaKind } from '#features/basics/limits/quota.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Deps } from '#ports/deps.ts'

/** `override`: the limit that an operator has set for the account, if any. */
export type AccountLimits = Record<QuotaKind, Quota & { override: number | null }> & {
  /** Number and size of the versions and files in the projects that the account owns. */
  versions: number
  bytes: number
}

export async function getAccountLimits(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  { id, role }: AccountRow,
): Promise<AccountLimits> {
  const override = await db
    .selectFrom('quota_override')
    .select([...QUOTA_KINDS])
    .where('account_id', '=', id)
    .executeTakeFirst()
  const limitOf = async (kind: QuotaKind) => ({
    ...(await getQuota(db, config, { id, role: role as 'developer' }, kind)),
    override: override?.[kind] ?? null,
  })
  const { rows } = await sql<{ versions: number; bytes: number }>`
    select count(distinct version.id)::int as versions, coalesce(sum(file.size_bytes), 0)::float8 as bytes
    from team_member join project using (team_id) join version on version.project_id = project.id
      left join file on file.version_id = version.id
    where team_member.account_id = ${id} and team_member.is_owner`.execute(db)
  return {
    projects: await limitOf('projects'),
    organizations: await limitOf('organizations'),
    collections: await limitOf('collections'),
    versions: rows[0]?.versions ?? 0,
    bytes: rows[0]?.bytes ?? 0,
  }
}
