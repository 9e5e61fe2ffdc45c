// The public web site: the paths of all its pages, and of previous paths that lead to them. docs/contributors/site.md explains how to
// add a page.

import type { FastifyReply } from 'fastify'
import { type CachedProject, getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { type OpenOptions, type Pages, registerArea } from '#web/kit/pages.ts'
import { listPath, offeredTypes, PATHS, projectPath, projectSegments } from '#web/kit/paths.ts'
import type { Area, PageRequest, WebDeps } from '#web/kit/request.ts'
import { requireToken } from '#web/kit/safety.ts'
import { cachedPageSource } from '#web/kit/send-page.ts'
import { OPERATOR_TEXTS } from '#web/kit/site.ts'
import { referencePages } from '#web/reference/reference-pages.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { showAdvisory } from './advisory/advisory-page.ts'
import { feedPages } from './feeds/routes.ts'
import { showHome } from './home/home.ts'
import { showList } from './lists/list-view.ts'
import { sendBadge } from './machines/badge.ts'
import { discoveryPages, faviconPage } from './machines/discovery.ts'
import { sendEmbed } from './machines/embed.ts'
import { sitemapPages } from './machines/sitemap.ts'
import { movedPages } from './moved-pages.ts'
import { packPages } from './pack/routes.ts'
import { showCollection, showOrganization, showUser } from './people/people.ts'
import { createCardHandler } from './project/card.ts'
import { showDependencies, showUsedBy } from './project/dependencies-page.ts'
import { sendDownload, sendLatestPack, sendLatestServer } from './project/download.ts'
import { showGallery } from './project/gallery-page.ts'
import { sendPackFile, sendPackIndex, sendPackMetafile, sendPackToml } from './project/modpack-files.ts'
import { showProject } from './project/project-page.ts'
import { followFromPage, saveFromPage, showSave } from './project/save.ts'
import { sendStatisticsCsv, showStatistics } from './project/statistics.ts'
import { sendReport, showReport } from './report.ts'
import { saveSetup } from './setup-form.ts'
import { showSuggestions } from './suggestions.ts'
import { showOperatorText } from './texts/operator-text.ts'
import { showChangelog } from './version/changelog-page.ts'
import { showContents } from './version/contents-page.ts'
import { showVersion } from './version/version-page.ts'
import { showVersions } from './version/versions-page.ts'

const SITE: Area = {
  defaults: { className: 'page' },
  isStored: true,
  wayOut: { path: PATHS.search, label: 'site.browse' },
  missing: 'site.absent',
  needsConsent: true,
}

type Handler = (request: PageRequest) => Promise<FastifyReply>
type ProjectHandler = (request: PageRequest, project: CachedProject) => Promise<FastifyReply>

export function sitePages(app: App, web: WebDeps): void {
  const { config, taxonomy } = web.deps
  registerArea(app, web, SITE, (pages, scope) => {
    const { cookie, pageCache } = web
    app.useFastPath(cachedPageSource({ config, cookie, pageCache, parseCookies: scope.parseCookie }))
    pages.open('GET', '/', 'siteHome', showHome, {
      prefers: 'html',
      cached: 'for-a-second',
      shows: 'Popular, new and updated projects',
      api: 'getRoot getStatistics',
    })
    pages.open('POST', PATHS.setup, 'siteSetSetup', saveSetup, { tokenless: true })
    listPages(pages, taxonomy)
    projectPages(pages, taxonomy)
    pages.open('GET', '/user/:name', 'siteUser', showUser, {
      cached: 'for-a-second',
      api: 'getUser listUserProjects listUserOrganizations',
    })
    pages.open('GET', '/organization/:name', 'siteOrganization', showOrganization, {
      cached: 'for-a-second',
      api: 'getOrganization listOrganizationMembers listOrganizationProjects',
    })
    pages.open('GET', '/collection/:id', 'siteCollection', showCollection, {
      cached: 'until-changed',
      api: 'getCollection downloadCollectionArchive',
    })
    pages.open('GET', '/advisory/:id', 'siteAdvisory', showAdvisory, { api: 'getAdvisory' })
    feedPages(pages, taxonomy)
    discoveryPages(pages, web.deps)
    sitemapPages(pages)
    pages.open('GET', PATHS.suggestions, 'siteSuggestions', showSuggestions, { cached: 'for-a-second', shows: false })
    pages.open('GET', PATHS.embed, 'siteEmbed', sendEmbed, { shows: false })
    faviconPage(pages)
    pages.open('GET', '/card/:id.png', 'siteCard', createCardHandler(), { budget: 'asset' })
    pages.open('GET', '/badge/:type/:slug/:badge.svg', 'siteBadge', sendBadge, { budget: 'asset', shows: false })
    packPages(pages, web.deps)
    pages.open('GET', PATHS.report, 'siteReport', showReport, { api: 'createReport listReportTypes' })
    pages.open('POST', PATHS.report, 'siteReportForm', sendReport, { whenReadOnly: 'form' })
    for (const text of OPERATOR_TEXTS)
      pages.open('GET', `/${text}`, 'siteOperatorText', (request) => showOperatorText(request, text), {
        shows: 'The texts of the operator: About, Rules, Terms, Privacy, Imprint and Contact',
        api: 'getInstance getInstancePage',
        cached: 'until-changed',
      })
    referencePages(pages)
    movedPages(pages, taxonomy)
    const showMissing = async ({ req, reply, page, pageRoutes }: PageRequest) => {
      const path = pageRoutes.withoutSlash(req)
      if (path === undefined) throw notFound('page')
      return reply.redirect(pathTo(page, path), 301)
    }
    pages.open('GET', '/*', 'siteAbsent', showMissing, { prefers: 'html', shows: false })
  })
}

function listPages(pages: Pages, taxonomy: Taxonomy): void {
  for (const type of offeredTypes(taxonomy)) {
    const path = listPath(type)
    pages.open('GET', path, 'siteList', (request) => showList(request, type), {
      cached: 'for-a-second',
      api: 'countSearchFacets listCategories listLoaders listProjectTypes',
    })
  }
  pages.open('GET', PATHS.search, 'siteSearch', (request) => showList(request, undefined), {
    cached: 'for-a-second',
    api: 'searchProjects suggestSearch',
  })
}

/**
 * Most pages depend on the project, its versions, their dependencies, and the users behind them. Every change to these is
 * announced. The dependents of a project and its downloads change without an announcement.
 */
const PROJECT_PAGES: readonly (OpenOptions & { path: string; name: string; show: ProjectHandler })[] = [
  {
    path: '',
    name: 'siteProject',
    api: 'getProject listProjectMembers getProjectOrganization downloadFile getPicture downloadVersionArchive downloadVersionServer followProject unfollowProject',
    show: showProject,
    cached: 'until-changed',
  },
  { path: '/gallery', name: 'siteGallery', api: 'getGalleryPicture', show: showGallery, cached: 'until-changed' },
  { path: '/versions', name: 'siteVersions', api: 'listProjectVersions', show: showVersions, cached: 'until-changed' },
  {
    path: '/version/:version',
    name: 'siteVersion',
    api: 'getProjectVersion getVersion',
    show: showVersion,
    cached: 'until-changed',
  },
  {
    path: '/version/:version/files',
    name: 'siteVersionFiles',
    shows: 'The entries of the archives of a version',
    show: showContents,
    cached: 'until-changed',
  },
  { path: '/changelog', name: 'siteChangelog', show: showChangelog, cached: 'until-changed' },
  {
    path: '/dependencies',
    name: 'siteDependencies',
    api: 'listProjectDependencies',
    show: showDependencies,
    cached: 'until-changed',
  },
  { path: '/used-by', name: 'siteUsedBy', api: 'listProjectDependents', show: showUsedBy, cached: 'for-a-second' },
  {
    path: '/save',
    name: 'siteSave',
    shows: 'Choice of the collections that contain a project',
    api: 'listUserCollections createCollection',
    show: showSave,
  },
  {
    path: '/statistics',
    name: 'siteStatistics',
    api: 'getProjectStatistics',
    show: showStatistics,
    cached: 'for-a-second',
  },
  { path: '/statistics.csv', name: 'siteStatisticsCsv', show: sendStatisticsCsv },
  { path: '/latest.mrpack', name: 'siteLatestPack', show: sendLatestPack, cost: COSTS.resolve, shows: false },
  { path: '/pack.toml', name: 'sitePackToml', show: sendPackToml, cost: COSTS.archive, shows: false },
  { path: '/index-:version.toml', name: 'sitePackIndex', show: sendPackIndex, budget: 'api', shows: false },
  { path: '/file-:file.pw.toml', name: 'sitePackMetafile', show: sendPackMetafile, budget: 'api', shows: false },
  { path: '/file-:file', name: 'sitePackFile', show: sendPackFile, budget: 'api', shows: false },
  { path: '/server.zip', name: 'siteLatestServer', show: sendLatestServer, cost: COSTS.resolve, shows: false },
  { path: '/download', name: 'siteDownload', show: sendDownload, cost: COSTS.resolve, shows: false },
]

function projectPages(pages: Pages, taxonomy: Taxonomy): void {
  for (const segment of projectSegments(taxonomy)) {
    const project = `/${segment}/:slug`
    for (const { path, name, show, ...options } of PROJECT_PAGES) {
      const handler = withProject(async (request, row) => redirectToCanonical(request, row) ?? show(request, row))
      pages.open('GET', `${project}${path}`, name, handler, options)
    }
    const form = (path: string, name: string, handler: ProjectHandler) =>
      pages.open('POST', `${project}${path}`, name, withProject(handler), { checksToken: true })
    form('/save', 'siteSaveForm', saveFromPage)
    form('/follow', 'siteFollow', (request, row) => followFromPage(request, row, true))
    form('/unfollow', 'siteUnfollow', (request, row) => followFromPage(request, row, false))
  }
}

/** Loads the project of the path. @throws ApiError 404 if the project does not exist or is hidden from the viewer */
function withProject(handler: ProjectHandler): Handler {
  return async (request) => {
    const { deps, viewer, param } = request
    const project = await getProject(deps, viewer, param('slug'))
    requireToken(request.req)
    return handler(request, project)
  }
}

/** Leads to the canonical path of a project if the path has another type, a previous slug or an ID. */
function redirectToCanonical(
  { redirectPermanently, page }: PageRequest,
  project: CachedProject,
): FastifyReply | undefined {
  const path = page.address.split('?')[0] ?? ''
  const [, , , ...below] = path.split('/')
  const canonical = [projectPath(viewOf(project)), ...below].join('/')
  return decodeURIComponent(path) === decodeURIComponent(canonical) ? undefined : redirectPermanently(canonical)
}
