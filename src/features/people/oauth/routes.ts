// The OAuth 2.0 routes. See docs/features/oauth.md.
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { applicationRoutes, userApplicationRoutes } from './applications/routes.ts'
import { authorizationRoutes } from './authorizations/routes.ts'
import { authorizeRoutes } from './authorize/routes.ts'
import { metadataRoutes } from './metadata-routes.ts'
import { tokenRoutes } from './tokens/routes.ts'

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
