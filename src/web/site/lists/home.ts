// The first page: what there is, what is new, and where to begin.

import type { FastifyReply } from 'fastify'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listNewestCollections, type NewCollection } from '#features/community/collections/queries.ts'
import { countChoices, fieldIs } from '#features/operations/search/facet-counts.ts'
import { wholeNumber } from '#platform/html/format.ts'
import { html, type Markup } from '#platform/html/html.ts'
import type { Page } from '#platform/html/layout.ts'
import { emptyState } from '#platform/html/lists.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import type { SearchAnswer, Sort } from '#ports/search-index/search-index.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import type { Setup } from '#web/kit/setup.ts'
import {
  collectionPath,
  feedLinks,
  listPath,
  offeredTypes,
  type ProjectType,
  SEARCH,
  withQuery,
} from '#web/kit/site-paths.ts'
import { TYPE_ICONS, typesName } from '../names.ts'
import { linkPanel } from '../people/profile.ts'
import { setupForm } from '../setup-view.ts'
import { askHits, readHits } from './list.ts'
import { filterOf, readListRequest } from './list-request.ts'
import { authoredRows, withDetails } from './row-details.ts'
import { fieldTexts, hitList, type ProjectRow, rowOfHit, viewOf } from './rows.ts'

const SHOWN = 5
const COLLECTIONS = 6
const SORTED = ['downloads', 'updated', 'newest'] as const satisfies Sort[]
type Section = { name: (typeof SORTED)[number] | 'rising'; rows: ProjectRow[]; href?: string }

type Home = {
  types: { type: ProjectType; count: number }[]
  figures: { projects: number; versions: number; files: number; authors: number }
  sections: Section[]
  collections: NewCollection[]
}

export async function showHome(request: SiteRequest): Promise<FastifyReply> {
  const { answers, read } = await askHome(request)
  return request.showFound(answers, async () => homePage(request, await read()))
}

function homePage(request: SiteRequest, home: Home): Page {
  const { page } = request
  const { language } = page
  return {
    title: language.t('site.home.title'),
    description: language.t('site.list.description', { name: page.site.name }),
    canonical: '/',
    openGraph: { type: 'website' },
    structuredData: [
      {
        '@type': 'WebSite',
        name: page.site.name,
        url: `${page.site.url}/`,
        potentialAction: {
          '@type': 'SearchAction',
          target: `${page.site.url}${SEARCH}?q={search_term_string}`,
          'query-input': 'required name=search_term_string',
        },
      },
    ],
    feeds: feedLinks(`${SEARCH}?sort=newest`, language.t('site.feed.list')),
    className: 'page home',
    body: homeView(request, home),
  }
}

/** What it shows, not looked at yet. */
async function askHome(
  request: SiteRequest,
): Promise<{ answers: readonly (Uint8Array | string)[]; read(): Promise<Home> }> {
  const { req, deps, query, queries, setup } = request
  const caller = callerOf(req)
  const types = offeredTypes(deps.taxonomy)
  const groups = [{ values: types.map((type) => fieldIs('project_types', [type])), beside: EVERYTHING }]
  const filter = filterOf(readListRequest({ query, queries, setup }, undefined), {
    now: deps.now(),
    taxonomy: deps.taxonomy,
  })
  const [figures, rising, collections, [counts = []], ...found] = await Promise.all([
    getStatistics(deps.dbRead),
    findRising(request),
    listNewestCollections(deps.dbRead, COLLECTIONS),
    countChoices(deps, { text: '', groups, caller }),
    ...SORTED.map((sort) => askHits(deps, { text: '', sort, page: 1, caller }, filter, SHOWN)),
  ])
  const read = async (): Promise<Home> => ({
    figures,
    types: types.map((type, index) => ({ type, count: counts[index] ?? 0 })),
    sections: await withTrends(request, [
      ...(rising.length === 0 ? [] : [{ name: 'rising' as const, rows: rising }]),
      ...SORTED.map((name, index) => ({
        name,
        rows: hitsOf(found[index]).map(rowOfHit),
        href: withQuery(SEARCH, { sort: name }),
      })),
    ]),
    collections,
  })
  return { answers: [JSON.stringify([figures, counts, rising, collections]), ...found.map(({ body }) => body)], read }
}

const hitsOf = (answer: SearchAnswer | undefined) => (answer === undefined ? [] : readHits(answer.body))

/** Those that rise and run on the setup. */
async function findRising({ deps, setup, trends }: SiteRequest): Promise<ProjectRow[]> {
  const projects = await listVisibleProjects(deps, null, await trends.trending(deps))
  const fitting = projects.filter((project) => isFitting(viewOf(project), setup))
  return authoredRows({ deps }, fitting.slice(0, SHOWN))
}

function isFitting(view: ProjectView, { gameVersion, loader }: Setup): boolean {
  const isForLoader = loader === '' || !view.project_types.includes('mod') || view.loaders.includes(loader)
  return isForLoader && (gameVersion === '' || fieldTexts(view, 'game_versions').includes(gameVersion))
}

/** One question for all sections. */
async function withTrends(request: SiteRequest, sections: readonly Section[]): Promise<Section[]> {
  const all = await withDetails(
    request,
    sections.flatMap(({ rows }) => rows),
  )
  let at = 0
  return sections.map((section) => {
    at += section.rows.length
    return { ...section, rows: all.slice(at - section.rows.length, at) }
  })
}

function homeView(site: SiteRequest, { types, figures, sections, collections }: Home): Markup {
  const { page, deps } = site
  const { language } = page
  const isEmpty = sections.every(({ rows }) => rows.length === 0)
  const cards = types.map(
    ({ type, count }) =>
      html`<li><a href="${pathTo(page, listPath(type))}">${icon(page, TYPE_ICONS[type])}<span>${typesName(language, type)}</span><span class="n">${wholeNumber(language, count)}</span></a></li>
`,
  )
  const lists = sections
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ name, rows, href }) => html`<section class="sheet" aria-labelledby="by-${name}">
<div class="section-head"><h2 id="by-${name}">${language.t(`site.home.${name}`)}</h2>${href !== undefined && html`<a href="${pathTo(page, href)}">${language.t('site.home.all')}<span class="vh">: ${language.t(`site.home.${name}`)}</span></a>`}</div>
${hitList({ page, taxonomy: deps.taxonomy }, rows, 'h3')}
</section>`,
    )
  const empty = html`<section class="sheet">${emptyState(page, { icon: 'package', title: language.t('site.home.empty'), text: language.t('site.home.empty-help'), action: html`<p><a class="button" href="${pathTo(page, '/docs/swagger-ui')}">${language.t('layout.api')}</a></p>` })}</section>`
  return html`<div class="welcome">
<h1>${language.t('site.home.heading', { name: page.site.name })}</h1>
<p class="soft">${language.t('site.home.figures', { projects: figures.projects, versions: figures.versions, authors: figures.authors })}</p>
<ul class="kinds">
${cards}</ul>
</div>
<div class="home-grid"><div class="home-lists">${isEmpty ? empty : lists}</div>
<div class="home-setup">${setupForm(site)}</div>
${linkPanel(
  site,
  language.t('site.home.collections'),
  collections.map(({ name, id, icon_url }) => ({ name, url: icon_url, path: collectionPath(id) })),
)}</div>`
}
