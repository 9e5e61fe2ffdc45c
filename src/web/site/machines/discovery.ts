// Documents for search engines and browsers: robots.txt, search description, manifest.

import type { Deps } from '#ports/deps.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { assetHref, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { xml } from '../feeds/atom.ts'
import { createModifiedTimes, sendDocument } from './send-document.ts'
import { speculationRules } from './speculation.ts'

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
