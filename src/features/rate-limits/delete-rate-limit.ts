import { transaction } from '#cache/transaction.ts'
import { notFound } from '#lib/errors.ts'
import type { RateLimitDeps } from './create-rate-limit.ts'
import { deleteGrant } from './queries.ts'

/** Takes a granted request rate back. @throws ApiError 404 when there is none. */
export async function deleteRateLimit(deps: RateLimitDeps, id: string): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    changed.addAll('rate-grant')
    if (!(await deleteGrant(tx, id))) throw notFound('rate limit')
  })
  await deps.rateGrants.refresh()
}
