// The changelog of a project: all versions, newest first, or the versions between two versions.

import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { pageNumber } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fileSize, timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { emptyState, liveStatus, pager } from '#web/ui/parts/lists.ts'
import { loadAffected } from '../advisory/advisory-notes.ts'
import { fieldTexts } from '../lists/rows.ts'
import { tagNames, versionRuns } from '../names.ts'
import { primaryFile } from '../project/offer.ts'
import { loadProject } from '../project/project-data.ts'
import { projectPage } from '../project/project-frame.ts'
import { channelBadge, loadVersionPaths, type VersionPaths, warningBadges } from './version-parts.ts'

const CHANGES_PER_PAGE = 20
/** Maximum number of versions between two versions, and in the lists of the form. */
const BETWEEN_MAX = 100
/** Maximum number of runs of game versions next to a version. */
const RUNS_MAX = 4

/** Shows all changes, newest first, or the changes after one version up to another. */
export async function showChangelog(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, query, texts, language } = request
  const data = await loadProject(request, project)
  const paths = await loadVersionPaths(request, data)
  const ids = await listVersionIdsFor(deps, data.project.id, {})
  const [from, to] = await Promise.all([indexOf(request, ids, query('from')), indexOf(request, ids, query('to'))])
  const isSpan = from !== undefined || to !== undefined
  // The list begins with the newest version, so that the span ends before `from`.
  const span = isSpan ? ids.slice(to ?? 0, from ?? ids.length).slice(0, BETWEEN_MAX) : ids
  const last = isSpan ? 1 : Math.max(1, Math.ceil(span.length / CHANGES_PER_PAGE))
  const current = isSpan ? 1 : pageNumber(request)
  const shown = isSpan ? span : span.slice((current - 1) * CHANGES_PER_PAGE, current * CHANGES_PER_PAGE)
  const versions = (await listCachedVersions(deps, shown)).map(viewOf)
  const affected = await loadAffected(request, data.project.id)
  const items = await Promise.all(
    versions.map(async (version) =>
      changeItem(request, paths, {
        version,
        affected,
        text: await texts.render(version.changelog ?? '', page, data.view),
      }),
    ),
  )
  const choices = (await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))).map(viewOf)
  const options = (chosen: string) =>
    choices.map(
      ({ id, version_number }) =>
        html`<option${attributes({ value: id, selected: chosen === id || chosen === version_number })}>${version_number}</option>`,
    )
  const select = (name: string, label: string, chosen: string) =>
    html`<label>${label}<select id="by-${name}" name="${name}"><option value="">${language.t('site.setup.any')}</option>${options(chosen)}</select></label>`
  const body = html`${liveStatus(page)}<div id="live"><div class="section-head"><h1>${language.t('site.tab.changelog')}</h1><p class="soft small" id="found">${language.t('site.count.version', { count: span.length })}</p></div>
<form class="narrowing" action="${pathTo(page, `${data.path}/changelog`)}" autocomplete="off" data-send>${select('from', language.t('site.changes.from'), query('from'))}${select('to', language.t('site.changes.to'), query('to'))}<button>${language.t('site.show-results')}</button></form>
${items.length > 0 ? items : emptyState(page, { icon: 'clock', title: language.t('site.changes.none') })}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, `${data.path}/changelog${number === 1 ? '' : `?page=${number}`}`) })}</div>`
  const title = language.t('site.title.changelog', { name: data.view.name })
  return show(projectPage(request, data, { tab: '/changelog', title, body, status: current > last ? 404 : 200 }))
}

function changeItem(
  { page, deps }: PageRequest,
  paths: VersionPaths,
  { version, affected, text }: { version: VersionView; affected: ReadonlySet<string>; text: Markup },
): Markup {
  const { language } = page
  const file = primaryFile(version)
  const games = versionRuns(deps.taxonomy, fieldTexts(version, 'game_versions')).slice(0, RUNS_MAX)
  const fits = [...tagNames(language, version.loaders), ...games].join(', ')
  const download =
    file !== undefined &&
    html`<a class="button tight" href="${file.url}" download>${icon(page, 'download')}${fileSize(language, file.size)}<span class="vh"> ${language.t('site.get.download', { name: version.version_number })}</span></a>`
  return html`<section class="section change"><div class="change-head"><h2><a href="${pathTo(page, paths.of(version))}"><bdi>${version.version_number}</bdi></a></h2>${channelBadge(page, version)}${warningBadges(page, version, affected)}<span class="soft small">${timeAgo(language, new Date(version.date_published), page.now)}</span><span class="small">${fits}</span>${download}</div>
${String(text) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : text}</section>
`
}

/** Returns the index of a version by its ID or number; undefined if the list does not contain it. */
async function indexOf({ deps }: PageRequest, ids: readonly string[], name: string): Promise<number | undefined> {
  if (name === '' || name.length > 64 || !name.isWellFormed()) return undefined
  const byId = ids.indexOf(name)
  if (byId >= 0) return byId
  const versions = await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))
  const byNumber = versions.findIndex((version) => viewOf(version).version_number === name)
  return byNumber >= 0 ? byNumber : undefined
}
