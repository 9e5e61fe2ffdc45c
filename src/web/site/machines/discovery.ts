// Files for search engines, browsers and other sites: site map, robots.txt, search description, manifest, oEmbed.

import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { assetHref, pathTo } from '#platform/html/page-context.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import type { Pages } from '#web/kit/pages.ts'
import { listPath, offeredTypes, PATHS, PROJECT_TYPES } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { operatorLinks } from '#web/kit/site.ts'
import { findHits } from '../lists/list-query.ts'
import { rowOfHit, viewOf } from '../lists/rows.ts'
import { xml } from './feeds.ts'

/** Number of projects per part of the site map. */
const PROJECTS_PER_PART = 1000
/** Maximum number of hits per search. */
const HITS_PER_SEARCH = 100
/** Maximum number of parts that search engines accept in an index. */
const PARTS_MAX = 50_000

export function discoveryPages(pages: Pages): void {
  pages.open('GET', '/sitemap.xml', 'siteMap', sendSitemapIndex)
  pages.open('GET', '/sitemap-:part.xml', 'siteMapPart', sendSitemapPart)
  pages.open('GET', '/robots.txt', 'siteRobots', sendRobots)
  pages.open('GET', '/manifest.webmanifest', 'siteManifest', sendManifest)
  pages.open('GET', '/opensearch.xml', 'siteSearchDescription', sendSearchDescription)
  pages.open('GET', '/oembed', 'siteEmbed', sendEmbed)
}

async function sendSitemapIndex({ req, deps, page, reply }: PageRequest): Promise<FastifyReply> {
  const all = { text: '', sort: 'newest', page: 1, caller: callerOf(req) } as const
  const { total } = await findHits(deps, all, EVERYTHING, 1)
  const length = Math.min(PARTS_MAX, Math.max(1, Math.ceil(total / PROJECTS_PER_PART)))
  const locationOf = (_: unknown, index: number) => xml(`${page.site.url}/sitemap-${index + 1}.xml`)
  const parts = Array.from({ length }, locationOf).map((location) => `<sitemap><loc>${location}</loc></sitemap>\n`)
  return sendXml(
    reply,
    `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${parts.join('')}</sitemapindex>\n`,
  )
}

/** Sends a part of the site map: public projects. The first part also contains lists and the operator's texts. */
async function sendSitemapPart({ req, deps, page, reply, param }: PageRequest): Promise<FastifyReply> {
  const part = Number(/^[1-9]\d{0,4}$/.exec(param('part'))?.[0] ?? 0)
  if (part === 0) throw notFound('page')
  const { url } = page.site
  const first = part === 1 ? ['/', PATHS.search, ...offeredTypes(deps.taxonomy).map(listPath)] : []
  if (part === 1) first.push(...operatorLinks(await getSettings(deps)).map(({ path }) => path))
  const entries = first.map((path) => `<url><loc>${xml(`${url}${path}`)}</loc></url>\n`)
  let total = 0
  for (let at = 0; at < PROJECTS_PER_PART / HITS_PER_SEARCH; at += 1) {
    const number = ((part - 1) * PROJECTS_PER_PART) / HITS_PER_SEARCH + at + 1
    const query = { text: '', sort: 'newest', page: number, caller: callerOf(req) } as const
    const { hits, ...found } = await findHits(deps, query, EVERYTHING, HITS_PER_SEARCH)
    total = found.total
    for (const { path, updated } of hits.map(rowOfHit))
      entries.push(`<url><loc>${xml(`${url}${path}`)}</loc><lastmod>${updated.slice(0, 10)}</lastmod></url>\n`)
    if (hits.length < HITS_PER_SEARCH) break
  }
  if (part > 1 && (part - 1) * PROJECTS_PER_PART >= total) throw notFound('page')
  return sendXml(reply, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join('')}</urlset>\n`)
}

async function sendRobots({ page, reply }: PageRequest): Promise<FastifyReply> {
  const lines = [
    'User-agent: *',
    'Disallow: /account',
    'Disallow: /_internal',
    'Disallow: /v3/',
    `Sitemap: ${page.site.url}/sitemap.xml`,
  ]
  return reply
    .type('text/plain; charset=utf-8')
    .header('cache-control', 'public, max-age=3600')
    .send(`${lines.join('\n')}\n`)
}

async function sendSearchDescription({ page, reply }: PageRequest): Promise<FastifyReply> {
  const { url, name } = page.site
  void reply
    .type('application/opensearchdescription+xml; charset=utf-8')
    .header('cache-control', 'public, max-age=3600')
  return reply.send(
    `<?xml version="1.0" encoding="utf-8"?>\n<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>${xml([...name].slice(0, 16).join(''))}</ShortName><Description>${xml(page.language.t('layout.search'))}</Description><InputEncoding>UTF-8</InputEncoding><Url type="text/html" template="${xml(`${url}${PATHS.search}?q={searchTerms}`)}"/></OpenSearchDescription>\n`,
  )
}

/** Sends the manifest for installing the site as an application: https://www.w3.org/TR/appmanifest. */
async function sendManifest({ page, reply }: PageRequest): Promise<FastifyReply> {
  const { name, mark } = page.site
  const square = (width: number) => `${width}x${width}`
  const drawn = { src: assetHref(page, 'mark.svg'), sizes: 'any', type: 'image/svg+xml' }
  const icons =
    mark === undefined
      ? [drawn]
      : mark.sizes.map(({ width, url }) => ({ src: url, sizes: square(width), type: 'image/webp' }))
  const manifest = { id: pathTo(page, '/'), name, start_url: pathTo(page, '/'), display: 'browser', icons }
  return reply
    .type('application/manifest+json; charset=utf-8')
    .header('cache-control', 'public, max-age=0, must-revalidate')
    .send(JSON.stringify(manifest))
}

/** Sends the oEmbed description of a project's page: https://oembed.com. */
async function sendEmbed({ deps, page, reply, query }: PageRequest): Promise<FastifyReply> {
  const { url, name } = page.site
  if (query('format') !== '' && query('format') !== 'json') throw invalidInput('format must be json', 'format')
  const address = URL.parse(query('url'))
  const types = [...PROJECT_TYPES, 'project'].join('|')
  const slug =
    address !== null && address.origin === new URL(url).origin
      ? new RegExp(`/(?:${types})/([^/]+)/?$`).exec(address.pathname)?.[1]
      : undefined
  if (slug === undefined) throw notFound('page')
  // Without a viewer, because other sites show the response to everyone.
  const project = viewOf(await getProject(deps, null, decodePercent(slug)))
  const icon =
    project.icon_url === null ? {} : { thumbnail_url: project.icon_url, thumbnail_width: 96, thumbnail_height: 96 }
  return reply.type('application/json; charset=utf-8').send(
    JSON.stringify({
      version: '1.0',
      type: 'link',
      title: project.name,
      provider_name: name,
      provider_url: url,
      ...icon,
    }),
  )
}

function sendXml(reply: FastifyReply, body: string): FastifyReply {
  return reply
    .type('application/xml; charset=utf-8')
    .header('cache-control', 'public, max-age=3600')
    .send(`<?xml version="1.0" encoding="utf-8"?>\n${body}`)
}

/** @throws ApiError `invalid_input` if the percent-encoding is malformed */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidInput('url has a malformed percent-encoding', 'url')
  }
}
