import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { RateLimitDeps } from './create-rate-limit.ts'
import { deleteGrant } from './queries.ts'

/** Revokes a granted request rate. @throws ApiError 404. */
export async function deleteRateLimit(deps: RateLimitDeps, actor: Actor, id: string): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    changed.addAll('rate-grant')
    if (!(await deleteGrant(tx, id))) throw notFound('rate limit')
    await recordAudit(tx, { action: 'rate_limit.revoked', actor, subject: { kind: 'rate_limit', id } })
  })
  await deps.rateGrants.refresh()
}
