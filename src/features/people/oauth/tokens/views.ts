// Response schemas of the token endpoints and of the server metadata.

import Type, { type Static } from 'typebox'
import { scopeNames } from '#features/basics/access/scopes.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import type { TokenRow } from './queries.ts'

export const AccessToken = NamedObject('OAuthAccessToken', {
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Lifetime of the token in seconds' }),
  scope: Type.String({ description: 'Scope names, separated by spaces' }),
})
/** Only `active` is always present (RFC 7662). */
export const TokenState = NamedObject('OAuthTokenState', {
  active: Type.Boolean(),
  scope: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  username: Type.Optional(Type.String({ description: 'Username; only if the token has the scope USER_READ' })),
  sub: Type.Optional(Type.String({ description: 'ID of the account; only if the token has the scope USER_READ' })),
  token_type: Type.Optional(Type.Literal('Bearer')),
  exp: Type.Optional(Type.Integer({ description: 'Time of expiry, in seconds since 1970' })),
  iat: Type.Optional(Type.Integer({ description: 'Time of issue, in seconds since 1970' })),
})
type TokenState = Static<typeof TokenState>

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** Maps a token for the application `clientId`. A token that is not its own valid token is only reported as inactive. */
export function toTokenState(row: TokenRow | undefined, clientId: string, now: number): TokenState {
  if (row === undefined || row.client_id !== clientId || row.expires.getTime() <= now) return { active: false }
  const scopes = scopeNames(row.scopes)
  return {
    active: true,
    scope: scopes.join(' '),
    client_id: row.client_id,
    ...(scopes.includes('USER_READ') ? { username: row.username, sub: row.account_id } : {}),
    token_type: 'Bearer',
    exp: seconds(row.expires),
    iat: seconds(row.created),
  }
}

const Names = Type.Array(Type.String())
/** Server metadata (RFC 8414). */
export const Metadata = NamedObject('OAuthServerMetadata', {
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  introspection_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  scopes_supported: Names,
  response_types_supported: Names,
  response_modes_supported: Names,
  grant_types_supported: Names,
  token_endpoint_auth_methods_supported: Names,
  introspection_endpoint_auth_methods_supported: Names,
  revocation_endpoint_auth_methods_supported: Names,
  code_challenge_methods_supported: Names,
  authorization_response_iss_parameter_supported: Type.Boolean(),
  service_documentation: Type.String(),
})
