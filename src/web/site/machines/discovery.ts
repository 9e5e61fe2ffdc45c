// Documents for other programs: robots.txt, search description, manifest, prefetching rules, icon.

import type { FastifyReply } from 'fastify'
import { notFound } from '#lib/errors.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import { drawIcon } from '#platform/images/draw-card.ts'
import type { Deps } from '#ports/deps.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Pages } from '#web/kit/pages.ts'
import { listPath, offeredTypes, PATHS, projectSegments } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { assetHref, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { xml } from '../feeds/atom.ts'
import { readIcon } from '../project/card.ts'
import { createModifiedTimes, sendDocument } from './send-document.ts'

/** Registers the documents. Their texts depend on settings, and change rarely. */
export function discoveryPages(pages: Pages, { now, taxonomy }: Pick<Deps, 'now' | 'taxonomy'>): void {
  const modifiedAt = createModifiedTimes(now)
  const document = (path: string, name: string, type: string, write: (page: PageContext) => string, maxAge: number) =>
    pages.open('GET', path, name, async (request) => {
      const body = write(request.page)
      return sendDocument(request, {
        type: `${type}; charset=utf-8`,
        body,
        cacheControl: maxAge === 0 ? 'public, max-age=0, must-revalidate' : `public, max-age=${maxAge}`,
        modifiedAt: modifiedAt(`${path} ${request.page.language.tag}`, body),
        vary: 'accept-language, cookie',
      })
    })
  document('/robots.txt', 'siteRobots', 'text/plain', robots, 3600)
  document('/opensearch.xml', 'siteSearchDescription', 'application/opensearchdescription+xml', searchDescription, 3600)
  document(
    PATHS.speculation,
    'siteSpeculationRules',
    'application/speculationrules+json',
    (page) => speculationRules(page, taxonomy),
    86_400,
  )
  document('/manifest.webmanifest', 'siteManifest', 'application/manifest+json', manifest, 0)
}

function robots({ site }: PageContext): string {
  const lines = [
    'User-agent: *',
    'Disallow: /account',
    'Disallow: /_internal',
    'Disallow: /v3/',
    `Sitemap: ${site.url}/sitemap.xml`,
  ]
  return `${lines.join('\n')}\n`
}

function searchDescription({ site: { url, name }, language }: PageContext): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>${xml([...name].slice(0, 16).join(''))}</ShortName><Description>${xml(language.t('layout.search'))}</Description><InputEncoding>UTF-8</InputEncoding><Url type="text/html" template="${xml(`${url}${PATHS.search}?q={searchTerms}`)}"/></OpenSearchDescription>\n`
}

/** The manifest for installing the site as an application: https://www.w3.org/TR/appmanifest. */
function manifest(page: PageContext): string {
  const { name, mark } = page.site
  const square = (width: number) => `${width}x${width}`
  const drawn = { src: assetHref(page, 'mark.svg'), sizes: 'any', type: 'image/svg+xml' }
  const icons =
    mark === undefined
      ? [drawn]
      : mark.sizes.map(({ width, url }) => ({ src: url, sizes: square(width), type: 'image/webp' }))
  return JSON.stringify({ id: pathTo(page, '/'), name, start_url: pathTo(page, '/'), display: 'browser', icons })
}

/** Pages below a project that are forms or files. */
const NOT_BELOW_PROJECTS = ['/settings*', '/versions/new*', '/save*', '/statistics.csv', '/versions.atom']

function speculationRules(page: PageContext, taxonomy: Taxonomy): string {
  const lists = [PATHS.search, ...offeredTypes(taxonomy).map(listPath)].flatMap((path) => [path, `${path}\\?*`])
  const projects = projectSegments(taxonomy).map((segment) => `/${segment}/*`)
  const likely = ['/', ...lists, ...projects, '/user/*', '/organization/*', '/collection/*']
  const unlikely = projectSegments(taxonomy).flatMap((segment) =>
    NOT_BELOW_PROJECTS.map((path) => `/${segment}/:slug${path}`),
  )
  const matches = (paths: readonly string[]) => ({ href_matches: paths.map((path) => pathTo(page, path)) })
  const where = {
    and: [
      matches(likely),
      { not: matches(unlikely) },
      { not: { selector_matches: '[download], .picked a, .facets a' } },
    ],
  }
  return JSON.stringify({ prefetch: [{ where, eagerness: 'moderate' }] })
}

const FAVICONS = defineCache<RememberDefinition<Buffer>>({
  name: 'favicon',
  contains: 'Icon of the instance for `/favicon.ico`',
  maxBytes: MIB,
  sizeOf: ({ length }) => length,
})
const SIDE = 48

export function faviconPage(pages: Pages): void {
  pages.open('GET', '/favicon.ico', 'siteFavicon', sendFavicon, { budget: 'asset' })
}

async function sendFavicon({ deps, page, req, reply }: PageRequest): Promise<FastifyReply> {
  const { mark, assets } = page.site
  const drawn = assets.get('mark.svg')
  if (drawn === undefined) throw notFound('page')
  const etag = entityTag(mark?.url ?? drawn.path)
  void reply.header('etag', etag).header('cache-control', 'public, max-age=86400')
  if (isUnchanged(req, reply, etag)) return reply.send()
  const bytes = await deps.cache.remember(FAVICONS).get(etag, async () => {
    const logo = await readIcon(deps, mark?.url ?? null)
    const icon = (await drawIcon(logo ?? drawn.bytes, SIDE)) ?? (await drawIcon(drawn.bytes, SIDE))
    if (icon === undefined) throw notFound('page')
    return icon
  })
  return reply.type('image/png').send(bytes)
}
