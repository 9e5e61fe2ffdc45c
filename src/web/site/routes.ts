// The public web site: every address that people open, and the old ones that lead there. docs/site.md tells how a page is
// written.

import type { FastifyReply } from 'fastify'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { absent, showSiteError } from '#web/kit/error-page.ts'
import { createFigures } from '#web/kit/figures.ts'
import { takeForms } from '#web/kit/forms.ts'
import { createTexts, type SiteDeps, type SiteRequest, sitePage } from '#web/kit/page.ts'
import { readyPages } from '#web/kit/page-cache.ts'
import { protectPages } from '#web/kit/safety.ts'
import { createSessionCookie } from '#web/kit/session-cookie.ts'
import { setupRoute } from '#web/kit/setup.ts'
import { OPERATOR_TEXTS } from '#web/kit/site.ts'
import { listPath, offeredTypes, projectPath, REPORT, SEARCH } from '#web/kit/site-paths.ts'
import { showHome } from './lists/home.ts'
import { showList } from './lists/list.ts'
import { viewOf } from './lists/rows.ts'
import {
  sendEmbed,
  sendManifest,
  sendRobots,
  sendSearchDescription,
  sendSitemapIndex,
  sendSitemapPart,
} from './machines/discovery.ts'
import {
  FEED_FORMATS,
  type FeedFormat,
  sendCollectionFeed,
  sendListFeed,
  sendOrganizationFeed,
  sendUserFeed,
  sendVersionsFeed,
} from './machines/feeds.ts'
import { showOperatorText } from './operator-text.ts'
import { showCollection, showOrganization, showUser } from './people/people.ts'
import { createCards } from './project/card.ts'
import { showProject } from './project/project-page.ts'
import { followFromPage, showDependencies, showGallery, showUsedBy } from './project/project-tabs.ts'
import { saveFromPage, showSave } from './project/save.ts'
import { sendStatisticsCsv, showStatistics } from './project/statistics.ts'
import { showChangelog, showVersion, showVersions } from './project/versions-page.ts'
import { sendReport, showReport } from './report.ts'

export function siteRoutes(
  app: App,
  given: Pick<SiteDeps, 'deps' | 'tokens' | 'site' | 'statistics' | 'trends'>,
): void {
  const { deps, site } = given
  const texts = createTexts(deps)
  const all: SiteDeps = { ...given, texts, figures: createFigures(deps), cookie: createSessionCookie(deps.config) }
  app.addHook('onClose', () => texts.close())
  app.register(async (plain) => {
    const scope = plain as App
    await takeForms(scope)
    await protectPages(scope, deps.config)
    scope.setErrorHandler((thrown: Error, req, reply) => showSiteError(all, thrown, req, reply))
    const beginnings = new Set(projectTypes(deps).map((type) => `/${type}/`))
    app.addFastPath(readyPages({ deps, cookie: all.cookie, beginnings, readCookies: scope.parseCookie }))
    setupRoute(scope, { config: deps.config, taxonomy: deps.taxonomy, site })
    listPages(scope, all)
    projectPages(scope, all)
    peoplePages(scope, all)
    feeds(scope, all)
    machines(scope, all)
    sitePage(scope, all, REPORT, { name: 'siteReport' }, showReport)
    sitePage(scope, all, REPORT, { name: 'siteReportForm', method: 'POST' }, sendReport)
    for (const text of OPERATOR_TEXTS)
      sitePage(scope, all, `/${text}`, { name: 'siteOperatorText' }, (request) => showOperatorText(request, text))
    sitePage(scope, all, '/', { name: 'siteHome', prefers: 'html', kept: 'by-answers' }, showHome)
    sitePage(scope, all, '/*', { name: 'siteAbsent', prefers: 'html' }, async () => absent())
  })
}

function listPages(app: App, all: SiteDeps): void {
  const types = offeredTypes(all.deps.taxonomy)
  for (const type of types) {
    sitePage(app, all, listPath(type), { name: 'siteList', kept: 'by-answers' }, (request) => showList(request, type))
    sitePage(app, all, `/discover${listPath(type)}`, { name: 'siteMovedList' }, async ({ moved }) =>
      moved(listPath(type)),
    )
  }
  sitePage(app, all, SEARCH, { name: 'siteSearch', kept: 'by-answers' }, (request: SiteRequest) =>
    showList(request, undefined),
  )
  sitePage(app, all, '/discover', { name: 'siteMovedSearch' }, async ({ moved }) => moved(SEARCH))
}

type ProjectPage = {
  path: string
  name: string
  show: (request: SiteRequest) => Promise<FastifyReply>
  kept?: 'by-parts'
}

/**
 * A project's pages, below each type and below `/project`, which lead to the canonical address. Those that are kept show
 * what is announced as a change of the project, of its versions, of what they need, and of the people behind them.
 */
const PROJECT_PAGES: readonly ProjectPage[] = [
  { path: '', name: 'siteProject', show: showProject, kept: 'by-parts' },
  { path: '/gallery', name: 'siteGallery', show: showGallery, kept: 'by-parts' },
  { path: '/versions', name: 'siteVersions', show: showVersions, kept: 'by-parts' },
  { path: '/version/:version', name: 'siteVersion', show: showVersion, kept: 'by-parts' },
  { path: '/changelog', name: 'siteChangelog', show: showChangelog, kept: 'by-parts' },
  { path: '/dependencies', name: 'siteDependencies', show: showDependencies },
  { path: '/used-by', name: 'siteUsedBy', show: showUsedBy },
  { path: '/save', name: 'siteSave', show: showSave },
  { path: '/statistics', name: 'siteStatistics', show: showStatistics },
  { path: '/statistics.csv', name: 'siteStatisticsCsv', show: sendStatisticsCsv },
]

/** How addresses of projects begin. */
const projectTypes = ({ taxonomy }: Pick<Deps, 'taxonomy'>): string[] => [...offeredTypes(taxonomy), 'project']

function projectPages(app: App, all: SiteDeps): void {
  for (const type of projectTypes(all.deps)) {
    for (const { path, name, show, kept } of PROJECT_PAGES)
      sitePage(
        app,
        all,
        `/${type}/:slug${path}`,
        { name, ...(kept === undefined ? {} : { kept }) },
        async (request) => (await movedProject(request)) ?? show(request),
      )
    const form = (path: string, name: string, isFollowing: boolean) => {
      sitePage(app, all, `/${type}/:slug${path}`, { name, method: 'POST' }, (request) =>
        followFromPage(request, isFollowing),
      )
      // Whoever loads the address of a form is led to its page.
      sitePage(app, all, `/${type}/:slug${path}`, { name: `${name}Back` }, async ({ moved, param }) =>
        moved(`/${type}/${encodeURIComponent(param('slug'))}`),
      )
    }
    sitePage(app, all, `/${type}/:slug/save`, { name: 'siteSaveForm', method: 'POST' }, saveFromPage)
    form('/follow', 'siteFollow', true)
    form('/unfollow', 'siteUnfollow', false)
  }
}

/** Leads to the canonical address of a project that is named by another type, another slug or its ID. */
async function movedProject(request: SiteRequest): Promise<FastifyReply | undefined> {
  const { deps, viewer, param, moved, page } = request
  const { slug, project_types: types } = viewOf(await getProject(deps, viewer, param('slug')))
  const path = page.address.split('?')[0] ?? ''
  const [, , , ...below] = path.split('/')
  const canonical = projectPath({ slug, types })
  const wanted = [canonical, ...below].join('/')
  return decodeURIComponent(path) === decodeURIComponent(wanted) ? undefined : moved(wanted)
}

function peoplePages(app: App, all: SiteDeps): void {
  sitePage(app, all, '/user/:name', { name: 'siteUser' }, showUser)
  sitePage(app, all, '/organization/:name', { name: 'siteOrganization' }, showOrganization)
  sitePage(app, all, '/collection/:id', { name: 'siteCollection' }, showCollection)
}

function feeds(app: App, all: SiteDeps): void {
  const types = offeredTypes(all.deps.taxonomy)
  for (const format of FEED_FORMATS) {
    const feed = (path: string, send: (request: SiteRequest, format: FeedFormat) => Promise<FastifyReply>) =>
      sitePage(app, all, `${path}.${format}`, { name: 'siteFeed' }, (request) => send(request, format))
    for (const type of [undefined, ...types]) feed(listPath(type), (request) => sendListFeed(request, type, format))
    for (const type of projectTypes(all.deps)) feed(`/${type}/:slug/versions`, sendVersionsFeed)
    feed('/user/:name', sendUserFeed)
    feed('/organization/:name', sendOrganizationFeed)
    feed('/collection/:id', sendCollectionFeed)
  }
}

function machines(app: App, all: SiteDeps): void {
  sitePage(app, all, '/card/:id.png', { name: 'siteCard', budget: 'asset' }, createCards())
  sitePage(app, all, '/sitemap.xml', { name: 'siteMap' }, sendSitemapIndex)
  sitePage(app, all, '/sitemap-:part.xml', { name: 'siteMapPart' }, sendSitemapPart)
  sitePage(app, all, '/robots.txt', { name: 'siteRobots' }, sendRobots)
  sitePage(app, all, '/manifest.webmanifest', { name: 'siteManifest' }, sendManifest)
  sitePage(app, all, '/opensearch.xml', { name: 'siteSearchDescription' }, sendSearchDescription)
  sitePage(app, all, '/oembed', { name: 'siteEmbed' }, sendEmbed)
}
