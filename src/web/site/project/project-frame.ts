// The frame of a project's pages: name, numbers, download, tabs, and a note about its status.
import { listCachedFollows } from '#features/catalogue/follows/follows-cache.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { isSet } from '#web/kit/cookies.ts'
import { feedLinks, listPath, PATHS, PROJECT_TYPES, reportPath, serverPackPath, withQuery } from '#web/kit/paths.ts'
import type { PersonalPart, Reader } from '#web/kit/personal-parts.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { countOf, fileSize, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { doneNote } from '#web/ui/parts/actions.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { breadcrumbs, note, tabs } from '#web/ui/parts/lists.ts'
import { fieldTexts, tile } from '../lists/rows.ts'
import { hueClass, releasesIn, setupName, tagName, tagNames, typesName } from '../names.ts'
import { launcherMenu } from '../pack/launcher-menu.ts'
import { copyButton, shareButton } from '../version/version-parts.ts'
import { cardOf } from './card.ts'
import { mirroredFrom } from './mirrored-from.ts'
import { type Offer, primaryFile } from './offer.ts'
import type { ProjectData } from './project-data.ts'
import { projectStructure } from './structured-data.ts'

const TABS = [
  ['', 'site.tab.description', 'book'],
  ['/gallery', 'site.tab.gallery', 'image'],
  ['/versions', 'site.tab.versions', 'box'],
  ['/changelog', 'site.tab.changelog', 'clock'],
  ['/dependencies', 'site.tab.dependencies', 'link'],
  ['/used-by', 'site.tab.used-by', 'users'],
  ['/statistics', 'site.tab.statistics', 'chart'],
] as const satisfies [string, MessageKey, IconName][]
export type ProjectTab = (typeof TABS)[number][0]

/** Puts the content of a page into the frame of the project. */
export function projectPage(
  request: PageRequest,
  data: ProjectData,
  of: {
    tab: ProjectTab
    title: string
    body: Markup
    /** Notice above the header. */
    warning?: Part
    canonical?: string
    description?: string
    isSplit?: boolean
    status?: number
    previous?: string
    next?: string
    structuredData?: readonly object[]
  },
): ShownPage {
  const { page } = request
  const { view, path } = data
  const { tab, title, body, warning = null, isSplit = false, ...rest } = of
  const hue = hueClass(view.color)
  return {
    description: view.summary,
    canonical: `${path}${tab}`,
    isUnlisted: !['approved', 'archived'].includes(view.status),
    className: ['page', hue].filter(Boolean).join(' '),
    ...cardOf(page, view),
    feeds: feedLinks(`${path}/versions`, page.language.t('site.feed.versions', { name: view.name })),
    structuredData: projectStructure(page, data),
    ...rest,
    title,
    insiders: data.insiders,
    body: html`${projectBreadcrumbs(page, data)}
${doneLine(request, data)}${statusNote(page, data)}${warning !== null && html`<div class="state">${warning}</div>`}
${tab === '' ? projectHead(request, data) : briefHead(request, data)}
${projectTabs(page, data, tab)}
<div class="sheet${isSplit && ' split'}">
${body}
</div>`,
  }
}

/** Says what a form of the page has done. */
function doneLine(request: PageRequest, data: ProjectData): Part {
  const notice = noticeOf(request)
  const next = request.query('done') === 'version-published' && nextSteps(request, data)
  return notice !== undefined && html`<div class="state">${doneNote(request.page, html`${notice}${next}`)}</div>`
}

/** Shows members what they can do after they have published a version. */
function nextSteps({ page, viewer }: PageRequest, { view, path, insiders }: ProjectData): Part {
  if (viewer === null || !insiders.has(viewer.id)) return false
  const { t } = page.language
  const link = (to: string, label: string) =>
    html`<a class="button" href="${pathTo(page, `${path}${to}`)}">${label}</a>`
  if (view.status === 'approved' || view.status === 'archived')
    return html`<p>${t('site.published.public', { count: view.followers })}</p><div class="line">${link('/settings/versions', t('site.published.versions'))}${link('/versions/new', t('site.published.another'))}</div>`
  const text = view.status === 'processing' ? t('site.published.in-review') : t('site.published.hidden')
  return html`<p>${text}</p><div class="line">${link('/settings/review', t('site.published.review'))}${link('/settings/versions', t('site.published.versions'))}</div>`
}

function projectBreadcrumbs(page: PageContext, { view }: ProjectData): Markup {
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  const list = {
    href: pathTo(page, listPath(type)),
    label: type === undefined ? page.language.t('site.browse') : typesName(page.language, type),
  }
  const [category] = view.categories
  const deeper =
    category === undefined
      ? []
      : [{ href: pathTo(page, withQuery(listPath(type), { c: category })), label: tagName(page.language, category) }]
  return breadcrumbs(page, [list, ...deeper])
}

/** Explains a status other than `approved`. */
function statusNote(page: PageContext, { view }: ProjectData): Part {
  const { language } = page
  if (view.status === 'approved') return null
  return html`<div class="state">${note(page, 'warn', html`<p>${language.t(`site.state.${view.status}`)}</p>`)}</div>`
}

function projectHead(request: PageRequest, data: ProjectData): Markup {
  const { page } = request
  const { view } = data
  return html`<div class="hero">
${tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 81)}
<div>
<h1 dir="auto">${view.name}</h1>
${headDetails(request, data, view.origin !== undefined && html`<p class="soft">${mirroredFrom(page, view.origin)}</p>`)}${memberLinks(request, data)}
</div>
${download(request, data)}
</div>`
}

/** The header of the pages below a project, which have their own heading. Narrow windows show one line of it. */
function briefHead(request: PageRequest, data: ProjectData): Markup {
  const { page } = request
  const { view, path, isOwnOffer } = data
  return html`<div class="hero brief${isOwnOffer && ' with-file'}">
${tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 81)}
<div>
<p class="name" dir="auto"><a href="${pathTo(page, path)}">${view.name}</a></p>
${headDetails(request, data)}
</div>
${download(request, data)}
</div>${memberLinks(request, data)}`
}

/** Links of members to their pages about the project, and about the version of the page. */
function memberLinks({ page, language }: PageRequest, { path, isMember, isOwnOffer, offer }: ProjectData): Part {
  if (!isMember) return null
  const link = (to: string, name: IconName, label: MessageKey) =>
    html`<a class="button tight" href="${pathTo(page, `${path}${to}`)}">${icon(page, name)}${language.t(label)}</a>`
  const version = isOwnOffer && offer !== undefined && `/version/${offer.version.id}/edit`
  return html`
<nav class="acts" aria-label="${language.t('site.manage')}">${version !== false && link(version, 'pencil', 'site.manage.version')}${link('/settings/description', 'pencil', 'site.manage.edit')}${link('/versions/new', 'upload', 'site.manage.upload')}${link('/settings', 'cog', 'site.manage.settings')}</nav>`
}

function headDetails(request: PageRequest, data: ProjectData, origin: Part = null): Markup {
  const { page, language } = request
  const { view } = data
  return html`<p class="what" dir="auto">${view.summary}</p>${origin}
<dl class="facts"><div><dt>${language.t('site.downloads', { count: view.downloads })}</dt><dd>${countOf(language, view.downloads)}</dd></div><div><dt>${language.t('site.followers', { count: view.followers })}</dt><dd>${countOf(language, view.followers)}</dd></div><div><dt class="vh">${language.t('site.updated')}</dt><dd>${language.rich('site.updated-at', { at: timeAgo(language, new Date(view.updated), page.now) })}</dd></div></dl>
<div class="acts">${request.personal(followButton({ id: view.id, path: data.path }))}<a class="button" href="${pathTo(page, `${data.path}/save`)}">${icon(page, 'bookmark')}${language.t('site.save')}</a>${packButton(page, view)}${iconButtons(page, view, data.path)}</div>`
}

/** Adds the project to the pack that the visitor composes. Packs cannot be part of packs. */
function packButton(page: PageContext, { id, project_types }: ProjectData['view']): Part {
  if (project_types.length === 0 || project_types.includes('modpack')) return null
  const href = pathTo(page, withQuery(PATHS.pack, { add: id }))
  return html`<a class="button" href="${href}" rel="nofollow">${icon(page, 'plus')}${page.language.t('site.pack.add')}</a>`
}

/** Shows the buttons for the feed, for sharing and for reporting. A script shows the share button if the browser can share. */
function iconButtons(page: PageContext, { id, name }: ProjectData['view'], path: string): Markup {
  const { language } = page
  const button = (path: string, name: IconName, label: string) =>
    html`<a class="button" href="${pathTo(page, path)}" title="${label}">${icon(page, name)}<span class="vh">${label}</span></a>`
  return html`${button(`${path}/versions.atom`, 'rss', language.t('site.feed.versions', { name }))}${shareButton(page, { name })}${button(reportPath('project', id), 'flag', language.t('site.report.title', { name }))}`
}

type Followed = { id: string; path: string }

async function isFollowing({ deps, viewer }: Reader, { id }: Followed): Promise<boolean> {
  return viewer !== null && (await listCachedFollows(deps, viewer.id)).includes(id)
}

/** Visitors without a session are led to the sign-in page and back. */
function followButton(project: Followed): PersonalPart {
  return async (reader) => {
    const { page, viewer } = reader
    const { language } = page
    const follow = html`${icon(page, 'heart')}${language.t('site.follow')}`
    if (viewer === null) {
      const href = withQuery(page.site.paths.signIn, { return: `${project.path}?done=can-follow` })
      return html`<a class="button" href="${pathTo(page, href)}">${follow}</a>`
    }
    return (await isFollowing(reader, project))
      ? buttonForm(page, {
          action: pathTo(page, `${project.path}/unfollow`),
          text: html`${icon(page, 'check')}${language.t('site.unfollow')}`,
        })
      : buttonForm(page, { action: pathTo(page, `${project.path}/follow`), text: follow })
  }
}

function download(request: PageRequest, data: ProjectData): Markup {
  const { page } = request
  const { offer, path, isOwnOffer } = data
  const { language } = page
  const setup = offer?.setup ?? request.setup
  const setupLink = html`<a href="${pathTo(page, `${path}#setup`)}">${language.t(isSet(setup) ? 'site.get.change' : 'site.get.choose')}</a>`
  const file = offer === undefined ? undefined : primaryFile(offer.version)
  if (offer === undefined || file === undefined)
    return html`<section class="get" aria-labelledby="get-head"><p id="get-head" class="strong">${language.t('site.get.none')}</p></section>`
  const heading = isOwnOffer ? language.t('project.version.this') : offerHeading(request, offer)
  const required = offer.required.flatMap(({ project, path: requiredPath, version }) => {
    const requiredFile = primaryFile(version)
    return requiredFile === undefined
      ? []
      : [
          html`<li>${icon(page, 'lib')}<a href="${pathTo(page, requiredPath)}"><bdi>${project.name}</bdi></a><a class="dl" href="${requiredFile.url}" download><bdi>${version.version_number}</bdi> ${icon(page, 'download')}<span class="vh">${language.t('site.get.download', { name: project.name })}</span></a></li>
`,
        ]
  })
  return html`<section class="get" aria-labelledby="get-head">
<div class="for"><strong id="get-head">${heading}</strong>${!isOwnOffer && setupLink}</div>
${!offer.isCompatible && html`<p class="small">${language.t('site.get.nearest', { setup: madeFor(request, offer.version) })}</p>`}<a class="${offer.isCompatible ? 'button main' : 'button quiet'}" href="${file.url}" download>${icon(page, 'download')}<span><b>${language.rich('site.get.version', { version: html`<bdi>${offer.version.version_number}</bdi>` })}</b><small><bdi>${file.filename}</bdi> · ${fileSize(language, file.size)}</small></span></a>
${launcherMenu(page, request.deps, { url: file.url, types: offer.version.project_types })}${offer.version.project_types.includes('modpack') && packLinks(page, offer, isOwnOffer ? undefined : path)}
${required.length > 0 && html`<div><p class="small soft">${language.t('site.get.needs')}</p><ul class="needs">${required}</ul>${archiveLink(page, offer)}</div>`}${!offer.isCompatible && html`<div class="small">${request.personal(notifyOffer({ id: data.view.id, path }))}</div>`}
</section>`
}

/** `path`: the page of the project, if the newest version is offered. */
function packLinks(page: PageContext, { version }: Offer, path: string | undefined): Markup {
  const { t } = page.language
  return html`<p class="small"><a href="${pathTo(page, serverPackPath(version.id))}" download>${t('site.pack.server')}</a></p>${path !== undefined && html`<p class="small">${t('site.pack.packwiz')}: <code id="packwiz">${page.site.url}${path}/pack.toml</code> ${copyButton(page, { id: 'packwiz', what: t('site.pack.packwiz') })}</p>`}`
}

function offerHeading({ page }: PageRequest, { setup, isCompatible }: Offer): string {
  const { language } = page
  if (!isSet(setup)) return language.t('site.get.newest')
  return language.t(isCompatible ? 'site.for' : 'site.get.unfit', { setup: setupName(language, setup) })
}

/** Names the newest game version and the loaders of a version: `1.19.4 on Fabric, Quilt`. */
function madeFor({ page, deps }: PageRequest, version: VersionView): string {
  const gameVersions = fieldTexts(version, 'game_versions')
  const gameVersion = releasesIn(deps.taxonomy, gameVersions)[0] ?? gameVersions[0] ?? ''
  const loader = tagNames(page.language, version.loaders).join(', ')
  if (gameVersion === '') return loader
  return page.language.t('site.setup.both', { version: gameVersion, loader })
}

/** Followers are notified of every new version. */
function notifyOffer(project: Followed): PersonalPart {
  return async (reader) => {
    const { page, viewer } = reader
    const { language } = page
    if (await isFollowing(reader, project)) return language.t('site.get.notified')
    const text = html`${icon(page, 'bell')}${language.t('site.get.notify')}`
    if (viewer !== null) return buttonForm(page, { action: pathTo(page, `${project.path}/follow`), text })
    return html`<a href="${pathTo(page, withQuery(page.site.paths.signIn, { return: `${project.path}?done=can-follow` }))}">${text}</a>`
  }
}

/** Shows the link to the archive of a version with the files that it requires. */
export function archiveLink(page: PageContext, { version, filter, archive }: Offer): Markup {
  const { language } = page
  const href = withQuery(`/v3/version/${version.id}/archive`, {
    dependencies: 'true',
    loaders: JSON.stringify(filter.loaders ?? []),
    game_versions: JSON.stringify(filter.loaderFields?.['game_versions'] ?? []),
  })
  const label =
    archive === undefined
      ? language.t('site.get.all')
      : language.t('site.get.archive', { count: archive.count, size: fileSize(language, archive.sizeBytes) })
  return html`<a class="lone" href="${pathTo(page, href)}" download>${icon(page, 'archive')}${label}</a>`
}

function projectTabs(page: PageContext, { view, path, offer, dependentCount }: ProjectData, current: ProjectTab) {
  const counts: Partial<Record<ProjectTab, number>> = {
    '/gallery': view.gallery.length,
    '/versions': view.versions.length,
    '/dependencies': offer?.dependencies.length ?? 0,
    '/used-by': dependentCount,
  }
  return tabs(
    page,
    view.name,
    TABS.map(([tab, label, name]) => ({
      href: pathTo(page, `${path}${tab}`),
      label: page.language.t(label),
      icon: name,
      isCurrent: tab === current,
      ...(counts[tab] === undefined || counts[tab] === 0 ? {} : { count: counts[tab] }),
    })),
  )
}
