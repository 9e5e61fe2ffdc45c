// Views of versions: the table, one version with its files, and the changelog.

import type { ScanRow } from '#features/catalogue/scans/queries.ts'
import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { countOf, exactTime, fileSize, timeAgo } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import { badge, emptyState, pager } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { reportPath, versionPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fieldTexts } from '../lists/rows.ts'
import { releasesIn, tagName, versionRuns } from '../names.ts'
import type { Dependency } from './dependencies.ts'
import { type ArchiveSummary, primaryFile } from './offer.ts'
import type { ProjectData } from './project-data.ts'
import { archiveLabel } from './project-frame.ts'

export type VersionFilters = { loaders: string[]; gameVersions: string[]; channels: string[] }

type VersionList = {
  versions: VersionView[]
  filters: VersionFilters
  total: number
  current: number
  last: number
  urlOf: (page: number) => string
}

export function versionsView(
  request: PageRequest,
  data: ProjectData,
  { versions, filters, total, current, last, urlOf }: VersionList,
): Markup {
  const { page } = request
  const { language } = page
  const rows = versions.map((version) => versionRow(request, data, version))
  const table = html`<div class="scroll"><table class="versions"><thead><tr><th scope="col">${language.t('site.version')}</th><th scope="col">${language.t('site.facet.v')}</th><th scope="col">${language.t('site.facet.l')}</th><th scope="col">${language.t('site.column.downloads')}</th><th scope="col">${language.t('site.published')}</th><th scope="col">${language.t('site.file')}</th></tr></thead><tbody>
${rows}</tbody></table></div>`
  const none = emptyState(page, {
    icon: 'box',
    title: language.t(total > 0 ? 'site.list.no-page' : 'site.versions.none'),
    action: html`<p><a class="button" href="${pathTo(page, `${data.path}/versions`)}">${language.t('site.list.first')}</a></p>`,
  })
  return html`<div class="section-head"><h2>${language.t('site.count.version', { count: total })}</h2></div>
${filterForm(request, data, filters)}
${rows.length > 0 ? table : none}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, urlOf(number)) })}`
}

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
  const href = pathTo(page, versionPath(path, { id: version.id, number: version.version_number }))
  return html`<tr><th scope="row"><a href="${href}"><bdi>${version.version_number}</bdi></a> ${channelBadge(page, version)}<span class="soft" dir="auto">${version.name}</span></th><td>${games.join(', ')}</td><td>${version.loaders.map(tagName).join(', ')}</td><td class="num">${countOf(language, version.downloads)}</td><td>${timeAgo(language, new Date(version.date_published), page.now)}</td><td>${file !== undefined && html`<a class="button tight" href="${file.url}" download>${icon(page, 'download')}${fileSize(language, file.size)}<span class="vh"> ${language.t('site.get.download', { name: version.version_number })}</span></a>`}</td></tr>
`
}

/** Maximum number of runs of game versions in a table row. */
const RUNS_MAX = 6

function channelBadge({ language }: PageContext, { version_type }: VersionView): Part {
  if (version_type === 'release') return null
  return html`${badge(version_type === 'alpha' ? 'bad' : 'warn', language.t(`site.channel.${version_type}`))} `
}

type ShownVersion = {
  version: VersionView
  changelog: Markup
  dependencies: readonly Dependency[]
  archive: ArchiveSummary | undefined
  /** Result of the malware scan, for members and moderators. `row` is undefined if the version was not scanned. */
  scan: { row: ScanRow | undefined } | undefined
}

export function versionView(
  { page, deps }: PageRequest,
  { version, changelog, dependencies, archive, scan }: ShownVersion,
): Markup {
  const { language } = page
  const files = version.files.map(
    (
      file,
    ) => html`<li><a class="button" href="${file.url}" download>${icon(page, 'download')}<bdi>${file.filename}</bdi></a> <span class="soft">${fileSize(language, file.size)}</span>
<details><summary>${language.t('site.hashes')}</summary><dl class="pairs"><dt>SHA-1</dt><dd><code class="long">${file.hashes.sha1}</code></dd><dt>SHA-512</dt><dd><code class="long">${file.hashes.sha512}</code></dd></dl></details></li>
`,
  )
  const games = versionRuns(deps.taxonomy, fieldTexts(version, 'game_versions'))
  const hasArchive = files.length > 1 || dependencies.some(({ type }) => type === 'required')
  const all = withQuery(`/v3/version/${version.id}/archive`, { dependencies: 'true' })
  const archiveLink =
    files.length > 0 &&
    hasArchive &&
    html`<p class="small"><a href="${pathTo(page, all)}" download>${archiveLabel(page, archive)}</a></p>`
  return html`<div class="section"><h2><bdi>${version.name}</bdi> ${channelBadge(page, version)}</h2>
<dl class="pairs wide"><dt>${language.t('site.version')}</dt><dd><bdi>${version.version_number}</bdi></dd><dt>${language.t('site.facet.v')}</dt><dd>${games.join(', ')}</dd><dt>${language.t('site.facet.l')}</dt><dd>${version.loaders.map(tagName).join(', ')}</dd><dt>${language.t('site.published')}</dt><dd>${exactTime(language, new Date(version.date_published))}</dd><dt>${language.t('site.column.downloads')}</dt><dd>${countOf(language, version.downloads)}</dd>${scan !== undefined && scanPair(page, scan.row)}<dt>${language.t('site.version-id')}</dt><dd><code>${version.id}</code></dd></dl>
<p class="small"><a href="${pathTo(page, reportPath('version', version.id))}">${language.t('site.report.version')}</a></p></div>
<div class="section"><h2>${language.t('site.files')}</h2>${files.length > 0 ? html`<ul class="files">${files}</ul>` : html`<p class="soft">${language.t('site.get.none')}</p>`}${archiveLink}</div>
${dependencies.length > 0 && html`<div class="section"><h2>${language.t('site.tab.dependencies')}</h2>${dependencyList(page, dependencies)}</div>`}
<div class="section"><h2>${language.t('site.tab.changelog')}</h2>${String(changelog) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : changelog}</div>`
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

type Changes = {
  changes: readonly { version: VersionView; text: Markup }[]
  choices: readonly VersionView[]
  from: string
  to: string
  current: number
  last: number
}

export function changelogView(
  { page }: PageRequest,
  { path }: ProjectData,
  { changes, choices, from, to, current, last }: Changes,
): Markup {
  const { language } = page
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
    }) => html`<section class="section change"><h2><a href="${pathTo(page, versionPath(path, { id: version.id, number: version.version_number }))}"><bdi>${version.version_number}</bdi></a> ${channelBadge(page, version)}<span class="soft small">${timeAgo(language, new Date(version.date_published), page.now)}</span></h2>
${String(text) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : text}</section>
`,
  )
  return html`<form class="narrowing" action="${pathTo(page, `${path}/changelog`)}" data-send>${select('from', language.t('site.changes.from'), from)}${select('to', language.t('site.changes.to'), to)}<button>${language.t('site.show-results')}</button></form>
${items.length > 0 ? items : emptyState(page, { icon: 'clock', title: language.t('site.changes.none') })}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, `${path}/changelog${number === 1 ? '' : `?page=${number}`}`) })}`
}
