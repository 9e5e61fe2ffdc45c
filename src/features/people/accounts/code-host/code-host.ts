// Accepts the tokens of a code host as credentials of linked accounts. Deprecated, for programs that have no access
// token. Disabled unless the operator configures a host.

import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import type { ForeignCaller } from '#features/basics/authentication/token-directory.ts'
import { hashToken } from '#lib/access/tokens.ts'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

const TIMEOUT_MS = 5_000
const CONCURRENT_REQUESTS = 8
const WAITING_MAX = 100

/** Characters that are allowed in a header. All tokens of code hosts match. */
const TOKEN_FORM = /^[\x21-\x7e]{1,512}$/

/** The ID of a token's owner at the host, by the token's hash; null if the host rejects the token. */
const TOKEN_OWNER = defineCache<RememberDefinition<string | null>>({
  name: 'code-host-answer',
  contains: 'Account at the code host that a token belongs to',
  maxAgeMs: 5 * MINUTE_MS,
  maxBytes: 4 * MIB,
  sizeOf: (id) => id?.length ?? 0,
})

export type CodeHost = {
  /** Returns the caller with this token; `invalid` if it is rejected, undefined if it is not a token of the host. */
  authenticate(token: string): Promise<ForeignCaller | 'invalid' | undefined>
  /** Returns the ID of the token's owner at the host; undefined if the token is not valid. */
  identify(token: string): Promise<string | undefined>
}

/**
 * Returns undefined if no host is configured. Both functions throw ApiError 424 if the host does not respond. Tokens
 * that the host issues to applications are not accepted, because any such application could impersonate its users here.
 */
export function createCodeHost({
  db,
  cache,
  config,
  now,
  codeHostPrefixes,
}: Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'codeHostPrefixes'>): CodeHost | undefined {
  const { codeHostApiUrl } = config.accounts
  if (codeHostApiUrl === undefined) return undefined
  const owners = cache.remember(TOKEN_OWNER)
  const limiter = createLimiter({ running: CONCURRENT_REQUESTS, waiting: WAITING_MAX, refuse: () => noResponse() })
  const isOfHost = (token: string) =>
    codeHostPrefixes.some((prefix) => token.startsWith(prefix)) && TOKEN_FORM.test(token)
  const identify = async (token: string): Promise<string | undefined> => {
    if (!isOfHost(token)) return undefined
    const key = hashToken(token).toString('hex')
    return (await owners.get(key, () => limiter.run(() => fetchOwnerId(codeHostApiUrl, token)))) ?? undefined
  }
  return {
    identify,
    authenticate: async (token) => {
      if (!isOfHost(token)) return undefined
      const hostId = await identify(token)
      return (hostId === undefined ? undefined : await findViewer(db, hostId, new Date(now()))) ?? 'invalid'
    },
  }
}

/** @throws ApiError 424 */
async function fetchOwnerId(apiUrl: string, token: string): Promise<string | null> {
  try {
    const response = await fetch(`${apiUrl}/user`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'Depot' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.status === 401 || (response.status === 403 && !isRateLimited(response.headers))) return null
    if (!response.ok) throw new Error(`The code host returned ${response.status}`)
    const body: unknown = await response.json()
    const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined
    if (!Number.isSafeInteger(id) && (typeof id !== 'string' || id === ''))
      throw new Error('The code host returned no ID')
    return String(id)
  } catch (cause) {
    throw noResponse(cause)
  }
}

/** Returns whether the host returned 403 because of too many requests, which does not concern the token. */
function isRateLimited(headers: Headers): boolean {
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
}

function noResponse(cause?: unknown): ApiError {
  return new ApiError('external_service_error', 'The code host does not respond. Try again later.', { cause })
}

async function findViewer(db: Db, hostId: string, now: Date): Promise<ForeignCaller | undefined> {
  const row = await db
    .selectFrom('account')
    .select(['id', 'email_verified', 'awaits_approval'])
    .where('code_host_id', '=', hostId)
    .where('deletion_due', 'is', null)
    .where((eb) => eb.or([eb('suspended_at', 'is', null), eb('suspended_until', '<=', now)]))
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { id, email_verified: emailVerified, awaits_approval: awaitsApproval } = row
  return { id, emailVerified, awaitsApproval, scopes: GRANTABLE_SCOPES, token: { kind: 'code-host', id: hostId } }
}
