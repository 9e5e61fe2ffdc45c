// Tokens of a code host that stand for linked accounts: deprecated, kept for programs that have nothing else.
// Off unless the operator names the host.

import { GRANTABLE_SCOPES } from '#lib/access/scopes.ts'
import { hashToken } from '#lib/access/tokens.ts'
import type { Role, Viewer } from '#lib/access/viewer.ts'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

/** How long an answer of the host counts. */
const ANSWER_LIFETIME_MS = 5 * MINUTE_MS
const ANSWER_MS = 5_000
const REQUESTS_AT_ONCE = 8
const WAITING_MAX = 100

/** What can be sent as a header; no token of a host has anything else in it. */
const TOKEN_FORM = /^[\x21-\x7e]{1,512}$/

/** Whose account at the host a token belongs to; null when the host does not know it. */
type Answer = { id: string; hostId: string | null }

// The ID is the token's hash and the span of time in which the answer counts; in a new span the host is asked again.
const ANSWER = { name: 'code-host-answer' as const, idOf: (answer: Answer) => answer.id, sizeOf: () => 150 }

export type CodeHost = {
  /** The caller a token stands for; undefined for a text that is no token of the host. */
  authenticate(token: string): Promise<Omit<Viewer, 'caller' | 'address'> | 'invalid' | undefined>
  /** Whose the token is at the host; undefined when it is nobody's. */
  identify(token: string): Promise<string | undefined>
}

/**
 * Undefined where no host is configured. Both functions throw ApiError 424 when the host does not answer. Tokens that
 * a host gives to applications are not accepted: the operator of any such application could use the tokens of its users
 * here.
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
  const answers = cache.kind(ANSWER)
  const limiter = createLimiter({ running: REQUESTS_AT_ONCE, waiting: WAITING_MAX, refuse: () => noAnswer() })
  const isOfHost = (token: string) =>
    codeHostPrefixes.some((prefix) => token.startsWith(prefix)) && TOKEN_FORM.test(token)
  const identify = async (token: string): Promise<string | undefined> => {
    if (!isOfHost(token)) return undefined
    const id = `${hashToken(token).toString('hex')}:${Math.floor(now() / ANSWER_LIFETIME_MS)}`
    const answer = await answers.get(id, async () => [
      { id, hostId: await limiter.run(() => ask(codeHostApiUrl, token)) },
    ])
    return answer?.hostId ?? undefined
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
async function ask(apiUrl: string, token: string): Promise<string | null> {
  try {
    const answer = await fetch(`${apiUrl}/user`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'Depot' },
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (answer.status === 401 || (answer.status === 403 && !isRefusedForNow(answer.headers))) return null
    if (!answer.ok) throw new Error(`The code host answered ${answer.status}`)
    const body: unknown = await answer.json()
    const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined
    if (!Number.isSafeInteger(id) && (typeof id !== 'string' || id === ''))
      throw new Error('The code host answered without an ID')
    return String(id)
  } catch (cause) {
    throw noAnswer(cause)
  }
}

/** A host may also answer 403 to too many requests, which says nothing about the token. */
function isRefusedForNow(headers: Headers): boolean {
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
}

function noAnswer(cause?: unknown): ApiError {
  return new ApiError('external_service_error', 'The code host does not answer. Please try again later.', { cause })
}

async function findViewer(db: Db, hostId: string, now: Date): Promise<Omit<Viewer, 'caller' | 'address'> | undefined> {
  const row = await db
    .selectFrom('account')
    .select(['id', 'role', 'email_verified'])
    .where('code_host_id', '=', hostId)
    .where('deletion_due', 'is', null)
    .where((eb) => eb.or([eb('suspended_at', 'is', null), eb('suspended_until', '<=', now)]))
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    id: row.id,
    role: row.role as Role,
    emailVerified: row.email_verified,
    scopes: GRANTABLE_SCOPES,
    token: { kind: 'code-host', id: hostId },
  }
}
