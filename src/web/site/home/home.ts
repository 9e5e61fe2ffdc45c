// The home page: project types, what the visitor follows, trending and popular projects, new releases and projects,
// collections, as the operator chose. An instance without projects shows the first steps instead.
import type { FastifyReply } from 'fastify'
import { isAdmin } from '#features/basics/access/viewer.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listFirstChoices } from '#features/catalogue/resolve/choose-required.ts'
import { listNewestCollections } from '#features/community/collections/queries.ts'
import { hasAdmin } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { countChoices, fieldIs } from '#features/reading/search/facet-counts.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import { isSearchableStatus } from '#taxonomy/project-status.ts'
import { isSet } from '#web/kit/cookies.ts'
import { feedLinks, offeredTypes, PATHS, signInPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { filterOf, findHits } from '../lists/list-query.ts'
import { readListRequest } from '../lists/list-request.ts'
import { loadRowDetails, rowsWithAuthors, visibleRows } from '../lists/row-details.ts'
import { type ProjectRow, rowOfHit } from '../lists/rows.ts'
import { filterFor } from '../project/offer.ts'
import { type Home, homeView } from './home-view.ts'
import { listReleasesOf } from './releases.ts'

const TRENDING = 6
/** Number of popular projects, and of popular and trending projects together. */
const POPULAR = { least: 5, together: 8 }
const NEWEST = 6
const COLLECTIONS = 6
/** Number of recently updated projects whose releases are compared. An update need not be a release. */
const UPDATED = 24

export async function showHome(request: PageRequest): Promise<FastifyReply> {
  const { req, deps } = request
  const caller = callerOf(req)
  const types = offeredTypes(deps.taxonomy)
  const groups = [{ values: types.map((type) => fieldIs('project_types', [type])), base: EVERYTHING }]
  const filter = filterOf(readListRequest(request, undefined), { now: deps.now(), taxonomy: deps.taxonomy })
  const { home_heading: heading, home_text: text, home_sections: sections } = await getSettings(deps)
  const hitsFor = isSet(request.setup) ? 2 : 1
  const search = async (sort: 'downloads' | 'newest' | 'updated', limit: number) =>
    sections.includes(sort === 'updated' ? 'releases' : sort)
      ? (await findHits(deps, { text: '', sort, page: 1, caller }, filter, limit * hitsFor)).hits
      : []
  const [figures, trending, collections, [counts = []], popular, newest, updated] = await Promise.all([
    getStatistics(deps.dbRead),
    sections.includes('trending') ? loadTrending(request) : [],
    sections.includes('collections') ? listOwnedCollections(deps) : [],
    countChoices(deps, { text: '', groups, caller }),
    search('downloads', POPULAR.together),
    search('newest', NEWEST),
    search('updated', UPDATED),
  ])
  if (figures.projects === 0)
    return request.show(homePage(request, await firstRunView(request), { insiders: new Set() }))
  const popularMax = Math.max(POPULAR.least, POPULAR.together - trending.length)
  const [popularRows, newestRows, updatedRows] = await Promise.all([
    listCompatible(request, popular.map(rowOfHit)).then((rows) => visibleRows(request, rows.slice(0, popularMax))),
    listCompatible(request, newest.map(rowOfHit)).then((rows) => visibleRows(request, rows.slice(0, NEWEST))),
    visibleRows(request, updated.map(rowOfHit)),
  ])
  const updatedIds = updatedRows.map(({ id }) => id)
  const rows = await loadRowDetails(request, [...trending, ...popularRows])
  const home: Home = {
    figures,
    heading,
    text,
    types: types.map((type, index) => ({ type, count: counts[index] ?? 0 })),
    trending: rows.slice(0, trending.length),
    popular: rows.slice(trending.length),
    newest: newestRows,
    releases: await listReleasesOf(request, updatedIds),
    collections,
  }
  return request.show(homePage(request, homeView(request, home)))
}

/** Returns the newest collections with the names of their owners. Changes of collections are announced as changes of these. */
async function listOwnedCollections(deps: PageRequest['deps']): Promise<Home['collections']> {
  const collections = await listNewestCollections(deps.db, COLLECTIONS)
  const owners = await listCachedUsers(
    deps,
    collections.map(({ account_id }) => account_id),
  )
  const names = new Map(owners.map(({ id, username }) => [id, username]))
  return collections.flatMap((each) => {
    const owner = names.get(each.account_id)
    return owner === undefined ? [] : [{ ...each, owner }]
  })
}

/** Loads trending projects of different owners that have a version for the visitor's setup. */
async function loadTrending(request: PageRequest): Promise<ProjectRow[]> {
  const { deps, trends } = request
  const projects = await listVisibleProjects(deps, null, await trends.trending(deps))
  const searchable = projects.filter((project) => isSearchableStatus(project.status))
  const rows = await rowsWithAuthors({ deps }, await listCompatible(request, searchable))
  const owners = new Set<string>()
  const ofOthers = rows.filter(({ id, by: { path } = { path: id } }) => !owners.has(path) && owners.add(path))
  return ofOthers.slice(0, TRENDING)
}

/**
 * Returns the projects of which one version fits the whole setup. The search knows only all loaders and all game versions of
 * a project, which can be those of different versions.
 */
async function listCompatible<Project extends { id: string }>(
  { deps, setup }: PageRequest,
  projects: readonly Project[],
): Promise<Project[]> {
  if (!isSet(setup)) return [...projects]
  const ids = projects.map(({ id }) => id)
  const found = await listFirstChoices(deps, null, ids, filterFor(setup))
  const compatible = new Set(found.map(({ project }) => project.id))
  return projects.filter(({ id }) => compatible.has(id))
}

function homePage({ page }: PageRequest, body: ShownPage['body'], more: Pick<ShownPage, 'insiders'> = {}): ShownPage {
  const { language } = page
  return {
    title: language.t('home.title'),
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
    body,
    ...more,
  }
}

type Step = { icon: IconName; title: MessageKey; text: MessageKey; path: string; label: MessageKey; isMain?: boolean }

const PUBLISH: Step = {
  icon: 'upload',
  title: 'home.publish',
  text: 'home.publish.text',
  path: PATHS.newProject,
  label: 'home.publish.go',
}

const OPERATOR_STEPS: readonly Step[] = [
  {
    icon: 'check',
    title: 'home.steps',
    text: 'home.steps.text',
    path: PATHS.firstSteps,
    label: 'home.steps.go',
    isMain: true,
  },
  {
    icon: 'palette',
    title: 'home.branding',
    text: 'home.branding.text',
    path: PATHS.operatorSettings,
    label: 'home.branding.go',
  },
  {
    icon: 'users',
    title: 'home.invite',
    text: 'home.invite.text',
    path: PATHS.operatorInvitations,
    label: 'home.invite.go',
  },
  PUBLISH,
]

async function firstRunView({ page, viewer, deps }: PageRequest): Promise<Markup> {
  const { language } = page
  const isOperator = isAdmin(viewer)
  const steps = isOperator ? OPERATOR_STEPS : [{ ...PUBLISH, isMain: true }]
  const text = isOperator ? 'home.ready.operator' : 'home.ready.visitor'
  const hint: Part = isOperator || viewer !== null ? null : operatorHint(page, await hasAdmin(deps.db))
  return html`<div class="welcome">
<h1>${language.t('home.ready', { name: page.site.name })}</h1>
${
  !isOperator &&
  html`<p>${language.t('home.ready.about')}</p>
`
}<p class="soft">${language.t(text)}</p>
</div>
<ol class="sheet first-run">
${steps.map((step, index) => stepView(page, step, steps.length > 1 ? index + 1 : undefined))}</ol>
${hint}`
}

function stepView(page: PageContext, step: Step, number: number | undefined): Markup {
  const { t } = page.language
  return html`<li>${icon(page, step.icon)}<div><h2>${number !== undefined && `${number}. `}${t(step.title)}</h2><p class="soft">${t(step.text)}</p></div><a class="button${step.isMain === true && ' main'}" href="${pathTo(page, step.path)}">${t(step.label)}</a></li>
`
}

/** Tells the operator how to begin: with the link that the server printed, or by signing in. */
function operatorHint(page: PageContext, isAdministrated: boolean): Markup {
  const { language } = page
  if (!isAdministrated)
    return html`<p class="soft">${language.rich('home.operator.first', { code: (text) => html`<code>${text}</code>` })}</p>`
  const link = (label: Part) => html`<a href="${pathTo(page, signInPath(PATHS.firstSteps))}">${label}</a>`
  return html`<p class="soft">${language.rich('home.operator', { link })}</p>`
}
