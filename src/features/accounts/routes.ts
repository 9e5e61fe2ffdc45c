// Accounts: signing up and in, passwords, addresses, second factors, sessions and access tokens. See docs/accounts.md.
import { mountInternal } from '#http/mounts.ts'
import type { App } from '#http/server.ts'
import { accessTokenRoutes } from './access-tokens/routes.ts'
import type { AccountDeps } from './account-deps.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { createPasswords } from './passwords.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { createSignInGuard } from './sign-in-guard.ts'
import { signUpRoutes } from './sign-up/routes.ts'
import { twoFactorRoutes } from './two-factor/routes.ts'

export function accountRoutes(app: App, deps: Omit<AccountDeps, 'passwords' | 'guard'>): void {
  const passwords = createPasswords()
  app.addHook('onClose', () => passwords.close())
  const shared: AccountDeps = { ...deps, passwords, guard: createSignInGuard(deps) }
  mountInternal(app, (scope) => {
    signUpRoutes(scope, shared)
    signInRoutes(scope, shared)
    credentialRoutes(scope, shared)
    twoFactorRoutes(scope, shared)
    sessionRoutes(scope, shared)
    accessTokenRoutes(scope, shared)
  })
}
