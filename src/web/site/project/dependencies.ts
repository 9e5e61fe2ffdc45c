// The dependencies of a version, with the projects and versions that they name.
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { filterVisibleVersions, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { versionOf, viewOf } from '../lists/rows.ts'

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
  { deps, viewer }: PageRequest,
  { dependencies }: Pick<VersionView, 'dependencies'>,
): Promise<Dependency[]> {
  const projectIds = dependencies.flatMap(({ project_id }) => project_id ?? [])
  const versionIds = dependencies.flatMap(({ version_id }) => version_id ?? [])
  const projects = new Map((await listVisibleProjects(deps, viewer, projectIds)).map((each) => [each.id, viewOf(each)]))
  const cached = await filterVisibleVersions(deps.db, viewer, await listCachedVersions(deps, versionIds))
  const versions = new Map(cached.map((each) => [each.id, versionOf(each)]))
  return dependencies.flatMap(({ dependency_type: type, project_id, version_id, file_name: fileName }) => {
    const project = projects.get(project_id ?? '')
    if (project === undefined && fileName === null) return []
    const path = project === undefined ? '' : projectPath({ slug: project.slug, types: project.project_types })
    return [{ type, project, path, version: versions.get(version_id ?? ''), fileName }]
  })
}
