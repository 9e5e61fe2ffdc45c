// What many hashes of files lead to: versions, projects, and the versions to install instead.
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { type CachedVersion, readVersionsInOrder, type VersionReader } from '../lookup/version-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import type { NamedFile } from './requests.ts'
import { type HashQuery, listUpdates, resolveFiles, type UpdateCheck } from './resolve-files.ts'

/** What was found for hashes, in their order, each with the hash as it was asked for. */
export type ResultsByHash<Thing> = (readonly [hash: string, Thing])[]

/** The versions of files; three statements at most. */
export async function listVersionsByHash(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<ResultsByHash<CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  return byHash(
    query.hashes,
    await readVersionsInOrder(
      reader,
      files.map((file) => file?.versionId),
    ),
  )
}

/** The projects of files; three statements at most. */
export async function listProjectsByHash(
  reader: ProjectReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<ResultsByHash<CachedProject>> {
  const files = await resolveFiles(reader, viewer, query)
  const ids = new Set(files.flatMap((file) => file?.projectId ?? []))
  const projects = new Map(
    (await listVisibleProjects(reader, viewer, [...ids])).map((project) => [project.id, project]),
  )
  return byHash(
    query.hashes,
    files.map((file) => projects.get(file?.projectId ?? '')),
  )
}

/** @param things one for each hash */
function byHash<Thing>(hashes: readonly string[], things: readonly (Thing | undefined)[]): ResultsByHash<Thing> {
  const found: ResultsByHash<Thing> = []
  for (const [index, hash] of hashes.entries()) {
    const thing = things[index]
    if (thing !== undefined) found.push([hash, thing])
  }
  return found
}

/**
 * For each hash of a file that the viewer sees, the version that its filter leads to. Three statements, whatever the
 * number of hashes; one more for every 64 different filters.
 */
export async function checkUpdates(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
  filterOf: (hash: string) => VersionFilter,
): Promise<ResultsByHash<CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  const hashes: string[] = []
  const checks: UpdateCheck[] = []
  for (const [index, hash] of query.hashes.entries()) {
    const file = files[index]
    if (file === undefined) continue
    hashes.push(hash)
    checks.push({ projectId: file.projectId, filter: filterOf(hash) })
  }
  return byHash(hashes, await readVersionsInOrder(reader, await listUpdates(reader, checks)))
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
  const [[, version] = []] = await checkUpdates(reader, viewer, query, () => filter)
  if (version === undefined) throw notFound('version')
  return version
}
