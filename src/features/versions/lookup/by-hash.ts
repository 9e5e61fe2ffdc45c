// What many hashes of files lead to: versions, projects, and the versions to install instead.
import { type CachedProject, listVisibleProjects, type ProjectReader } from '#features/projects/lookup/project-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { NamedFile } from './hash-requests.ts'
import { type HashQuery, listUpdates, type ResolvedFile, resolveFiles } from './resolve-files.ts'
import { type CachedVersion, listCachedVersions, type VersionReader } from './version-cache.ts'
import type { VersionFilter } from './version-filter.ts'

/** The versions of files, keyed by the hash as it was asked for; three statements at most. */
export async function listVersionsByHash(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<Map<string, CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  const ids = new Set(Array.from(files.values(), ({ versionId }) => versionId))
  const versions = new Map((await listCachedVersions(reader, [...ids])).map((version) => [version.id, version]))
  return byHash(files, ({ versionId }) => versions.get(versionId))
}

/** The projects of files, keyed by the hash as it was asked for; three statements at most. */
export async function listProjectsByHash(
  reader: ProjectReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<Map<string, CachedProject>> {
  const files = await resolveFiles(reader, viewer, query)
  const ids = new Set(Array.from(files.values(), ({ projectId }) => projectId))
  const projects = new Map(
    (await listVisibleProjects(reader, viewer, [...ids])).map((project) => [project.id, project]),
  )
  return byHash(files, ({ projectId }) => projects.get(projectId))
}

function byHash<Thing>(
  files: ReadonlyMap<string, ResolvedFile>,
  pick: (file: ResolvedFile) => Thing | undefined,
): Map<string, Thing> {
  return new Map(
    [...files].flatMap(([hash, file]) => {
      const thing = pick(file)
      return thing === undefined ? [] : [[hash, thing] as const]
    }),
  )
}

/**
 * For each hash of a file that the viewer sees, the version that its filter leads to, keyed by the hash as it was asked
 * for. Three statements, whatever the number of hashes; one more for every 64 different filters.
 */
export async function checkUpdates(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
  filterOf: (hash: string) => VersionFilter,
): Promise<Map<string, CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  const checks = Array.from(files, ([hash, { projectId }]) => ({ projectId, filter: filterOf(hash) }))
  const ids = await listUpdates(reader, checks)
  const known = new Set(ids.filter((id) => id !== undefined))
  const versions = new Map((await listCachedVersions(reader, [...known])).map((version) => [version.id, version]))
  const updates = Array.from(files.keys()).flatMap((hash, index) => {
    const version = versions.get(ids[index] ?? '')
    return version === undefined ? [] : [[hash, version] as const]
  })
  return new Map(updates)
}

/**
 * The version to install instead of one file.
 * @throws ApiError 404 when the file is unknown or hidden, or when no version passes the filter.
 */
export async function checkUpdate(
  reader: VersionReader,
  viewer: Viewer | null,
  { hash, algorithm, version_id: versionId }: NamedFile,
  filter: VersionFilter,
): Promise<CachedVersion> {
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const query = { hashes: [hash], algorithm, versionId }
  const version = (await checkUpdates(reader, viewer, query, () => filter)).get(hash)
  if (version === undefined) throw notFound('version')
  return version
}
