// The versions of a project: the list, one version, and what changed.
import type { FastifyReply } from 'fastify'
import { findScan } from '#features/catalogue/scans/queries.ts'
import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import { getVersion, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import { findVersionIdByNumber } from '#features/catalogue/versions/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { isModerator } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { versionPath, withQuery } from '#web/kit/site-paths.ts'
import { fieldTexts } from '../lists/rows.ts'
import { archiveFacts, loadNamed, loadProject, versionOf } from './project-data.ts'
import { projectPage } from './project-frame.ts'
import { changelogView, versionsView, versionView } from './versions-view.ts'

const PER_PAGE = 50
const VALUES_MAX = 20

export type VersionFilters = { loaders: string[]; gameVersions: string[]; channels: string[] }

export async function showVersions(request: SiteRequest): Promise<FastifyReply> {
  const { deps, page, show, queries, query } = request
  const data = await loadProject(request)
  const filters: VersionFilters = {
    loaders: usable(queries('l')),
    gameVersions: usable(queries('v')),
    channels: VERSION_TYPES.filter((type) => queries('t').includes(type)),
  }
  const ids = await listVersionIdsFor(deps, data.project.id, {
    loaders: filters.loaders,
    versionTypes: filters.channels,
    loaderFields: { game_versions: filters.gameVersions },
  })
  const last = Math.max(1, Math.ceil(ids.length / PER_PAGE))
  const current = Number(/^[1-9]\d{0,6}$/.exec(query('page'))?.[0] ?? 1)
  const versions = (await listCachedVersions(deps, ids.slice((current - 1) * PER_PAGE, current * PER_PAGE))).map(
    versionOf,
  )
  const address = (number: number) =>
    withQuery(`${data.path}/versions`, {
      l: filters.loaders,
      v: filters.gameVersions,
      t: filters.channels,
      page: number === 1 ? '' : String(number),
    })
  const title = page.language.t('site.title.versions', { name: data.view.name })
  const body = versionsView(request, data, { versions, filters, total: ids.length, current, last, address })
  return show(projectPage(request, data, { tab: '/versions', title, body, status: current > last ? 404 : 200 }))
}

function usable(values: readonly string[]): string[] {
  return [...new Set(values)]
    .filter((value) => value !== '' && value.length <= 64 && value.isWellFormed())
    .slice(0, VALUES_MAX)
}

/** A version by its number or ID; one that is not listed by its ID, for those who may see it. */
export async function showVersion(request: SiteRequest): Promise<FastifyReply> {
  const { deps, viewer, page, show, param, texts } = request
  const data = await loadProject(request)
  const name = param('version')
  const id = (await findVersionIdByNumber(deps.db, data.project.id, name)) ?? (isIdForm(name) ? name : undefined)
  if (id === undefined) throw notFound('version')
  const cached = await getVersion(deps, viewer, id)
  if (cached.project.id !== data.project.id) throw notFound('version')
  const version = versionOf(cached)
  const changelog = await texts.render(version.changelog ?? '', page)
  const needs = await loadNamed(request, version.dependencies)
  const title = page.language.t('site.title.version', { name: data.view.name, version: version.version_number })
  const canonical = versionPath(data.path, { id, number: version.version_number })
  const loaderFields = { game_versions: fieldTexts(version, 'game_versions') }
  const archive = await archiveFacts(request, cached, { loaders: version.loaders, loaderFields })
  const mayKnow = data.isMember || isModerator(viewer)
  const scan = mayKnow ? { row: await findScan(deps.db, id) } : undefined
  const body = versionView(request, { version, changelog, needs, archive, scan })
  return show({ ...projectPage(request, data, { tab: '/versions', title, body, canonical }) })
}

const CHANGES_PER_PAGE = 20
/** Between two versions; more than anybody reads. */
const BETWEEN_MAX = 100

/** All changes, newest first, or those after one version up to another. */
export async function showChangelog(request: SiteRequest): Promise<FastifyReply> {
  const { deps, page, show, query, texts } = request
  const data = await loadProject(request)
  const ids = await listVersionIdsFor(deps, data.project.id, {})
  const [from, to] = await Promise.all([placeOf(request, ids, query('from')), placeOf(request, ids, query('to'))])
  const isSpan = from !== undefined || to !== undefined
  // The list begins with the newest: what lies between ends before `from`.
  const span = isSpan ? ids.slice(to ?? 0, from ?? ids.length).slice(0, BETWEEN_MAX) : ids
  const last = isSpan ? 1 : Math.max(1, Math.ceil(span.length / CHANGES_PER_PAGE))
  const current = isSpan ? 1 : Number(/^[1-9]\d{0,6}$/.exec(query('page'))?.[0] ?? 1)
  const shown = isSpan ? span : span.slice((current - 1) * CHANGES_PER_PAGE, current * CHANGES_PER_PAGE)
  const versions = (await listCachedVersions(deps, shown)).map(versionOf)
  const changes = await Promise.all(
    versions.map(async (version) => ({ version, text: await texts.render(version.changelog ?? '', page) })),
  )
  const numbers = (await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))).map(versionOf)
  const title = page.language.t('site.title.changelog', { name: data.view.name })
  const body = changelogView(request, data, {
    changes,
    choices: numbers,
    from: query('from'),
    to: query('to'),
    current,
    last,
  })
  return show(projectPage(request, data, { tab: '/changelog', title, body, status: current > last ? 404 : 200 }))
}

/** Where the version that is named stands in the list; undefined where none is named so. */
async function placeOf({ deps }: SiteRequest, ids: readonly string[], name: string): Promise<number | undefined> {
  if (name === '' || name.length > 64 || !name.isWellFormed()) return undefined
  const direct = ids.indexOf(name)
  if (direct >= 0) return direct
  const versions = await listCachedVersions(deps, ids.slice(0, BETWEEN_MAX))
  const found = versions.findIndex((version) => versionOf(version).version_number === name)
  return found >= 0 ? found : undefined
}

export type Change = { version: VersionView; text: Awaited<ReturnType<SiteRequest['texts']['render']>> }
