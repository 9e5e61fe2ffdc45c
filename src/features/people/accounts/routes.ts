// The routes of accounts, except those of operators. See docs/api/accounts.md.
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import { accessTokenRoutes } from './access-tokens/routes.ts'
import type { AccountDeps } from './account-deps.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { passkeyRoutes } from './passkeys/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { signUpRoutes } from './sign-up/routes.ts'
import { termsRoutes } from './terms/routes.ts'
import { twoFactorRoutes } from './two-factor/routes.ts'

/** Clients of the v2 API call these routes without `_internal` in the path. */
const ALSO_UNDER = ['/v2']

export function accountRoutes(app: App, deps: AccountDeps): void {
  const routes = (scope: App): void => {
    signUpRoutes(scope, deps)
    signInRoutes(scope, deps)
    credentialRoutes(scope, deps)
    twoFactorRoutes(scope, deps)
    passkeyRoutes(scope, deps)
    providerRoutes(scope, deps)
    sessionRoutes(scope, deps)
    accessTokenRoutes(scope, deps)
    termsRoutes(scope, deps)
  }
  mountInternal(app, routes, { alsoUnder: ALSO_UNDER })
}
