import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { countGrants, existsToken, GRANTS_MAX, insertGrant } from './queries.ts'
import type { GrantSubject } from './requests.ts'

/** `rateGrants` caches the grants in memory; `refresh` reads them again. */
export type RateLimitDeps = Pick<Deps, 'db' | 'cache' | 'now'> & { rateGrants: { refresh(): Promise<void> } }

/**
 * Grants a request rate and returns the ID of the grant. The grant applies immediately in this process and within
 * seconds in the others.
 * @throws ApiError `validation_error` for an unknown token, `conflict` if the subject has a grant.
 */
export async function createRateLimit(
  deps: RateLimitDeps,
  actor: Actor,
  { subject, requestsPerMinute, note }: { subject: GrantSubject; requestsPerMinute: number; note: string },
): Promise<string> {
  const id = newId()
  await transaction(deps, async (tx, changed) => {
    changed.addAll('rate-grant')
    if ('tokenId' in subject && !(await existsToken(tx, subject.tokenId)))
      throw validationError('token_id', 'must be the ID of a token')
    // Concurrent inserts can exceed the limit by one, which is harmless.
    if ((await countGrants(tx)) >= GRANTS_MAX) throw invalidInput(`There can be at most ${GRANTS_MAX} rate limits`)
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
