import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { QuotaKind } from '#features/basics/limits/quota.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'

/** Limits of an account; null: the limit of the instance. */
export type LimitOverride = Record<QuotaKind, number | null>

/** Sets the limits of an account, which keeps its present resources. @throws ApiError 404, 403 for the placeholder account. */
export async function setLimits(
  deps: Pick<Deps, 'db' | 'cache'>,
  actor: Actor,
  { name, limits }: { name: string; limits: LimitOverride },
): Promise<void> {
  const { id } = requireAdministrable(await getAccountByName(deps.db, name))
  await transaction(deps, async (tx) => {
    await lockAccount(tx, id)
    await tx
      .insertInto('quota_override')
      .values({ account_id: id, ...limits })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(limits))
      .execute()
    const subject = { kind: 'user', id } as const
    await recordAudit(tx, { action: 'account.limits_changed', actor, subject, details: limits })
  })
}
