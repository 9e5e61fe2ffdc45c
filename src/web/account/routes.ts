// The pages a person needs: signing up and in, consent, settings. They work without scripts, use the commands of the
// API, and have no rule of their own. See docs/pages.md.
import type { App } from '#platform/http/server.ts'
import { assetRoutes } from '#web/kit/asset-routes.ts'
import { takeForms } from '#web/kit/forms.ts'
import { createPages, type PageDeps } from '#web/kit/page-request.ts'
import { preferencesRoute } from '#web/kit/preferences.ts'
import { protectPages } from '#web/kit/safety.ts'
import { createSessionCookie } from '#web/kit/session-cookie.ts'
import { applicationPages } from './access/applications.ts'
import { authorizationPages } from './access/authorizations.ts'
import { authorizePages } from './access/authorize.ts'
import { tokenPages } from './access/tokens.ts'
import { accountDataPages } from './settings/account-data.ts'
import { confirmPages } from './settings/confirm.ts'
import { profilePages } from './settings/profile.ts'
import { securityPages } from './settings/security.ts'
import { sessionPages } from './settings/sessions.ts'
import { twoFactorPages } from './settings/two-factor.ts'
import { firstAdminPages } from './sign-in/first-admin.ts'
import { passwordPages } from './sign-in/passwords.ts'
import { signInPages } from './sign-in/sign-in.ts'
import { signUpPages } from './sign-in/sign-up.ts'

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
