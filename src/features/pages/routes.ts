// The pages a person needs: signing up and in, consent, settings. They work without scripts, use the commands of the
// API, and have no rule of their own. See docs/pages.md.
import type { App } from '#http/server.ts'
import { accountDataPages } from './account-data.ts'
import { applicationPages } from './applications.ts'
import { assetRoutes } from './assets.ts'
import { authorizationPages } from './authorizations.ts'
import { authorizePages } from './authorize.ts'
import { takeForms } from './forms.ts'
import { createPages, type PageDeps } from './page-kit.ts'
import { protectPages } from './page-safety.ts'
import { passwordPages } from './passwords.ts'
import { profilePages } from './profile.ts'
import { createRender } from './render.ts'
import { securityPages } from './security.ts'
import { createSessionCookie } from './session-cookie.ts'
import { sessionPages } from './sessions.ts'
import { signInPages } from './sign-in.ts'
import { signUpPages } from './sign-up.ts'
import { tokenPages } from './tokens.ts'
import { twoFactorPages } from './two-factor.ts'

export function pageRoutes(app: App, given: Omit<PageDeps, 'cookie' | 'render'>): void {
  const { config } = given.deps
  const kit: PageDeps = { ...given, cookie: createSessionCookie(config), render: createRender() }
  assetRoutes(app)
  app.register(async (plain) => {
    const scope = plain as App
    await takeForms(scope)
    await protectPages(scope, config)
    const pages = createPages(scope, kit)
    signUpPages(pages, kit)
    signInPages(pages, kit)
    passwordPages(pages, kit)
    authorizePages(pages, kit)
    profilePages(pages, kit)
    securityPages(pages, kit)
    twoFactorPages(pages, kit)
    sessionPages(pages, kit)
    tokenPages(pages, kit)
    applicationPages(pages, kit)
    authorizationPages(pages, kit)
    accountDataPages(pages, kit)
    pages.finish()
  })
}
