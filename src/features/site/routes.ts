// The public web site: every address that people open, and the old ones that lead there. docs/site.md tells how a page is
// written.
import { takeForms } from '#features/pages/forms.ts'
import { protectPages } from '#features/pages/page-safety.ts'
import { createSessionCookie } from '#features/pages/session-cookie.ts'
import type { App } from '#http/server.ts'
import { absent, showSiteError } from './error-page.ts'
import { showHome } from './home.ts'
import { showList } from './list.ts'
import { createTexts, type SiteDeps, type SiteRequest, sitePage } from './page.ts'
import { listPath, offeredTypes, SEARCH } from './paths.ts'
import { setupRoute } from './setup.ts'

export function siteRoutes(app: App, given: Pick<SiteDeps, 'deps' | 'tokens' | 'site'>): void {
  const { deps, site } = given
  const texts = createTexts(deps)
  const all: SiteDeps = { ...given, texts, cookie: createSessionCookie(deps.config) }
  app.addHook('onClose', () => texts.close())
  app.register(async (plain) => {
    const scope = plain as App
    await takeForms(scope)
    await protectPages(scope, deps.config)
    scope.setErrorHandler((thrown: Error, req, reply) => showSiteError(all, thrown, req, reply))
    setupRoute(scope, { config: deps.config, taxonomy: deps.taxonomy, site })
    listPages(scope, all)
    sitePage(scope, all, '/', { name: 'siteHome', prefers: 'html' }, showHome)
    sitePage(scope, all, '/*', { name: 'siteAbsent', prefers: 'html' }, async () => absent())
  })
}

function listPages(app: App, all: SiteDeps): void {
  const types = offeredTypes(all.deps.taxonomy)
  for (const type of types) {
    sitePage(app, all, listPath(type), { name: 'siteList' }, (request) => showList(request, type))
    sitePage(app, all, `/discover${listPath(type)}`, { name: 'siteMovedList' }, async ({ moved }) =>
      moved(listPath(type)),
    )
  }
  sitePage(app, all, SEARCH, { name: 'siteSearch' }, (request: SiteRequest) => showList(request, undefined))
  sitePage(app, all, '/discover', { name: 'siteMovedSearch' }, async ({ moved }) => moved(SEARCH))
}
