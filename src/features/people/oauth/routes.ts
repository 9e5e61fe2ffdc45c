// The OAuth 2.0 routes. See docs/api/oauth.md.
import { GRANTABLE_SCOPES, isScopeSubset, SCOPES } from '#features/basics/access/scopes.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { applicationRoutes, userApplicationRoutes } from './applications/routes.ts'
import { authorizationRoutes } from './authorizations/routes.ts'
import { authorizeRoutes } from './authorize/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { Metadata } from './tokens/views.ts'

export function oauthRoutes(app: App, deps: Deps): void {
  // Existing clients also call these routes below the prefix of the public API.
  mountInternal(
    app,
    (scope) => {
      applicationRoutes(scope, deps)
      authorizeRoutes(scope, deps)
      tokenRoutes(scope, deps)
      authorizationRoutes(scope, deps)
    },
    { alsoUnder: ['/v3'] },
  )
  userApplicationRoutes(app, deps)
  metadataRoutes(app, deps)
}

/** Registers the metadata of the server for clients (RFC 8414). */
function metadataRoutes(app: App, { config }: Pick<Deps, 'config'>): void {
  const issuer = config.http.baseUrl
  // One URL per endpoint. The routes under the other prefixes are identical.
  const endpoint = (name: string): string => `${issuer}/v2/_internal/oauth/${name}`
  const methods = ['client_secret_basic', 'client_secret_post', 'none']
  const metadata = {
    issuer,
    authorization_endpoint: endpoint('authorize'),
    token_endpoint: endpoint('token'),
    introspection_endpoint: endpoint('introspect'),
    revocation_endpoint: endpoint('revoke'),
    scopes_supported: SCOPES.filter(
      ({ value, group }) => group !== 'Reserved' && isScopeSubset(value, GRANTABLE_SCOPES),
    ).map(({ name }) => name),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs/swagger-ui`,
  }
  app.get('/.well-known/oauth-authorization-server', {
    config: { auth: 'public', cache: 'shared', withoutPage: 'For programs and monitoring' },
    schema: {
      operationId: 'getOAuthMetadata',
      summary: 'Get the OAuth 2.0 server metadata (RFC 8414)',
      response: { 200: Metadata },
    },
    handler: async () => metadata,
  })
}
