// Chooses a version of a project, and the versions that versions require, for pages and archives. The rules are those of
// `/v3/resolve`, so that all of them offer the same files.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { ResolvingRules } from '#taxonomy/resolving.ts'
import { type CachedProject, listVisibleProjects, type ProjectReader } from '../projects/lookup/project-cache.ts'
import { type CachedVersion, listCachedVersions, type VersionReader } from '../versions/lookup/version-cache.ts'
import type { VersionFilter } from '../versions/lookup/version-filter.ts'
import type { VersionView } from '../versions/views.ts'
import { choose } from './choose.ts'
import { listCandidates } from './load/queries.ts'
import { toTarget } from './load/target.ts'
import type { Choice, SolverItem } from './solve/world.ts'

export type ChooseDeps = ProjectReader & VersionReader & { resolving: ResolvingRules }

/** A version that is required. `isDirect`: one of the given versions requires it. */
export type RequiredVersion = { project: CachedProject; version: CachedVersion; isDirect: boolean }

const DEFAULTS = { pins: 'prefer', strategy: 'newest', keep: new Map<string, string>() } as const

/**
 * Returns the versions that these versions require, recursively and each project once: first the direct requirements, in
 * the order of the publisher. Skips requirements that are hidden from the viewer or have no version for the filter, and
 * everything that a given version requires if it excludes the other choices.
 * @throws ApiError `validation_error` naming an unknown loader.
 */
export async function chooseRequired(
  deps: ChooseDeps,
  viewer: Viewer | null,
  roots: readonly CachedVersion[],
  filter: VersionFilter,
): Promise<RequiredVersion[]> {
  const target = toTarget(deps, filter)
  if (!roots.some((root) => requiresProjects(viewOf(root)))) return []
  const items = roots.map(({ id, project }, index) => ({ index, projectId: project.id, versionId: id }))
  const request = { target, viewer, items, ...DEFAULTS }
  const strict = await choose(deps.db, request)
  const isComplete = strict.solution.items.every(({ state }) => state === 'chosen')
  const { solution, world } = isComplete ? strict : await choose(deps.db, { ...request, skipsUnavailable: true })
  const rootIds = new Set(roots.map(({ id }) => id))
  const { required, direct } = inOrder(solution.chosen, rootIds)
  // Every project on which the choice depends, so that a page that is built from it changes with each of them.
  const projects = await listVisibleProjects(deps, viewer, [...new Set([...strict.world.keys(), ...world.keys()])])
  const byId = new Map(projects.map((project) => [project.id, project]))
  const versions = await listCachedVersions(deps, required)
  return versions.flatMap((version) => {
    const project = byId.get(version.project.id)
    return project === undefined ? [] : [{ project, version, isDirect: direct.has(version.id) }]
  })
}

/** Returns the IDs of the versions that the roots require: those of the nearest requirements first. */
function inOrder(chosen: readonly Choice[], rootIds: ReadonlySet<string>) {
  const byProject = new Map(chosen.map(({ candidate }) => [candidate.projectId, candidate]))
  const requiredBy = (candidates: Iterable<Choice['candidate']>) =>
    Array.from(candidates, ({ dependencies }) => dependencies)
      .flat()
      .flatMap(({ kind, projectId }) => (kind === 'required' ? (byProject.get(projectId ?? '') ?? []) : []))
  const roots = chosen.map(({ candidate }) => candidate).filter(({ id }) => rootIds.has(id))
  const direct = new Set(requiredBy(roots).map(({ id }) => id))
  const found = new Set(roots)
  // The set grows while it is read.
  for (const candidate of found) for (const next of requiredBy([candidate])) found.add(next)
  return { required: [...found].flatMap(({ id }) => (rootIds.has(id) ? [] : [id])), direct }
}

/**
 * Returns the version of a project to offer: the newest that matches the filter with everything that it requires, otherwise
 * the newest that matches. `filter` is completed by the setup of the newest version.
 */
export async function chooseOffered(
  deps: ChooseDeps,
  viewer: Viewer | null,
  projectId: string,
  filter: VersionFilter,
): Promise<{ version: CachedVersion; filter: VersionFilter } | undefined> {
  const [first] = await listFirstChoices(deps, viewer, [projectId], filter)
  if (first === undefined) return undefined
  const completed = completeFilter(deps, filter, viewOf(first))
  if (!requiresProjects(viewOf(first))) return { version: first, filter: completed }
  const items = [{ index: 0, projectId, versionId: undefined }]
  const { solution, world } = await choose(deps.db, { target: toTarget(deps, completed), viewer, items, ...DEFAULTS })
  // The choice depends on these projects, as above.
  await listVisibleProjects(deps, viewer, [...world.keys()])
  const [version = first] = await listCachedVersions(deps, [solution.items[0]?.versionId ?? first.id])
  return { version, filter: completed }
}

/** Returns the first candidate of each project that has one: the choice if nothing excludes it. */
export async function listFirstChoices(
  deps: ChooseDeps,
  viewer: Viewer | null,
  projectIds: readonly string[],
  filter: VersionFilter,
): Promise<CachedVersion[]> {
  const rows = await listCandidates(deps.db, toTarget(deps, filter), { projectIds, limit: 1, viewer })
  return listCachedVersions(
    deps,
    rows.flatMap(({ version_ids }) => version_ids),
  )
}

/**
 * Returns the filter with the loaders and the game versions of a version where it has none: a file for the right loader and
 * another game version is the wrong file.
 */
export function completeFilter(
  { taxonomy }: Pick<ChooseDeps, 'taxonomy'>,
  filter: VersionFilter,
  version: VersionView,
): VersionFilter {
  const own = [...version.loaders, ...textsOf(version, 'mrpack_loaders')].filter((name) => taxonomy.loaders.has(name))
  const { loaders = [], loaderFields = {} } = filter
  const game_versions = loaderFields['game_versions'] ?? []
  return {
    ...filter,
    loaders: loaders.length > 0 ? loaders : own,
    loaderFields: {
      ...loaderFields,
      game_versions: game_versions.length > 0 ? game_versions : textsOf(version, 'game_versions'),
    },
  }
}

/** Completes the filter of a request with one item by the setup of its version, as the pages do. */
export async function completeForItem(
  deps: ChooseDeps,
  filter: VersionFilter,
  { projectId, versionId }: SolverItem,
): Promise<VersionFilter> {
  const { loaders = [], loaderFields = {} } = filter
  if (loaders.length > 0 && (loaderFields['game_versions'] ?? []).length > 0) return filter
  const [version] =
    versionId === undefined
      ? await listFirstChoices(deps, null, [projectId], filter)
      : await listCachedVersions(deps, [versionId])
  return version === undefined ? filter : completeFilter(deps, filter, viewOf(version))
}

function textsOf(view: object, field: string): string[] {
  const value = (view as Record<string, unknown>)[field]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

const requiresProjects = ({ dependencies }: VersionView): boolean =>
  dependencies.some(({ dependency_type, project_id }) => dependency_type === 'required' && project_id !== null)
