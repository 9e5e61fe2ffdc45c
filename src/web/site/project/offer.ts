// The version that a project page offers for download, with its archive and dependencies.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { chooseOffered, chooseRequired, completeFilter } from '#features/catalogue/resolve/choose-required.ts'
import {
  type CachedVersion,
  listCachedVersions,
  listVisibleVersions,
} from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionFilter } from '#features/catalogue/versions/lookup/version-filter.ts'
import { listVersionTraits } from '#features/catalogue/versions/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { listAllRequired } from '#features/reading/downloads/archive/choose-files.ts'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { isSet, SETUP_TYPES, type Setup, setupFor } from '#web/kit/cookies.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'

/** A version that is offered next to another one, and its project. */
type RequiredOffer = { project: ProjectView; path: string; version: VersionView }

/** The archive of a version with the files that it requires. */
export type ArchiveSummary = { count: number; sizeBytes: number }

export type Offer = {
  version: VersionView
  /** Whether the version is compatible with the setup; true without a setup. */
  isCompatible: boolean
  /** The part of the visitor's setup that versions of the project can match. */
  setup: Setup
  /** The loaders and game versions for which the required files are chosen. */
  filter: VersionFilter
  /** When the scanner passed the files; null for any other verdict. */
  scanPassed: Date | null
  /** The versions that the version itself requires. */
  required: RequiredOffer[]
  /** The versions of all requirements, by project. */
  chosen: ReadonlyMap<string, VersionView>
  archive: ArchiveSummary | undefined
  dependencies: Dependency[]
}

/** Maximum number of required files that are offered next to a version. */
const REQUIRED_MAX = 12

/** Returns the newest version that is compatible with the setup, otherwise the nearest version. */
export async function findOffer(request: PageRequest, view: ProjectView): Promise<Offer | undefined> {
  const { deps, viewer } = request
  const setup = ownSetup(deps.taxonomy, request.setup, view.project_types)
  // A resource pack runs on every loader, but the mods that it requires must run on the visitor's.
  const runsOnAny = !SETUP_TYPES.some((type) => view.project_types.includes(type))
  const wanted = filterFor(runsOnAny ? request.setup : setup)
  const offered = await chooseOffered(deps, viewer, view.id, wanted)
  if (offered !== undefined)
    return loadOffer(request, offered.version, { setup, filter: offered.filter, isCompatible: true })
  const id = isSet(setup) ? await findNearest(request, view.id, setup) : undefined
  const [nearest] = id === undefined ? [] : await listCachedVersions(deps, [id])
  if (nearest === undefined) return undefined
  const filter = completeFilter(deps, {}, viewOf(nearest))
  return loadOffer(request, nearest, { setup, filter, isCompatible: false })
}

/** Returns the offer of one version. */
export async function loadOffer(
  request: PageRequest,
  cached: CachedVersion,
  { setup, filter, isCompatible }: Pick<Offer, 'setup' | 'filter' | 'isCompatible'>,
): Promise<Offer> {
  const { deps, viewer } = request
  const version = viewOf(cached)
  const required = await chooseRequired(deps, viewer, [cached], filter)
  const direct = required.filter(({ isDirect }) => isDirect).slice(0, REQUIRED_MAX)
  return {
    version,
    isCompatible,
    setup,
    filter,
    scanPassed: cached.scanPassed,
    required: direct.map((each) => {
      const project = viewOf(each.project)
      const path = projectPath(project)
      return { project, path, version: viewOf(each.version) }
    }),
    chosen: new Map(required.map((each) => [each.project.id, viewOf(each.version)])),
    archive: required.length === 0 && version.files.length < 2 ? undefined : await loadArchive(request, cached, filter),
    dependencies: await loadDependencies(request, version),
  }
}

/** Returns the part of a setup that versions of a project with these types can match. Modpacks have no loader of mods. */
function ownSetup(taxonomy: Taxonomy, setup: Setup, types: readonly string[]): Setup {
  const own = types.filter((type) => type !== 'modpack')
  return setupFor(taxonomy, setup, own)
}

/** Returns the filter of a project's versions for a setup. */
export function setupFilter(taxonomy: Taxonomy, setup: Setup, types: readonly string[]): VersionFilter {
  return filterFor(ownSetup(taxonomy, setup, types))
}

/** Returns the filter for a setup, for projects that ignore loaders on which they do not run. */
export function filterFor({ loader, gameVersion }: Setup): VersionFilter {
  return {
    ...(loader === '' ? {} : { loaders: [loader] }),
    ...(gameVersion === '' ? {} : { loaderFields: { game_versions: [gameVersion] } }),
  }
}

/**
 * Returns the ID of the version that is nearest to a setup: for its loader if there is one, then for the nearest game
 * version, then the newest.
 */
async function findNearest({ deps }: PageRequest, projectId: string, setup: Setup): Promise<string | undefined> {
  const order = new Map(releasesOf(deps.taxonomy).map((release, index) => [release, index]))
  const wanted = order.get(setup.gameVersion)
  const distances = (await listVersionTraits(deps.db, projectId, { offered: true })).map(
    ({ id, loaders, game_versions }) => {
      const steps = game_versions.map((version) => Math.abs((order.get(version) ?? Infinity) - (wanted ?? Infinity)))
      const isForLoader = setup.loader === '' || loaders.includes(setup.loader)
      // Without a place in the order, all game versions are equally far.
      const least = Math.min(...steps.map((step) => (Number.isFinite(step) ? step : order.size)), order.size)
      return { id, distance: (isForLoader ? 0 : order.size + 1) + least }
    },
  )
  return distances.reduce<(typeof distances)[number] | undefined>(
    (best, each) => (best === undefined || each.distance < best.distance ? each : best),
    undefined,
  )?.id
}

/** Returns the archive that anyone can download; undefined if it would exceed the limits of archives. */
async function loadArchive(
  { deps }: Pick<PageRequest, 'deps'>,
  cached: CachedVersion,
  filter: VersionFilter,
): Promise<ArchiveSummary | undefined> {
  const required = await listAllRequired(deps, null, [cached], filter).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  })
  if (required === undefined) return undefined
  const files = [...viewOf(cached).files, ...required.flatMap((each) => primaryFile(viewOf(each)) ?? [])]
  return { count: files.length, sizeBytes: files.reduce((sum, { size }) => sum + size, 0) }
}

/** Returns the file to install. */
export function primaryFile(version: VersionView): VersionView['files'][number] | undefined {
  return version.files.find(({ primary }) => primary) ?? version.files[0]
}

/** A dependency with the project, the version or the file that it names. */
export type Dependency = {
  type: string
  project: ProjectView | undefined
  path: string
  version: VersionView | undefined
  fileName: string | null
}

/** Returns the dependencies of a version. Leaves out projects and versions that are hidden from the viewer. */
export async function loadDependencies(
  request: PageRequest,
  version: Pick<VersionView, 'dependencies'>,
): Promise<Dependency[]> {
  const [list = []] = await loadDependencyLists(request, [version])
  return list
}

/** Returns the dependencies of each version, in a constant number of statements. */
export async function loadDependencyLists(
  { deps, viewer }: PageRequest,
  of: readonly Pick<VersionView, 'dependencies'>[],
): Promise<Dependency[][]> {
  const all = of.flatMap(({ dependencies }) => dependencies)
  const projectIds = [...new Set(all.flatMap(({ project_id }) => project_id ?? []))]
  const versionIds = [...new Set(all.flatMap(({ version_id }) => version_id ?? []))]
  const projects = new Map((await listVisibleProjects(deps, viewer, projectIds)).map((each) => [each.id, viewOf(each)]))
  const cached = await listVisibleVersions(deps, viewer, versionIds)
  const versions = new Map(cached.map((each) => [each.id, viewOf(each)]))
  return of.map(({ dependencies }) =>
    dependencies.flatMap(({ dependency_type: type, project_id, version_id, file_name: fileName }) => {
      const project = projects.get(project_id ?? '')
      if (project === undefined && fileName === null) return []
      const path = project === undefined ? '' : projectPath(project)
      return [{ type, project, path, version: versions.get(version_id ?? ''), fileName }]
    }),
  )
}
