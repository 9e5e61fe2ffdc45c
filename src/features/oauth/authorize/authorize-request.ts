// The question an application asks by sending a person to `authorize`: read, and held against what the application
// may ask. Faults that concern the person (who asks, where would he be sent) are thrown; the others are told to the
// application, at an address that is known to be its own (RFC 6749, 4.1.2.1).
import type { Db } from '#db/db.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { isScopeSubset, parseScopeNames, type ScopeBits } from '#lib/scopes.ts'
import { isStorable, URL_LENGTH_MAX } from '#lib/text-rules.ts'
import { type Application, findApplication } from '../applications/queries.ts'
import { matchesRedirectUri } from '../applications/redirect-uri.ts'

/** A query as it was parsed: a parameter that came twice is a list. */
export type AuthorizeQuery = Record<string, unknown>

export type AuthorizeRequest = {
  application: Application
  redirectUri: string
  scopes: ScopeBits
  state: string | null
  codeChallenge: string | null
}

export type RedirectFault = {
  redirectUri: string
  state: string | null
  error: 'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'access_denied'
  description: string
}

export const STATE_LENGTH_MAX = 2048
/** SHA-256 as base64url without padding (RFC 7636, 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/**
 * @throws ApiError 404 for an unknown application, 400 for an address that is none of its own: whoever asks is then
 * told so here, and nobody is sent anywhere.
 */
export async function readAuthorizeRequest(db: Db, query: AuthorizeQuery): Promise<AuthorizeRequest | RedirectFault> {
  const clientId = parseId(requireText(query, 'client_id'), 'client_id')
  const redirectUri = requireText(query, 'redirect_uri')
  const application = await findApplication(db, clientId)
  if (application === undefined) throw notFound('application')
  if (!application.redirect_uris.some(({ uri }) => matchesRedirectUri(uri, redirectUri))) {
    throw invalidInput('redirect_uri is none of the addresses that the application has registered', 'redirect_uri')
  }
  return readRest(query, application, redirectUri)
}

function requireText(query: AuthorizeQuery, name: string): string {
  const value = query[name]
  if (value === undefined || value === '') throw invalidInput(`${name} is required`, name)
  if (typeof value !== 'string') throw invalidInput(`${name} may come only once`, name)
  if (value.length > URL_LENGTH_MAX) throw invalidInput(`${name} is longer than ${URL_LENGTH_MAX} characters`, name)
  return value
}

function readRest(
  query: AuthorizeQuery,
  application: Application,
  redirectUri: string,
): AuthorizeRequest | RedirectFault {
  const {
    state = null,
    response_type: type = 'code',
    scope,
    code_challenge: challenge = null,
    code_challenge_method: method,
  } = query
  const isState = (value: unknown): value is string | null =>
    value === null || (typeof value === 'string' && value.length <= STATE_LENGTH_MAX && isStorable(value))
  const fault = (error: RedirectFault['error'], description: string): RedirectFault => ({
    redirectUri,
    state: isState(state) ? state : null,
    error,
    description,
  })
  for (const name of ['state', 'response_type', 'scope', 'code_challenge', 'code_challenge_method']) {
    if (Array.isArray(query[name])) return fault('invalid_request', `${name} may come only once`)
  }
  if (!isState(state)) return fault('invalid_request', `state must be a text of at most ${STATE_LENGTH_MAX} characters`)
  if (type !== 'code') return fault('unsupported_response_type', 'response_type must be code')
  const challengeFault = faultOfChallenge(application, challenge, method)
  if (challengeFault !== undefined) return fault('invalid_request', challengeFault)
  const scopes = readScopes(application, scope)
  if (typeof scopes === 'string') return fault('invalid_scope', scopes)
  return { application, redirectUri, scopes, state, codeChallenge: challenge as string | null }
}

function faultOfChallenge(application: Application, challenge: unknown, method: unknown): string | undefined {
  if (challenge === null) {
    if (method !== undefined) return 'code_challenge_method without code_challenge'
    return application.secret_hash === null ? 'code_challenge is required of applications without a secret' : undefined
  }
  // `plain`, which an absent method means, protects against nobody who can read the request.
  if (method !== 'S256') return 'code_challenge_method must be S256'
  return CHALLENGE.test(String(challenge)) ? undefined : 'code_challenge must be 43 characters of base64url'
}

/** The scopes, or what is wrong with them. Absent means the most the application may have; empty means none. */
function readScopes({ max_scopes: most }: Application, scope: unknown): ScopeBits | string {
  if (scope === undefined) return most
  const { bits, unknown } = parseScopeNames(String(scope))
  if (unknown.length > 0) return 'scope has words that name no scope'
  return isScopeSubset(bits, most) ? bits : 'scope goes beyond what the application may ask'
}
