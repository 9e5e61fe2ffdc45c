// The web site: assets, the account pages, and the public site unless the operator turned it off.
import type { App } from '#platform/http/server.ts'
import { accountPages } from './account/routes.ts'
import { assetRoutes } from './kit/asset-routes.ts'
import { createSessionCookie } from './kit/cookies.ts'
import { PageCache } from './kit/page-cache.ts'
import type { WebDeps } from './kit/request.ts'
import { createSite } from './kit/site.ts'
import { createUserTexts } from './kit/user-texts.ts'
import { sitePages } from './site/routes.ts'

export function webRoutes(
  app: App,
  features: Pick<WebDeps, 'deps' | 'accounts' | 'tokens' | 'statistics' | 'trends'>,
): void {
  const { deps } = features
  const cookie = createSessionCookie(deps.config)
  const web: WebDeps = {
    ...features,
    cookie,
    site: createSite(deps),
    pageCache: new PageCache(deps, cookie),
    texts: createUserTexts(deps),
  }
  app.addHook('onClose', () => web.texts.close())
  assetRoutes(app, web.site.assets)
  accountPages(app, web)
  if (deps.config.site.isServed) sitePages(app, web)
}
