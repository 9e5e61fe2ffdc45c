// Resolves required dependencies: the version that the dependency specifies, otherwise the newest that matches.
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { projectTypesOf } from '#platform/taxonomy/taxonomy.ts'
import { listUpdates } from '../hashes/resolve-files.ts'
import { type CachedVersion, listVisibleVersions, type VersionReader } from '../lookup/version-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import type { VersionView } from '../views.ts'

export type Required = { project: CachedProject; version: CachedVersion }

/** The kinds of dependencies that are chosen by default. */
const REQUIRED: readonly string[] = ['required']

/**
 * Returns the direct requirements of these versions, each project once. The filter's loaders apply only to types
 * of projects that run on them: a mod can require a resource pack. Skips hidden projects and those without a match.
 * `kinds` selects other dependencies than the required ones.
 */
export async function listRequired(
  reader: ProjectReader & VersionReader,
  viewer: Viewer | null,
  versions: readonly Pick<VersionView, 'dependencies'>[],
  filter: VersionFilter,
  kinds: readonly string[] = REQUIRED,
): Promise<Required[]> {
  const versionByProject = new Map<string, string | null>()
  for (const { dependency_type, project_id, version_id } of versions.flatMap(({ dependencies }) => dependencies)) {
    if (!kinds.includes(dependency_type) || project_id === null) continue
    versionByProject.set(project_id, versionByProject.get(project_id) ?? version_id)
  }
  const projects = await listVisibleProjects(reader, viewer, [...versionByProject.keys()])
  const runsOn = new Set(projectTypesOf(reader.taxonomy, [...(filter.loaders ?? [])]))
  const { loaders: _, ...others } = filter
  const newest = await listUpdates(
    reader,
    projects.map((project) => {
      const types = (JSON.parse(project.bytes.toString()) as { project_types: string[] }).project_types
      return { projectId: project.id, filter: types.some((type) => runsOn.has(type)) ? filter : others }
    }),
  )
  const ids = projects.flatMap(({ id }, index) => versionByProject.get(id) ?? newest[index] ?? [])
  const visible = await listVisibleVersions(reader, viewer, ids)
  const byProject = new Map(visible.map((version) => [version.project.id, version]))
  return projects.flatMap((project) => {
    const version = byProject.get(project.id)
    return version === undefined ? [] : [{ project, version }]
  })
}
