// The pages a person needs: signing up and in, consent, settings. They work without scripts, use the commands of the
// API, and have no rule of their own. See docs/pages.md.
import type { App } from '#platform/http/server.ts'
import { accountDataPages } from './account-data.ts'
import { applicationPages } from './applications.ts'
import { assetRoutes } from './asset-routes.ts'
import { authorizationPages } from './authorizations.ts'
import { authorizePages } from './authorize.ts'
import { confirmPages } from './confirm.ts'
import { firstAdminPages } from './first-admin.ts'
import { takeForms } from './forms.ts'
import { createPages, type PageDeps } from './page-request.ts'
import { protectPages } from './page-safety.ts'
import { passwordPages } from './passwords.ts'
import { preferencesRoute } from './preferences.ts'
import { profilePages } from './profile.ts'
import { securityPages } from './security.ts'
import { createSessionCookie } from './session-cookie.ts'
import { sessionPages } from './sessions.ts'
import { signInPages } from './sign-in.ts'
import { signUpPages } from './sign-up.ts'
import { tokenPages } from './tokens.ts'
import { twoFactorPages } from './two-factor.ts'

export function pageRoutes(app: App, given: Omit<PageDeps, 'cookie'>): void {
  const { config } = given.deps
  const { site } = given
  const all: PageDeps = { ...given, cookie: createSessionCookie(config) }
  assetRoutes(app, site.assets)
  app.register(async (plain) => {
    const scope = plain as App
    await takeForms(scope)
    await protectPages(scope, config)
    preferencesRoute(scope, { config, site })
    const pages = createPages(scope, all)
    signUpPages(pages, all)
    firstAdminPages(pages, all)
    signInPages(pages, all)
    passwordPages(pages, all)
    authorizePages(pages, all)
    profilePages(pages, all)
    securityPages(pages, all)
    twoFactorPages(pages, all)
    confirmPages(pages, all)
    sessionPages(pages, all)
    tokenPages(pages, all)
    applicationPages(pages, all)
    authorizationPages(pages, all)
    accountDataPages(pages, all)
    pages.finish()
  })
}
