// The versions of a project: the list, one version, and the changelog.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findScan } from '#features/catalogue/scans/queries.ts'
import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import { getVersion, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import { findVersionIdByNumber } from '#features/catalogue/versions/queries.ts'
import { isModerator } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { pageNumber, versionPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fieldTexts, versionOf } from '../lists/rows.ts'
import { loadDependencies } from './dependencies.ts'
import { loadArchive } from './offer.ts'
import { loadProject } from './project-data.ts'
import { projectPage } from './project-frame.ts'
import { changelogView, type VersionFilters, versionsView, versionView } from './versions-view.ts'

const PER_PAGE = 50
const VALUES_MAX = 20

export async function showVersions(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, queries } = request
  const data = await loadProject(request, project)
  const filters: VersionFilters = {
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
  const urlOf = (number: number) =>
    withQuery(`${data.path}/versions`, {
      l: filters.loaders,
      v: filters.gameVersions,
      t: filters.channels,
      page: number === 1 ? '' : String(number),
    })
  const title = page.language.t('site.title.versions', { name: data.view.name })
  const body = versionsView(request, data, { versions, filters, total: ids.length, current, last, urlOf })
  return show(projectPage(request, data, { tab: '/versions', title, body, status: current > last ? 404 : 200 }))
}

function validValues(values: readonly string[]): string[] {
  return [...new Set(values)]
    .filter((value) => value !== '' && value.length <= 64 && value.isWellFormed())
    .slice(0, VALUES_MAX)
}

/** Shows a version by its number or ID. Users who can see an unlisted version find it by its ID. */
export async function showVersion(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, show, param, texts } = request
  const data = await loadProject(request, project)
  const name = param('version')
  const id = (await findVersionIdByNumber(deps.db, data.project.id, name)) ?? (isIdForm(name) ? name : undefined)
  if (id === undefined) throw notFound('version')
  const cached = await getVersion(deps, viewer, id)
  if (cached.project.id !== data.project.id) throw notFound('version')
  const version = versionOf(cached)
  const changelog = await texts.render(version.changelog ?? '', page)
  const dependencies = await loadDependencies(request, version)
  const title = page.language.t('site.title.version', { name: data.view.name, version: version.version_number })
  const canonical = versionPath(data.path, { id, number: version.version_number })
  const loaderFields = { game_versions: fieldTexts(version, 'game_versions') }
  const archive = await loadArchive(request, cached, { loaders: version.loaders, loaderFields })
  const canSeeScan = data.isMember || isModerator(viewer)
  const scan = canSeeScan ? { row: await findScan(deps.db, id) } : undefined
  const body = versionView(request, { version, changelog, dependencies, archive, scan })
  return show(projectPage(request, data, { tab: '/versions', title, body, canonical }))
}

const CHANGES_PER_PAGE = 20
/** Maximum number of versions between two versions, and in the lists of the form. */
const BETWEEN_MAX = 100

/** Shows all changes, newest first, or the changes after one version up to another. */
export async function showChangelog(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, query, texts } = request
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
  const title = page.language.t('site.title.changelog', { name: data.view.name })
  const body = changelogView(request, data, {
    changes,
    choices,
    from: query('from'),
    to: query('to'),
    current,
    last,
  })
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
