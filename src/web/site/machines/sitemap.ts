// The site map: an index of parts by type of project. Projects are in the order of their creation, oldest first, so that a
// new project changes only the last part of its type. https://www.sitemaps.org/protocol.html

import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { fieldIs, fieldNamed } from '#features/reading/search/facet-counts.ts'
import { searchProjects } from '#features/reading/search/search-projects.ts'
import { notFound } from '#lib/errors.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import type { Expression, Filter } from '#ports/search-index/filter/tree.ts'
import type { Sort } from '#ports/search-index/search-index.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Pages } from '#web/kit/pages.ts'
import { listPath, offeredTypes, PATHS, type ProjectType } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { operatorLinks } from '#web/kit/site.ts'
import { xml } from '../feeds/atom.ts'
import { readHits } from '../lists/list-query.ts'
import { type Hit, rowOfHit } from '../lists/rows.ts'
import { sendDocument } from './send-document.ts'

/** Number of projects per part. Search engines accept 50,000. */
const PROJECTS_PER_PART = 5000
/** Maximum number of hits per search. */
const HITS_PER_SEARCH = 100
/** Maximum number of parts that search engines accept in an index. */
const PARTS_MAX = 50_000

export function sitemapPages(pages: Pages): void {
  pages.open('GET', '/sitemap.xml', 'siteMap', sendIndex)
  pages.open('GET', '/sitemap-:part.xml', 'siteMapPart', sendPart)
}

type Entry = { path: string; modified: string | undefined }

/** A type of projects in the site map. `undefined` contains the projects without a type. */
type Section = { type: ProjectType | undefined; name: string; filter: Filter }

/** Returns the sections. Every project is in the section of the type that its path names, and in no other. */
function sectionsOf(taxonomy: Taxonomy): Section[] {
  const types = offeredTypes(taxonomy)
  const not = (others: readonly ProjectType[]): Expression[] =>
    others.length === 0 ? [] : [fieldIs('project_types', others, true)]
  return [
    ...types.map((type, index) => ({
      type,
      name: listPath(type).slice(1),
      filter: normalize([fieldIs('project_types', [type]), ...not(types.slice(0, index))]),
    })),
    { type: undefined, name: 'projects', filter: normalize(not(types)) },
  ]
}

type Search = { filter: Filter; sort: Sort; offset: number; limit: number }

async function find(
  { deps, req }: Pick<PageRequest, 'deps' | 'req'>,
  search: Search,
): Promise<{ hits: Hit[]; total: number }> {
  const { body, totalHits } = await searchProjects(deps, { text: '', ...search }, callerOf(req))
  return { hits: readHits(body), total: totalHits }
}

/** Time of the last change of a project that matches the filter. */
async function lastChange(request: PageRequest, filter: Filter): Promise<string | undefined> {
  const { hits } = await find(request, { filter, sort: 'updated', offset: 0, limit: 1 })
  return hits[0]?.date_modified
}

const INDEX = defineCache<RememberDefinition<readonly Entry[]>>({
  name: 'sitemap',
  contains: 'Parts of the site map',
  maxAgeMs: 10 * MINUTE_MS,
  maxBytes: 8 * MIB,
  isStaleAllowed: true,
  sizeOf: (entries) => 150 * entries.length,
})

async function sendIndex(request: PageRequest): Promise<FastifyReply> {
  const entries = await request.deps.cache.remember(INDEX).get('index', () => listParts(request))
  return sendEntries(request, entries, { root: 'sitemapindex', entry: 'sitemap' })
}

async function listParts(request: PageRequest): Promise<Entry[]> {
  const parts: Entry[] = [{ path: '/sitemap-pages.xml', modified: await lastChange(request, normalize([])) }]
  for (const { name, filter } of sectionsOf(request.deps.taxonomy)) {
    const { total } = await find(request, { filter, sort: 'newest', offset: 0, limit: 1 })
    const count = Math.min(Math.ceil(total / PROJECTS_PER_PART), PARTS_MAX - parts.length)
    for (let number = 1; number <= count; number += 1) {
      const modified = await lastChange(request, await filterOfPart(request, { filter, number, total }))
      parts.push({ path: `/sitemap-${name}-${number}.xml`, modified })
    }
  }
  return parts
}

/** Returns the range of a part in the order of the index, which is newest first. */
function rangeOf(number: number, total: number): { from: number; to: number } {
  const to = total - (number - 1) * PROJECTS_PER_PART
  return { from: Math.max(0, to - PROJECTS_PER_PART), to }
}

/** Limits a filter to the period in which the projects of a part were created. */
async function filterOfPart(
  request: PageRequest,
  { filter, number, total }: { filter: Filter; number: number; total: number },
): Promise<Filter> {
  const { from, to } = rangeOf(number, total)
  const createdAt = async (offset: number): Promise<number> => {
    const { hits } = await find(request, { filter, sort: 'newest', offset, limit: 1 })
    return Math.floor(Date.parse(hits[0]?.date_created ?? '1970-01-01T00:00:00Z') / 1000)
  }
  const bound = async (operator: '>=' | '<=', offset: number): Promise<Expression> => {
    const value = await createdAt(offset)
    return { kind: 'compare', field: fieldNamed('created_timestamp'), operator, value, negated: false }
  }
  return normalize([
    filter,
    ...(from > 0 ? [await bound('<=', from)] : []),
    ...(number > 1 ? [await bound('>=', to - 1)] : []),
  ])
}

async function sendPart(request: PageRequest): Promise<FastifyReply> {
  const [, name = '', written = ''] = /^([a-z]+)(?:-([1-9]\d{0,4}))?$/.exec(request.param('part')) ?? []
  const form = { root: 'urlset', entry: 'url' } as const
  if (name === 'pages' && written === '') return sendEntries(request, await listPages(request), form)
  const section = sectionsOf(request.deps.taxonomy).find((each) => each.name === name)
  if (section === undefined || written === '') throw notFound('page')
  const parts = request.deps.cache.remember(INDEX)
  const entries = await parts.get(`${name}-${written}`, () => listProjects(request, section.filter, Number(written)))
  return sendEntries(request, entries, form)
}

/** Returns the home page, the lists and the texts of the operator. */
async function listPages(request: PageRequest): Promise<Entry[]> {
  const { taxonomy } = request.deps
  const modified = await lastChange(request, normalize([]))
  const lists = ['/', PATHS.search, ...offeredTypes(taxonomy).map(listPath)].map((path) => ({ path, modified }))
  const texts = operatorLinks(await getSettings(request.deps)).map(({ path }) => ({ path, modified: undefined }))
  return [...lists, ...texts]
}

/** @throws ApiError 404 if the section has no such part */
async function listProjects(request: PageRequest, filter: Filter, number: number): Promise<Entry[]> {
  const { total } = await find(request, { filter, sort: 'newest', offset: 0, limit: 1 })
  const { from, to } = rangeOf(number, total)
  if (to <= 0) throw notFound('page')
  const entries: Entry[] = []
  for (let offset = from; offset < to; offset += HITS_PER_SEARCH) {
    const limit = Math.min(HITS_PER_SEARCH, to - offset)
    const { hits } = await find(request, { filter, sort: 'newest', offset, limit })
    entries.push(...hits.map(rowOfHit).map(({ path, updated }) => ({ path, modified: updated })))
  }
  return entries.reverse()
}

function sendEntries(
  request: PageRequest,
  entries: readonly Entry[],
  { root, entry }: { root: string; entry: string },
): Promise<FastifyReply> {
  const { url } = request.page.site
  const lines = entries.map(({ path, modified }) => {
    const changed = modified === undefined ? '' : `<lastmod>${modified}</lastmod>`
    return `<${entry}><loc>${xml(`${url}${path}`)}</loc>${changed}</${entry}>\n`
  })
  const times = entries.map(({ modified }) => Date.parse(modified ?? '1970-01-01T00:00:00Z'))
  return sendDocument(request, {
    type: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="utf-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines.join('')}</${root}>\n`,
    cacheControl: 'public, max-age=3600',
    modifiedAt: times.reduce((a, b) => Math.max(a, b), 0),
  })
}
