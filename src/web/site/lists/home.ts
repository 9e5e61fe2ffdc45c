// The home page: project types, trending and new projects, new collections.

import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listNewestCollections, type NewCollection } from '#features/community/collections/queries.ts'
import { countChoices, fieldIs } from '#features/operations/search/facet-counts.ts'
import { wholeNumber } from '#platform/html/format.ts'
import { html, type Markup } from '#platform/html/html.ts'
import { emptyState } from '#platform/html/lists.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import type { Sort } from '#ports/search-index/search-index.ts'
import { type Setup, setupFor } from '#web/kit/cookies.ts'
import {
  collectionPath,
  feedLinks,
  listPath,
  offeredTypes,
  PATHS,
  type ProjectType,
  withQuery,
} from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { TYPE_ICONS, typesName } from '../names.ts'
import { linkPanel } from '../people/profile.ts'
import { setupForm } from '../setup-form.ts'
import { filterOf, readHits, searchHits } from './list-query.ts'
import { readListRequest } from './list-request.ts'
import { loadRowDetails, rowsWithAuthors } from './row-details.ts'
import { fieldTexts, hitList, type ProjectRow, rowOfHit, viewOf } from './rows.ts'

const PROJECTS_PER_SECTION = 5
const COLLECTIONS = 6
const SORTED = ['downloads', 'updated', 'newest'] as const satisfies Sort[]
/** `rising` contains the trending projects. */
type Section = { name: (typeof SORTED)[number] | 'rising'; rows: ProjectRow[]; href?: string }

type Home = {
  types: { type: ProjectType; count: number }[]
  figures: { projects: number; versions: number; files: number; authors: number }
  sections: Section[]
  collections: NewCollection[]
}

export async function showHome(request: PageRequest): Promise<FastifyReply> {
  const { req, deps } = request
  const caller = callerOf(req)
  const types = offeredTypes(deps.taxonomy)
  const groups = [{ values: types.map((type) => fieldIs('project_types', [type])), base: EVERYTHING }]
  const filter = filterOf(readListRequest(request, undefined), { now: deps.now(), taxonomy: deps.taxonomy })
  const [figures, trending, collections, [counts = []], ...lists] = await Promise.all([
    getStatistics(deps.dbRead),
    loadTrending(request),
    listNewestCollections(deps.dbRead, COLLECTIONS),
    countChoices(deps, { text: '', groups, caller }),
    ...SORTED.map((sort) => searchHits(deps, { text: '', sort, page: 1, caller }, filter, PROJECTS_PER_SECTION)),
  ])
  const results = [JSON.stringify([figures, counts, trending, collections]), ...lists.map(({ body }) => body)]
  return request.showResults(results, async () => {
    const found = lists.map(({ body }, index) => {
      const name = SORTED[index] ?? 'downloads'
      return { name, rows: readHits(body).map(rowOfHit), href: withQuery(PATHS.search, { sort: name }) }
    })
    const sections: Section[] = [{ name: 'rising' as const, rows: trending }, ...found].filter(
      (each) => each.rows.length > 0,
    )
    const all = sections.flatMap((section) => section.rows)
    const rows = await loadRowDetails(request, all)
    return homePage(request, {
      figures,
      types: types.map((type, index) => ({ type, count: counts[index] ?? 0 })),
      sections: sections.map((section) => ({ ...section, rows: rows.splice(0, section.rows.length) })),
      collections,
    })
  })
}

/** Loads the trending projects that are compatible with the visitor's setup. */
async function loadTrending({ deps, setup, trends }: PageRequest): Promise<ProjectRow[]> {
  const projects = await listVisibleProjects(deps, null, await trends.trending(deps))
  const compatible = projects.filter((project) => isCompatible(deps.taxonomy, viewOf(project), setup))
  return rowsWithAuthors({ deps }, compatible.slice(0, PROJECTS_PER_SECTION))
}

function isCompatible(taxonomy: Taxonomy, view: ProjectView, setup: Setup): boolean {
  const { gameVersion, loader } = setupFor(taxonomy, setup, view.project_types)
  const isForLoader =
    loader === '' || !view.project_types.some((type) => type !== 'modpack') || view.loaders.includes(loader)
  return isForLoader && (gameVersion === '' || fieldTexts(view, 'game_versions').includes(gameVersion))
}

function homePage(request: PageRequest, home: Home): ShownPage {
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
          target: `${page.site.url}${PATHS.search}?q={search_term_string}`,
          'query-input': 'required name=search_term_string',
        },
      },
    ],
    feeds: feedLinks(`${PATHS.search}?sort=newest`, language.t('site.feed.list')),
    className: 'page home',
    body: homeView(request, home),
  }
}

function homeView(request: PageRequest, { types, figures, sections, collections }: Home): Markup {
  const { page, deps } = request
  const { language } = page
  const cards = types.map(
    ({ type, count }) =>
      html`<li><a href="${pathTo(page, listPath(type))}">${icon(page, TYPE_ICONS[type])}<span>${typesName(language, type)}</span><span class="n">${wholeNumber(language, count)}</span></a></li>
`,
  )
  const lists = sections.map(
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
<div class="home-grid"><div class="home-lists">${sections.length === 0 ? empty : lists}</div>
<div class="home-setup">${setupForm(request)}</div>
${linkPanel(
  page,
  language.t('site.home.collections'),
  collections.map(({ name, id, icon_url }) => ({
    name,
    url: imageUrl(request.deps.config, icon_url),
    path: collectionPath(id),
  })),
)}</div>`
}
