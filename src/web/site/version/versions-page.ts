// The list of a project's versions, with filters by game version, loader and channel.

import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { pageNumber, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { countOf, fileSize, timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { emptyState, liveStatus, pager } from '#web/ui/parts/lists.ts'
import { loadAffected } from '../advisory/advisory-notes.ts'
import { fieldTexts } from '../lists/rows.ts'
import { releasesIn, tagName, tagNames, versionRuns } from '../names.ts'
import { primaryFile } from '../project/offer.ts'
import { loadProject, type ProjectData } from '../project/project-data.ts'
import { projectPage } from '../project/project-frame.ts'
import { channelBadge, loadVersionPaths, type VersionPaths, warningBadges } from './version-parts.ts'

const PER_PAGE = 50
const VALUES_MAX = 20
/** Maximum number of runs of game versions in a table row. */
const RUNS_MAX = 6

export async function showVersions(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, queries, language } = request
  const data = await loadProject(request, project)
  const paths = await loadVersionPaths(request, data)
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
  const versions = (await listCachedVersions(deps, ids.slice((current - 1) * PER_PAGE, current * PER_PAGE))).map(viewOf)
  const hrefOf = (number: number) => {
    const { loaders: l, gameVersions: v, channels: t } = filters
    return pathTo(page, withQuery(`${data.path}/versions`, { l, v, t, page: number === 1 ? '' : String(number) }))
  }
  const affected = await loadAffected(request, data.project.id)
  const rows = versions.map((version) => versionRow(request, paths, { version, affected }))
  const column = (label: string) => html`<th scope="col">${label}</th>`
  const table = html`<div class="scroll"><table class="versions folds"><thead><tr>${column(language.t('site.version'))}${column(language.t('site.channel'))}${column(language.t('site.facet.v'))}${column(language.t('site.facet.l'))}${column(language.t('site.column.downloads'))}${column(language.t('site.published'))}${column(language.t('site.file'))}</tr></thead><tbody>
${rows}</tbody></table></div>`
  const none = emptyState(page, {
    icon: 'box',
    title: language.t(ids.length > 0 ? 'site.list.no-page' : 'site.versions.none'),
    action: html`<p><a class="button" href="${pathTo(page, `${data.path}/versions`)}">${language.t('site.list.first')}</a></p>`,
  })
  const body = html`${liveStatus(page)}<div id="live"><div class="section-head"><h1>${language.t('site.tab.versions')}</h1><p class="soft small" id="found">${language.t('site.count.version', { count: ids.length })}</p></div>
${filterForm(request, data, filters)}
${rows.length > 0 ? table : none}
${current <= last && pager(page, { current, last, href: hrefOf })}</div>`
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
    html`<label>${label}<select id="by-${name}" name="${name}"><option value="">${language.t('site.setup.any')}</option>${values.map(({ value, label: text }) => html`<option${attributes({ value, selected: chosen[0] === value })}>${text}</option>`)}</select></label>`
  const supported = fieldTexts(view, 'game_versions')
  const releases = releasesIn(deps.taxonomy, supported)
  // Snapshots follow the releases.
  const games = [...new Set([...releases, ...supported])].map((value) => ({ value, label: value }))
  const loaders = view.loaders.map((value) => ({ value, label: tagName(language, value) }))
  const channels = VERSION_TYPES.map((value) => ({ value, label: language.t(`site.channel.${value}`) }))
  return html`<form class="narrowing" action="${pathTo(page, `${path}/versions`)}" autocomplete="off" data-send>${select('v', language.t('site.setup.version'), games, filters.gameVersions)}${select('l', language.t('site.setup.loader'), loaders, filters.loaders)}${select('t', language.t('site.channel'), channels, filters.channels)}<button>${language.t('site.show-results')}</button></form>`
}

/** Narrow windows show the row as a card. */
function versionRow(
  { page, deps }: PageRequest,
  paths: VersionPaths,
  { version, affected }: { version: VersionView; affected: ReadonlySet<string> },
): Markup {
  const { language } = page
  const file = primaryFile(version)
  const games = versionRuns(deps.taxonomy, fieldTexts(version, 'game_versions')).slice(0, RUNS_MAX)
  const downloads = html`<span class="in-card"> ${language.t('site.downloads', { count: version.downloads })}</span>`
  const name = version.name !== version.version_number && html`<span class="soft" dir="auto">${version.name}</span>`
  return html`<tr><th scope="row"><a href="${pathTo(page, paths.of(version))}"><bdi>${version.version_number}</bdi></a>${name}</th><td>${channelBadge(page, version)}${warningBadges(page, version, affected)}</td><td class="fits">${games.join(', ')}</td><td class="late">${tagNames(language, version.loaders).join(', ')}</td><td class="num late">${countOf(language, version.downloads)}${downloads}</td><td class="late">${timeAgo(language, new Date(version.date_published), page.now)}</td><td class="file">${file !== undefined && html`<a class="button tight" href="${file.url}" download>${icon(page, 'download')}${fileSize(language, file.size)}<span class="vh"> ${language.t('site.get.download', { name: version.version_number })}</span></a>`}</td></tr>
`
}
