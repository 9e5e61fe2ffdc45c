// Parses and validates the request of an application for authorization. An invalid application or redirect URI throws an
// error for the user. All other errors are sent to the redirect URI of the application (RFC 6749, 4.1.2.1).
import Type from 'typebox'
import { isScopeSubset, readScopeNames, type ScopeBits } from '#features/basics/access/scopes.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { Id } from '#lib/schema/schema-parts.ts'
import { isStorable, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import type { Db } from '#platform/db/db.ts'
import { type Application, findApplication } from '../applications/queries.ts'
import { matchesRedirectUri } from '../applications/redirect-uri.ts'
import type { ConsentRequest } from './queries.ts'

/** Path of the page on which a user answers the request of an application. */
export const AUTHORIZE_PAGE = '/account/authorize'

const STATE_LENGTH_MAX = 2048

export const AuthorizeQueryFields = Type.Object({
  client_id: Id('ID of the application'),
  redirect_uri: Type.String({ maxLength: URL_LENGTH_MAX, description: 'Registered redirect URI of the application' }),
  scope: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'Scope names such as `USER_READ`, separated by spaces or `+`. Default: all scopes that the application can request',
    }),
  ),
  state: Type.Optional(
    Type.String({ maxLength: STATE_LENGTH_MAX, description: 'Value that only this browser knows; returned unchanged' }),
  ),
  response_type: Type.Optional(Type.Literal('code', { description: 'Must be `code`' })),
  code_challenge: Type.Optional(
    Type.String({
      maxLength: 43,
      description: 'PKCE challenge (RFC 7636): SHA-256 hash of the verifier. Required for public clients',
    }),
  ),
  code_challenge_method: Type.Optional(Type.Literal('S256', { description: 'Must be `S256`' })),
})

export const ConsentAnswer = Type.Object({ flow: Type.String({ maxLength: 128 }) })

/** A parsed query. A repeated parameter is a list. */
export type AuthorizeQuery = Record<string, unknown>

export type AuthorizeRequest = Omit<ConsentRequest, 'client_id' | 'account_id'> & { application: Application }

export type RedirectError = Pick<ConsentRequest, 'redirect_uri' | 'state'> & {
  error: 'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'access_denied'
  description: string
}

/** SHA-256 as base64url without padding (RFC 7636, 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/**
 * Parses an authorization request.
 * @throws ApiError 404 for an unknown application, 400 for a redirect URI that is not registered. The server must then
 * show the error and not redirect the user.
 */
export async function readAuthorizeRequest(db: Db, query: AuthorizeQuery): Promise<AuthorizeRequest | RedirectError> {
  const clientId = parseId(requireText(query, 'client_id'), 'client_id')
  const redirectUri = requireText(query, 'redirect_uri')
  const application = await findApplication(db, clientId)
  if (application === undefined) throw notFound('application')
  if (!application.redirect_uris.some(({ uri }) => matchesRedirectUri(uri, redirectUri)))
    throw invalidInput('redirect_uri is not a registered redirect URI of the application', 'redirect_uri')
  return readRest(query, application, redirectUri)
}

function requireText(query: AuthorizeQuery, name: string): string {
  const value = query[name]
  if (value === undefined || value === '') throw invalidInput(`${name} is required`, name)
  if (typeof value !== 'string') throw invalidInput(`${name} must be set only once`, name)
  if (value.length > URL_LENGTH_MAX) throw invalidInput(`${name} is longer than ${URL_LENGTH_MAX} characters`, name)
  return value
}

function readRest(
  query: AuthorizeQuery,
  application: Application,
  redirect_uri: string,
): AuthorizeRequest | RedirectError {
  const {
    state = null,
    response_type: type = 'code',
    scope,
    code_challenge: challenge = null,
    code_challenge_method: method,
  } = query
  const isState = (value: unknown): value is string | null =>
    value === null || (typeof value === 'string' && value.length <= STATE_LENGTH_MAX && isStorable(value))
  const reject = (error: RedirectError['error'], description: string): RedirectError => ({
    redirect_uri,
    state: isState(state) ? state : null,
    error,
    description,
  })
  for (const name of ['state', 'response_type', 'scope', 'code_challenge', 'code_challenge_method']) {
    if (Array.isArray(query[name])) return reject('invalid_request', `${name} must be set only once`)
  }
  if (!isState(state)) return reject('invalid_request', `state must have at most ${STATE_LENGTH_MAX} characters`)
  if (type !== 'code') return reject('unsupported_response_type', 'response_type must be code')
  const problem = problemOfChallenge(application, challenge, method)
  if (problem !== undefined) return reject('invalid_request', problem)
  const scopes = readScopes(application, scope)
  if (typeof scopes === 'string') return reject('invalid_scope', scopes)
  return { application, redirect_uri, scopes, state, code_challenge: challenge as string | null }
}

function problemOfChallenge(application: Application, challenge: unknown, method: unknown): string | undefined {
  if (challenge === null) {
    if (method !== undefined) return 'code_challenge_method must be set only with code_challenge'
    return application.secret_hash === null ? 'code_challenge is required for applications without a secret' : undefined
  }
  // A missing method means `plain`, which does not protect against an attacker who can read the request.
  if (method !== 'S256') return 'code_challenge_method must be S256'
  return CHALLENGE.test(String(challenge)) ? undefined : 'code_challenge must be 43 characters of base64url'
}

/** Returns the scopes, or an error message. A missing parameter means all allowed scopes; an empty one means none. */
function readScopes({ max_scopes: allowed }: Application, scope: unknown): ScopeBits | string {
  if (scope === undefined) return allowed
  const words = String(scope).split(/[ +]/)
  const { bits, unknown } = readScopeNames(words.filter((word) => word !== ''))
  if (unknown.length > 0) return 'scope contains unknown names; names are in capitals and separated by spaces'
  return isScopeSubset(bits, allowed) ? bits : 'scope contains scopes that the application cannot request'
}
