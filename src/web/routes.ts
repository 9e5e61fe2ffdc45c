// The web site: assets and the account pages, and all other pages unless the operator turned the site off.
import { createExternalImages } from '#features/basics/external-images/external-images.ts'
import { externalImageRoute } from '#features/basics/external-images/image-routes.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import { codedTag, codingFor, STORED_CODINGS } from '#platform/http/responses/content-coding.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Assets } from '#web/ui/assets.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { accountPages } from './account/routes.ts'
import { createSessionCookie } from './kit/cookies.ts'
import { PageCache } from './kit/page-cache.ts'
import { PageRoutes } from './kit/page-routes.ts'
import type { WebDeps } from './kit/request.ts'
import { createSite } from './kit/site.ts'
import { createUserTexts } from './kit/user-texts.ts'
import { moderationPages } from './moderate/routes.ts'
import { operatorPages } from './operate/routes.ts'
import { publishPages } from './publish/routes.ts'
import { sitePages } from './site/routes.ts'

export function webRoutes(
  app: App,
  features: Pick<WebDeps, 'deps' | 'accounts' | 'tokens' | 'rateGrants' | 'statistics' | 'trends' | 'checks'>,
): void {
  const { deps } = features
  const cookie = createSessionCookie(deps.config)
  const images = createExternalImages(deps)
  const web: WebDeps = {
    ...features,
    cookie,
    site: createSite(deps),
    pageCache: new PageCache(deps),
    pageRoutes: new PageRoutes(),
    texts: createUserTexts(deps, images),
    externalImages: images,
  }
  app.addHook('onClose', async () => {
    await images.close()
    await web.texts.close()
  })
  app.useUnrouted((req) => {
    const path = web.pageRoutes.withoutSlash(req)
    return path === undefined ? web.pageRoutes.methodError(req) : pathTo(web, path)
  })
  assetRoutes(app, web.site.assets)
  accountPages(app, web)
  if (!deps.config.site.isServed) return
  externalImageRoute(app, deps, images)
  sitePages(app, web)
  publishPages(app, web)
  moderationPages(app, web)
  operatorPages(app, web)
}

/**
 * Serves style sheet, script, fonts and icons. Their names contain a hash, so that browsers can cache them for a year.
 * Sends the best compressed form that the browser accepts. Each form has its own ETag.
 */
function assetRoutes(app: App, assets: Assets): void {
  for (const { path, type, bytes, encode } of assets.values()) {
    const etag = entityTag(bytes)
    app.get(path, {
      config: { auth: 'public', cache: 'shared', budget: 'asset' },
      schema: { operationId: 'getAsset', hide: true },
      handler: async (req, reply) => {
        void reply
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('x-content-type-options', 'nosniff')
          .type(type)
        const coding = encode === undefined ? undefined : codingFor(req.headers['accept-encoding'], STORED_CODINGS)
        if (encode !== undefined) void reply.header('vary', 'accept-encoding')
        if (isUnchanged(req, reply, etag)) return reply.send()
        void reply.header('etag', coding === undefined ? etag : codedTag(etag, coding))
        if (encode === undefined || coding === undefined) return reply.send(bytes)
        return reply.header('content-encoding', coding).send(await encode(coding))
      },
    })
  }
}
