// The versions of a project: the list, one version with its files, and the changelog.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findScan, type ScanRow } from '#features/catalogue/scans/queries.ts'
import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import { getVersion, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import { findVersionIdByNumber } from '#features/catalogue/versions/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { isModerator } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { countOf, exactTime, fileSize, timeAgo } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import { badge, emptyState, pager } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { pageNumber, reportPath, versionPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fieldTexts, versionOf } from '../lists/rows.ts'
import { releasesIn, tagName, versionRuns } from '../names.ts'
import { type Dependency, loadArchive, loadDependencies, primaryFile } from './offer.ts'
import { loadProject, type ProjectData } from './project-data.ts'
import { archiveLabel, projectPage } from './project-frame.ts'
import { versionStructure } from './structured-data.ts'

const PER_PAGE = 50
const VALUES_MAX = 20
/** Maximum number of runs of game versions in a table row. */
const RUNS_MAX = 6

export async function showVersions(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, queries } = request
  const { language } = page
  const data = await loadProject(request, project)
  const filters = {
    loaders: validValues(queries('l')),
    gameVersions: validValues(queries('v')),
    channels: VERSION_TYPES.filter((type) => queries('t').includes(type)),
  }
  const ids = await listVersionIdsFor(deps, data.project.id, {
    loaders: filters.loaders,
    versionTypes: filters.channels,
    loaderFields: { game_versions: filters.gameVersions },
  })
  const last = Math.max(1, Math.ceil(ids.length / PER_PAGE))
  const current = pageNumber(request)
  const versions = (await listCachedVersions(deps, ids.slice((current - 1) * PER_PAGE, current * PER_PAGE))).map(
    versionOf,
  )
  const hrefOf = (number: number) => {
    const { loaders: l, gameVersions: v, channels: t } = filters
    return pathTo(page, withQuery(`${data.path}/versions`, { l, v, t, page: number === 1 ? '' : String(number) }))
  }
  const rows = versions.map((version) => versionRow(request, data, version))
  const table = html`<div class="scroll"><table class="versions"><thead><tr><th scope="col">${language.t('site.version')}</th><th scope="col">${language.t('site.facet.v')}</th><th scope="col">${language.t('site.facet.l')}</th><th scope="col">${language.t('site.column.downloads')}</th><th scope="col">${language.t('site.published')}</th><th scope="col">${language.t('site.file')}</th></tr></thead><tbody>
${rows}</tbody></table></div>`
  const none = emptyState(page, {
    icon: 'box',
    title: language.t(ids.length > 0 ? 'site.list.no-page' : 'site.versions.none'),
    action: html`<p><a class="button" href="${pathTo(page, `${data.path}/versions`)}">${language.t('site.list.first')}</a></p>`,
  })
  const body = html`<div class="section-head"><h2>${language.t('site.count.version', { count: ids.length })}</h2></div>
${filterForm(request, data, filters)}
${rows.length > 0 ? table : none}
${current <= last && pager(page, { current, last, href: hrefOf })}`
  const title = language.t('site.title.versions', { name: data.view.name })
  return show(projectPage(request, data, { tab: '/versions', title, body, status: current > last ? 404 : 200 }))
}

function validValues(values: readonly string[]): string[] {
  return [...new Set(values)]
    .filter((value) => value !== '' && value.length <= 64 && value.isWellFormed())
    .slice(0, VALUES_MAX)
}

type VersionFilters = { loaders: string[]; gameVersions: string[]; channels: string[] }

function filterForm({ page, deps }: PageRequest, { view, path }: ProjectData, filters: VersionFilters): Markup {
  const { language } = page
  const select = (
    name: string,
    label: string,
    values: readonly { value: string; label: string }[],
    chosen: readonly string[],
  ) =>
    html`<label>${label}<select name="${name}"><option value="">${language.t('site.setup.any')}</option>${values.map(({ value, label: text }) => html`<option${attributes({ value, selected: chosen[0] === value })}>${text}</option>`)}</select></label>`
  const games = releasesIn(deps.taxonomy, fieldTexts(view, 'game_versions')).map((value) => ({ value, label: value }))
  const loaders = view.loaders.map((value) => ({ value, label: tagName(value) }))
  const channels = VERSION_TYPES.map((value) => ({ value, label: language.t(`site.channel.${value}`) }))
  return html`<form class="narrowing" action="${pathTo(page, `${path}/versions`)}" data-send>${select('v', language.t('site.setup.version'), games, filters.gameVersions)}${select('l', language.t('site.setup.loader'), loaders, filters.loaders)}${select('t', language.t('site.channel'), channels, filters.channels)}<button>${language.t('site.show-results')}</button></form>`
}

function versionRow({ page, deps }: PageRequest, { path }: ProjectData, version: VersionView): Markup {
  const { language } = page
  const file = primaryFile(version)
  const games = versionRuns(deps.taxonomy, fieldTexts(version, 'game_versions')).slice(0, RUNS_MAX)
  const href = pathTo(page, versionPath(path, version))
  return html`<tr><th scope="row"><a href="${href}"><bdi>${version.version_number}</bdi></a> ${channelBadge(page, version)}<span class="soft" dir="auto">${version.name}</span></th><td>${games.join(', ')}</td><td>${version.loaders.map(tagName).join(', ')}</td><td class="num">${countOf(language, version.downloads)}</td><td>${timeAgo(language, new Date(version.date_published), page.now)}</td><td>${file !== undefined && html`<a class="button tight" href="${file.url}" download>${icon(page, 'download')}${fileSize(language, file.size)}<span class="vh"> ${language.t('site.get.download', { name: version.version_number })}</span></a>`}</td></tr>
`
}

function channelBadge({ language }: PageContext, { version_type }: VersionView): Part {
  if (version_type === 'release') return null
  return html`${badge(version_type === 'alpha' ? 'bad' : 'warn', language.t(`site.channel.${version_type}`))} `
}

/** Shows a version by its number or ID. Users who can see an unlisted version find it by its ID. */
export async function showVersion(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, show, param, texts } = request
  const { language } = page
  const data = await loadProject(request, project)
  const name = param('version')
  const id = (await findVersionIdByNumber(deps.db, data.project.id, name)) ?? (isIdForm(name) ? name : undefined)
  if (id === undefined) throw notFound('version')
  const cached = await getVersion(deps, viewer, id)
  if (cached.project.id !== data.project.id) throw notFound('version')
  const version = versionOf(cached)
  const changelog = await texts.render(version.changelog ?? '', page)
  const dependencies = await loadDependencies(request, version)
  const gameVersions = fieldTexts(version, 'game_versions')
  const filter = { loaders: version.loaders, loaderFields: { game_versions: gameVersions } }
  const archive = await loadArchive(request, cached, filter)
  const scan = (data.isMember || isModerator(viewer)) && scanPair(page, await findScan(deps.db, id))
  const files = version.files.map(
    (
      file,
    ) => html`<li><a class="button" href="${file.url}" download>${icon(page, 'download')}<bdi>${file.filename}</bdi></a> <span class="soft">${fileSize(language, file.size)}</span>
<details><summary>${language.t('site.hashes')}</summary><dl class="pairs"><dt>SHA-1</dt><dd><code class="long">${file.hashes.sha1}</code></dd><dt>SHA-512</dt><dd><code class="long">${file.hashes.sha512}</code></dd></dl></details></li>
`,
  )
  const games = versionRuns(deps.taxonomy, gameVersions)
  const hasArchive = files.length > 1 || dependencies.some(({ type }) => type === 'required')
  const all = withQuery(`/v3/version/${version.id}/archive`, { dependencies: 'true' })
  const archiveLink =
    files.length > 0 &&
    hasArchive &&
    html`<p class="small"><a href="${pathTo(page, all)}" download>${archiveLabel(page, archive)}</a></p>`
  const body = html`<div class="section"><h2><bdi>${version.name}</bdi> ${channelBadge(page, version)}</h2>
<dl class="pairs wide"><dt>${language.t('site.version')}</dt><dd><bdi>${version.version_number}</bdi></dd><dt>${language.t('site.facet.v')}</dt><dd>${games.join(', ')}</dd><dt>${language.t('site.facet.l')}</dt><dd>${version.loaders.map(tagName).join(', ')}</dd><dt>${language.t('site.published')}</dt><dd>${exactTime(language, new Date(version.date_published))}</dd><dt>${language.t('site.column.downloads')}</dt><dd>${countOf(language, version.downloads)}</dd>${scan}<dt>${language.t('site.version-id')}</dt><dd><code>${version.id}</code></dd></dl>
<p class="small"><a href="${pathTo(page, reportPath('version', version.id))}">${language.t('site.report.version')}</a></p></div>
<div class="section"><h2>${language.t('site.files')}</h2>${files.length > 0 ? html`<ul class="files">${files}</ul>` : html`<p class="soft">${language.t('site.get.none')}</p>`}${archiveLink}</div>
${dependencies.length > 0 && html`<div class="section"><h2>${language.t('site.tab.dependencies')}</h2>${dependencyList(page, dependencies)}</div>`}
<div class="section"><h2>${language.t('site.tab.changelog')}</h2>${String(changelog) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : changelog}</div>`
  const title = language.t('site.title.version', { name: data.view.name, version: version.version_number })
  const canonical = versionPath(data.path, version)
  const structuredData = versionStructure(page, data, version)
  return show(projectPage(request, data, { tab: '/versions', title, body, canonical, structuredData }))
}

function scanPair(page: PageContext, row: ScanRow | undefined): Markup {
  const { language } = page
  const at = row?.finished ?? null
  return html`<dt>${language.t('site.scan')}</dt><dd>${row !== undefined && icon(page, 'shield')} ${language.t(`site.scan.${row?.state ?? 'none'}`)}${at !== null && html`, ${timeAgo(language, at, page.now)}`}${row !== undefined && row.reason !== null && html`<span class="soft" dir="auto"> ${row.reason}</span>`}</dd>`
}

/** Lists dependencies with their types. */
export function dependencyList(page: PageContext, dependencies: readonly Dependency[]): Markup {
  const { language } = page
  const items = dependencies.map(({ type, project, path, version, fileName }) => {
    const name =
      project === undefined
        ? html`<bdi>${fileName}</bdi>`
        : html`<a href="${pathTo(page, path)}"><bdi>${project.name}</bdi></a>`
    return html`<li>${icon(page, 'lib')}<span>${name}${version !== undefined && html` <span class="soft"><bdi>${version.version_number}</bdi></span>`}</span>${badge(type === 'incompatible' ? 'bad' : type === 'required' ? 'good' : 'warn', language.t(`site.dependency.${type as 'required'}`))}</li>
`
  })
  return html`<ul class="named">${items}</ul>`
}

const CHANGES_PER_PAGE = 20
/** Maximum number of versions between two versions, and in the lists of the form. */
const BETWEEN_MAX = 100

/** Shows all changes, newest first, or the changes after one version up to another. */
export async function showChangelog(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, query, texts } = request
  const { language } = page
  const data = await loadProject(request, project)
  const ids = await listVersionIdsFor(deps, data.project.id, {})
  const [from, to] = await Promise.all([indexOf(request, ids, query('from')), indexOf(request, ids, query('to'))])
  const isSpan = from !== undefined || to !== undefined
  // The list begins with the newest version, so that the span ends before `from`.
  const span = isSpan ? ids.slice(to ?? 0, from ?? ids.length).slice(0, BETWEEN_MAX) : ids
  const last = isSpan ? 1 : Math.max(1, Math.ceil(span.length / CHANGES_PER_PAGE))
  const current = isSpan ? 1 : pageNumber(request)
  const shown = isSpan ? span : span.slice((current - 1) * CHANGES_PER_PAGE, current * CHANGES_PER_PAGE)
  const versions = (await listCachedVersions(deps, shown)).map(versionOf)
  const changes = await Promise.all(
    versions.map(async (version) => ({ version, text: await texts.render(version.changelog ?? '', page) })),
  )
  const choices = (await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))).map(versionOf)
  const options = (chosen: string) =>
    choices.map(
      ({ id, version_number }) =>
        html`<option${attributes({ value: id, selected: chosen === id || chosen === version_number })}>${version_number}</option>`,
    )
  const select = (name: string, label: string, chosen: string) =>
    html`<label>${label}<select name="${name}"><option value="">${language.t('site.setup.any')}</option>${options(chosen)}</select></label>`
  const items = changes.map(
    ({
      version,
      text,
    }) => html`<section class="section change"><h2><a href="${pathTo(page, versionPath(data.path, version))}"><bdi>${version.version_number}</bdi></a> ${channelBadge(page, version)}<span class="soft small">${timeAgo(language, new Date(version.date_published), page.now)}</span></h2>
${String(text) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : text}</section>
`,
  )
  const body = html`<form class="narrowing" action="${pathTo(page, `${data.path}/changelog`)}" data-send>${select('from', language.t('site.changes.from'), query('from'))}${select('to', language.t('site.changes.to'), query('to'))}<button>${language.t('site.show-results')}</button></form>
${items.length > 0 ? items : emptyState(page, { icon: 'clock', title: language.t('site.changes.none') })}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, `${data.path}/changelog${number === 1 ? '' : `?page=${number}`}`) })}`
  const title = language.t('site.title.changelog', { name: data.view.name })
  return show(projectPage(request, data, { tab: '/changelog', title, body, status: current > last ? 404 : 200 }))
}

/** Returns the index of a version by its ID or number; undefined if the list does not contain it. */
async function indexOf({ deps }: PageRequest, ids: readonly string[], name: string): Promise<number | undefined> {
  if (name === '' || name.length > 64 || !name.isWellFormed()) return undefined
  const byId = ids.indexOf(name)
  if (byId >= 0) return byId
  const versions = await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))
  const byNumber = versions.findIndex((version) => versionOf(version).version_number === name)
  return byNumber >= 0 ? byNumber : undefined
}
