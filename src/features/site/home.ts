// The first page: what there is, what is new, and where to begin.

import type { FastifyReply } from 'fastify'
import { countChoices, fieldIs } from '#features/search/facet-counts.ts'
import { getStatistics } from '#features/statistics/queries.ts'
import { wholeNumber } from '#html/format.ts'
import { html, type Markup } from '#html/html.ts'
import type { Page } from '#html/layout.ts'
import { emptyState } from '#html/lists.ts'
import { icon, pathTo } from '#html/page-context.ts'
import { callerOf } from '#http/client-address.ts'
import { EVERYTHING } from '#search-index/filter/tree.ts'
import type { SearchAnswer, Sort } from '#search-index/search-index.ts'
import { askHits, readHits } from './list.ts'
import { filterOf, readListRequest } from './list-request.ts'
import { TYPE_ICONS, typesName } from './names.ts'
import type { SiteRequest } from './page.ts'
import { feedLinks, listPath, offeredTypes, type ProjectType, SEARCH, withQuery } from './paths.ts'
import { hitList, type ProjectRow, rowOfHit } from './rows.ts'
import { setupForm } from './setup-view.ts'

const SHOWN = 5
const SECTIONS = ['downloads', 'updated', 'newest'] as const satisfies Sort[]

type Home = {
  types: { type: ProjectType; count: number }[]
  figures: { projects: number; versions: number; files: number; authors: number }
  sections: { sort: (typeof SECTIONS)[number]; rows: ProjectRow[] }[]
}

export async function showHome(request: SiteRequest): Promise<FastifyReply> {
  const { answers, read } = await askHome(request)
  return request.showFound(answers, () => homePage(request, read()))
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
async function askHome({
  req,
  deps,
  query,
  queries,
  setup,
}: SiteRequest): Promise<{ answers: readonly (Uint8Array | string)[]; read(): Home }> {
  const caller = callerOf(req)
  const types = offeredTypes(deps.taxonomy)
  const groups = [{ values: types.map((type) => fieldIs('project_types', [type])), beside: EVERYTHING }]
  const filter = filterOf(readListRequest({ query, queries, setup }, undefined), {
    now: deps.now(),
    taxonomy: deps.taxonomy,
  })
  const [figures, [counts = []], ...found] = await Promise.all([
    getStatistics(deps.dbRead),
    countChoices(deps, { text: '', groups, caller }),
    ...SECTIONS.map((sort) => askHits(deps, { text: '', sort, page: 1, caller }, filter, SHOWN)),
  ])
  const read = (): Home => ({
    figures,
    types: types.map((type, index) => ({ type, count: counts[index] ?? 0 })),
    sections: SECTIONS.map((sort, index) => ({ sort, rows: hitsOf(found[index]).map(rowOfHit) })),
  })
  return { answers: [JSON.stringify([figures, counts]), ...found.map(({ body }) => body)], read }
}

const hitsOf = (answer: SearchAnswer | undefined) => (answer === undefined ? [] : readHits(answer.body))

function homeView(site: SiteRequest, { types, figures, sections }: Home): Markup {
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
      ({ sort, rows }) => html`<section class="sheet" aria-labelledby="by-${sort}">
<div class="section-head"><h2 id="by-${sort}">${language.t(`site.home.${sort}`)}</h2><a href="${pathTo(page, withQuery(SEARCH, { sort }))}">${language.t('site.home.all')}<span class="vh">: ${language.t(`site.home.${sort}`)}</span></a></div>
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
<div>${setupForm(site)}</div></div>`
}
