import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { countGrants, existsToken, GRANTS_MAX, insertGrant } from './queries.ts'
import type { GrantSubject } from './requests.ts'

/** `rateGrants` holds the grants in memory; `refresh` reads them again. */
export type RateLimitDeps = Pick<Deps, 'db' | 'cache' | 'now'> & { rateGrants: { refresh(): Promise<void> } }

/**
 * Grants a request rate and returns the ID of the grant. It is in force in this process when this returns, in others
 * within seconds.
 * @throws ApiError `validation_error` for an unknown token, `conflict` where there is a grant.
 */
export async function createRateLimit(
  deps: RateLimitDeps,
  actor: Actor,
  { subject, requestsPerMinute, note }: { subject: GrantSubject; requestsPerMinute: number; note: string },
): Promise<string> {
  const id = newId()
  await transaction(deps, async (tx, changed) => {
    changed.addAll('rate-grant')
    if ('tokenId' in subject && !(await existsToken(tx, subject.tokenId))) {
      throw validationError('token_id', 'names no token')
    }
    // Two inserts at once may pass the limit by one, which does no harm.
    if ((await countGrants(tx)) >= GRANTS_MAX) throw invalidInput(`There may be at most ${GRANTS_MAX} rate limits`)
    await insertGrant(tx, { id, subject, requestsPerMinute, note, created: new Date(deps.now()) })
    const details = { requests_per_minute: requestsPerMinute, ...detailsOf(subject) }
    await recordAudit(tx, { action: 'rate_limit.granted', actor, subject: { kind: 'rate_limit', id }, details })
  })
  await deps.rateGrants.refresh()
  return id
}

function detailsOf(subject: GrantSubject): Record<string, string> {
  return 'tokenId' in subject ? { token_id: subject.tokenId } : { address_range: subject.addressRange }
}
