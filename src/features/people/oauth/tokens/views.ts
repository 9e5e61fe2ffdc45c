import Type, { type Static } from 'typebox'

export const AccessToken = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    scope: Type.String({ description: 'Names separated by spaces' }),
  },
  { title: 'OAuthAccessToken' },
)
/** Absent fields are unknown to the application, or none of its business (RFC 7662). */
export const TokenState = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    username: Type.Optional(Type.String({ description: 'Present if the token has USER_READ' })),
    sub: Type.Optional(Type.String({ description: 'ID of the account; present if the token has USER_READ' })),
    token_type: Type.Optional(Type.Literal('Bearer')),
    exp: Type.Optional(Type.Integer({ description: 'Seconds since 1970' })),
    iat: Type.Optional(Type.Integer({ description: 'Seconds since 1970' })),
  },
  { title: 'OAuthTokenState' },
)
export type TokenState = Static<typeof TokenState>
