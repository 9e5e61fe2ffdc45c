// The token endpoints that applications call: exchange, introspection, revocation. Responses must not be cached.

import formbody from '@fastify/formbody'
import { scopeNames } from '#features/basics/access/scopes.ts'
import { openScope } from '#platform/http/mounts.ts'
import { Empty, sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { authenticateClient } from './authenticate-client.ts'
import { exchangeCode, TOKEN_LIFETIME_MS } from './exchange-code.ts'
import { OAuthError, OAuthErrorAnswers, sendOAuthError } from './oauth-error.ts'
import { findToken } from './queries.ts'
import { optionalField, readVerifier, requiredField, TokenForm, TokenQueryForm } from './requests.ts'
import { revokeToken } from './revoke-token.ts'
import { AccessToken, TokenState, toTokenState } from './views.ts'

const consumes = ['application/x-www-form-urlencoded']
const config = { auth: 'public', withoutPage: 'For programs that a user has authorized' } as const

const FORM_BYTES_MAX = 32 * 1024

export function tokenRoutes(app: App, deps: Deps): void {
  withForms(app, (scope) => {
    exchangeRoute(scope, deps)
    stateRoutes(scope, deps)
  })
}

/** Registers routes whose bodies are forms and whose errors have OAuth's format. */
function withForms(app: App, routes: (scope: App) => void): void {
  openScope(app, async (scope) => {
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: FORM_BYTES_MAX })
    scope.setErrorHandler((error: Error, _req, reply) => sendOAuthError(error, reply))
    routes(scope)
  })
}

function exchangeRoute(app: App, deps: Deps): void {
  app.post('/oauth/token', {
    config: {
      ...config,
      errors: ['400 invalid_grant', '400 invalid_request', '400 unsupported_grant_type', '401 invalid_client'],
    },
    attachValidation: true,
    schema: {
      operationId: 'exchangeCode',
      summary: 'Exchange an authorization code for an access token',
      consumes,
      body: TokenForm,
      response: { 200: AccessToken, ...OAuthErrorAnswers },
    },
    handler: async (req, reply) => {
      const { body: form } = req
      const clientId = await authenticateClient(deps.db, req)
      if ((optionalField(form, 'grant_type') ?? 'authorization_code') !== 'authorization_code')
        throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code')
      const { token, scopes } = await exchangeCode(deps, {
        clientId,
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
  })
}

function stateRoutes(app: App, deps: Deps): void {
  app.post('/oauth/introspect', {
    config: { ...config, whenReadOnly: 'answers', errors: ['400 invalid_request', '401 invalid_client'] },
    attachValidation: true,
    schema: {
      operationId: 'introspectToken',
      summary: 'Introspect a token of the application (RFC 7662)',
      consumes,
      body: TokenQueryForm,
      response: { 200: TokenState, ...OAuthErrorAnswers },
    },
    handler: async (req) => {
      const clientId = await authenticateClient(deps.db, req)
      return toTokenState(await findToken(deps.db, requiredField(req.body, 'token')), clientId, deps.now())
    },
  })
  app.post('/oauth/revoke', {
    config: { ...config, errors: ['400 invalid_request', '400 unauthorized_client', '401 invalid_client'] },
    attachValidation: true,
    schema: {
      operationId: 'revokeToken',
      summary: 'Revoke a token of the application (RFC 7009)',
      description: 'Returns 200 without a body, also if the token does not exist.',
      consumes,
      body: TokenQueryForm,
      response: { 200: Empty, ...OAuthErrorAnswers },
    },
    handler: async (req, reply) => {
      const clientId = await authenticateClient(deps.db, req)
      await revokeToken(deps, { clientId, text: requiredField(req.body, 'token') })
      return sendRaw(reply.status(200), '')
    },
  })
}
