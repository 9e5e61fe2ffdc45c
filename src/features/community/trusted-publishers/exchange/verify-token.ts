// Verifies a token of a build service. Each step fails closed, and the order decides which error the caller gets.
import type { compactVerify } from 'jose'
import { ApiError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import type { CiIssuer } from '#platform/config/ci-issuers.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { RefusedToken } from './refusal.ts'

const TOKEN_LENGTH_MAX = 8 * 1024
const ID_LENGTH_MAX = 512
const LEEWAY_S = 30
const LIFETIME_MAX_S = DAY_MS / 1000
const FORBIDDEN_HEADERS = ['jku', 'x5u', 'jwk', 'x5c', 'crit']

export type VerifiedToken = {
  issuer: CiIssuer
  payload: Readonly<Record<string, unknown>>
  tokenId: string
  /** Until when a second use must be recognized. */
  rememberUntil: Date
}

export type VerifyOptions = { issuers: readonly CiIssuer[]; audience: string; keys: IssuerKeys; now: number }

/** @throws RefusedToken with the first problem; ApiError 424 if the keys of the issuer cannot be read. */
export async function verifyToken(
  text: string,
  { issuers, audience, keys, now }: VerifyOptions,
): Promise<VerifiedToken> {
  const { header, claimed } = await parse(text)
  const issuer = issuers.find((each) => each.issuer === claimed['iss'])
  if (issuer === undefined) {
    const allowed = issuers.map((each) => each.issuer).join(', ')
    throw new RefusedToken('unknown_issuer', `The issuer is not one that this instance accepts: ${allowed}`)
  }
  const facts = { issuer: issuer.issuer }
  if (!issuer.algorithms.includes(header.alg)) {
    const allowed = issuer.algorithms.join(', ')
    throw new RefusedToken('malformed', `The algorithm of the token must be one of ${allowed}`, facts)
  }
  const set = await keys.get(issuer.issuer, header.kid)
  if (set === 'unavailable')
    throw new ApiError('external_service_error', `The keys of ${issuer.name} cannot be read. Try again later.`)
  if (set === 'unknown')
    throw new RefusedToken('unknown_key', `${issuer.name} has no key with the ID of the token`, facts)
  const payload = await readSigned(text, { find: set.find, algorithms: issuer.algorithms }, facts)
  const aud = payload['aud']
  if (aud !== audience) {
    const actual = typeof aud === 'string' ? `, not ${aud.slice(0, 200)}` : ''
    throw new RefusedToken('audience', `The audience must be exactly ${audience}${actual}`, facts)
  }
  const expires = checkTimes(payload, { issuer, nowS: now / 1000 })
  const tokenId = payload['jti']
  if (typeof tokenId !== 'string' || tokenId === '' || tokenId.length > ID_LENGTH_MAX)
    throw new RefusedToken('malformed', 'The token must have an ID (jti)', facts)
  return { issuer, payload, tokenId, rememberUntil: new Date((expires + LEEWAY_S + 5) * 1000) }
}

type Parsed = { header: { alg: string; kid: string }; claimed: Record<string, unknown> }

async function parse(text: string): Promise<Parsed> {
  if (text.length > TOKEN_LENGTH_MAX) throw new RefusedToken('malformed', 'The token is longer than 8 KiB')
  if (text.split('.').length !== 3) throw new RefusedToken('malformed', 'The token must have three parts')
  // Only instances with trusted publishers need the library.
  const { decodeJwt, decodeProtectedHeader } = await import('jose')
  let header: Record<string, unknown>
  let claimed: Record<string, unknown>
  try {
    header = decodeProtectedHeader(text) as Record<string, unknown>
    claimed = decodeJwt(text)
  } catch {
    throw new RefusedToken('malformed', 'The token is not a signed JSON Web Token')
  }
  const { alg, kid } = header
  if (typeof alg !== 'string') throw new RefusedToken('malformed', 'The token names no algorithm')
  if (alg === 'none' || alg.startsWith('HS'))
    throw new RefusedToken('malformed', `The algorithm ${alg.slice(0, 16)} is not allowed`)
  if (typeof kid !== 'string' || kid === '' || kid.length > ID_LENGTH_MAX)
    throw new RefusedToken('malformed', 'The token names no key (kid)')
  const forbidden = FORBIDDEN_HEADERS.find((name) => name in header)
  if (forbidden !== undefined) throw new RefusedToken('malformed', `The header ${forbidden} is not allowed`)
  return { header: { alg, kid }, claimed }
}

async function readSigned(
  text: string,
  { find, algorithms }: { find: Parameters<typeof compactVerify>[1]; algorithms: readonly string[] },
  facts: { issuer: string },
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { payload } = await (await import('jose')).compactVerify(text, find as never, { algorithms: [...algorithms] })
    return JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>
  } catch {
    throw new RefusedToken('signature', 'The signature of the token is not valid', facts)
  }
}

/** Returns when the token expires, in seconds. */
function checkTimes(
  payload: Readonly<Record<string, unknown>>,
  { issuer, nowS }: { issuer: CiIssuer; nowS: number },
): number {
  const facts = { issuer: issuer.issuer }
  const { exp, iat, nbf } = payload
  if (typeof exp !== 'number' || typeof iat !== 'number' || (nbf !== undefined && typeof nbf !== 'number'))
    throw new RefusedToken('malformed', 'The token must have the times exp and iat as numbers', facts)
  if (exp + LEEWAY_S <= nowS) throw new RefusedToken('expired', 'The token has expired', facts)
  if (exp - iat > LIFETIME_MAX_S) throw new RefusedToken('expired', 'The token is valid for more than 24 hours', facts)
  if (iat - LEEWAY_S > nowS || (nbf !== undefined && nbf - LEEWAY_S > nowS))
    throw new RefusedToken('not_yet_valid', 'The token is not valid yet', facts)
  if (nowS - iat > issuer.maxAgeSeconds + LEEWAY_S) {
    const minutes = issuer.maxAgeSeconds / 60
    throw new RefusedToken(
      'expired',
      `The token was issued more than ${minutes} minutes ago. Request a new token`,
      facts,
    )
  }
  return exp
}
