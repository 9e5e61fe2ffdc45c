// Routes of the exchange, which a build calls without credentials of Depot.
import { tokenText, unauthenticated } from '#features/basics/authentication/access-control.ts'
import { describeClient } from '#features/basics/discovery/routes.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type ExchangeDeps, endPublisherToken, exchangeToken } from './exchange-token.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { REFUSALS } from './refusal.ts'
import { BuildToken } from './requests.ts'
import { PublisherToken, PublishingMetadata } from './views.ts'

export function exchangeRoutes(app: App, deps: Omit<ExchangeDeps, 'keys'>): void {
  const { baseUrl } = deps.config.http
  app.get('/.well-known/depot-publishing', {
    config: { auth: 'public', cache: 'shared', withoutPage: 'For programs that have a token' },
    schema: {
      operationId: 'getPublishingMetadata',
      summary: 'Get the audience, the endpoint and the client for builds',
      response: { 200: PublishingMetadata },
    },
    handler: async () => ({
      audience: deps.config.ci.audience,
      token_endpoint: `${baseUrl}/_internal/oidc/token`,
      client: await describeClient(baseUrl),
    }),
  })
  const keys = createIssuerKeys(deps.now)
  mountInternal(app, (scope) => {
    scope.post('/oidc/token', {
      config: {
        auth: 'public',
        cost: COSTS.password,
        errors: ['424 auth_error'],
        withoutPage: 'For programs that have a token',
      },
      schema: {
        operationId: 'exchangeBuildToken',
        summary: 'Exchange the token of a build for a token that publishes',
        description: `For trusted publishers. A rejected token is 400 with \`details.code\`: ${REFUSALS.map((code) => `\`${code}\``).join(', ')}. If the keys of the build service cannot be read, the response is 424.`,
        body: BuildToken,
        response: { 200: PublisherToken },
      },
      handler: async (req) => {
        const { token, project } = req.body
        return exchangeToken({ ...deps, keys }, { text: token.trim(), project, address: req.clientAddress })
      },
    })
    scope.delete('/oidc/token', {
      config: { auth: 'public', errors: ['401 unauthorized'], withoutPage: 'For programs that have a token' },
      schema: {
        operationId: 'endPublisherToken',
        summary: "End the build's token before it expires",
        description: 'The token is in the header `Authorization`.',
      },
      handler: async (req) => {
        const text = tokenText(req)
        if (text === undefined) throw unauthenticated('A token in the Authorization header is required')
        await endPublisherToken(deps.db, text)
      },
    })
  })
}
