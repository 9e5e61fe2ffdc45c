// The endpoints that applications call themselves: token, introspection, revocation. Forms in, JSON out, never kept.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { Empty } from '#http/answers.ts'
import type { App } from '#http/server.ts'
import { scopeNames } from '#lib/scopes.ts'
import { URL_LENGTH_MAX } from '#lib/text-rules.ts'
import type { Deps } from '#main/deps.ts'
import { authenticateClient } from './authenticate-client.ts'
import { exchangeCode, TOKEN_LIFETIME_MS } from './exchange-code.ts'
import { optionalField, requiredField } from './form.ts'
import { withForms } from './form-routes.ts'
import { OAuthError, OAuthErrorAnswers } from './oauth-error.ts'
import { describeToken, revokeToken } from './token-state.ts'

const consumes = ['application/x-www-form-urlencoded']
const config = { auth: 'public' } as const
/** RFC 7636, 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

// Described for readers; the handlers read the form by the rules of RFC 6749, which has its own words for faults.
const credentials = {
  client_id: Type.Optional(Type.String({ maxLength: 64, description: 'Unless the Authorization header is Basic' })),
  client_secret: Type.Optional(Type.String({ maxLength: 512, description: 'Or in the Authorization header' })),
}
const TokenForm = Type.Object({
  ...credentials,
  code: Type.String({ maxLength: 128 }),
  redirect_uri: Type.String({ maxLength: URL_LENGTH_MAX, description: 'As it was given to authorize' }),
  grant_type: Type.Optional(Type.Literal('authorization_code')),
  code_verifier: Type.Optional(Type.String({ maxLength: 128 })),
})
const HeldToken = Type.Object({
  ...credentials,
  token: Type.String({ maxLength: 512 }),
  token_type_hint: Type.Optional(Type.String({ maxLength: 64 })),
})

const AccessToken = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    scope: Type.String({ description: 'Names separated by spaces' }),
  },
  { title: 'OAuthAccessToken' },
)
const TokenState = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    username: Type.Optional(Type.String({ description: 'With USER_READ' })),
    sub: Type.Optional(Type.String({ description: "The account's ID, with USER_READ" })),
    token_type: Type.Optional(Type.Literal('Bearer')),
    exp: Type.Optional(Type.Integer({ description: 'Seconds since 1970' })),
    iat: Type.Optional(Type.Integer({ description: 'Seconds since 1970' })),
  },
  { title: 'OAuthTokenState' },
)

export function tokenRoutes(app: App, deps: Deps): void {
  withForms(app, (scope) => {
    exchangeRoute(scope, deps)
    stateRoutes(scope, deps)
  })
}

function exchangeRoute(app: App, deps: Deps): void {
  app.post(
    '/oauth/token',
    {
      config,
      attachValidation: true,
      schema: {
        operationId: 'exchangeCode',
        summary: 'Exchange a code for an access token',
        consumes,
        body: TokenForm,
        response: { 200: AccessToken, ...OAuthErrorAnswers },
      },
    },
    async (req, reply) => {
      const { body: form } = req
      const client = await authenticateClient(deps.db, { form, authorization: req.headers.authorization })
      if ((optionalField(form, 'grant_type') ?? 'authorization_code') !== 'authorization_code') {
        throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code')
      }
      const { token, scopes } = await exchangeCode(deps, {
        client,
        code: requiredField(form, 'code'),
        redirectUri: requiredField(form, 'redirect_uri'),
        verifier: readVerifier(form),
      })
      return reply
        .header('cache-control', 'no-store')
        .header('pragma', 'no-cache')
        .send({
          access_token: token,
          token_type: 'Bearer' as const,
          expires_in: TOKEN_LIFETIME_MS / 1000,
          scope: scopeNames(scopes).join(' '),
        })
    },
  )
}

function readVerifier(form: unknown): string | undefined {
  const verifier = optionalField(form, 'code_verifier')
  if (verifier !== undefined && !VERIFIER.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'code_verifier must be 43 to 128 letters, digits, dots, underscores, tildes or hyphens',
    )
  }
  return verifier
}

function stateRoutes(app: App, deps: Deps): void {
  app.post(
    '/oauth/introspect',
    {
      config,
      attachValidation: true,
      schema: {
        operationId: 'introspectToken',
        summary: 'Ask whether a token of the application is valid, and for what (RFC 7662)',
        consumes,
        body: HeldToken,
        response: { 200: TokenState, ...OAuthErrorAnswers },
      },
    },
    async (req) => {
      const { body: form } = req
      const client = await authenticateClient(deps.db, { form, authorization: req.headers.authorization })
      return describeToken(deps.db, client, { text: requiredField(form, 'token'), now: deps.now() })
    },
  )
  app.post(
    '/oauth/revoke',
    {
      config,
      attachValidation: true,
      schema: {
        operationId: 'revokeToken',
        summary: 'End a token of the application (RFC 7009)',
        description: 'Answers 200 without a body, also for what is no token any more.',
        consumes,
        body: HeldToken,
        response: { 200: Empty, ...OAuthErrorAnswers },
      },
    },
    async (req, reply) => {
      const { body: form } = req
      const client = await authenticateClient(deps.db, { form, authorization: req.headers.authorization })
      const text = requiredField(form, 'token')
      await transaction(deps, (tx, changed) => revokeToken(tx, changed, { client, text }))
      return reply.status(200).send('' as never)
    },
  )
}
