// Finds versions, projects and updates by the hashes of files.

import type { Viewer } from '#features/basics/access/viewer.ts'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { type CachedVersion, readVersionsInOrder, type VersionReader } from '../lookup/version-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import type { NamedFile } from './requests.ts'
import { type HashQuery, listUpdates, resolveFiles } from './resolve-files.ts'

/** Results in the order of the requested hashes, without hashes that have no result. */
export type ResultsByHash<Result> = (readonly [hash: string, Result])[]

/** Returns the versions that contain the files. Runs at most three statements. */
export async function listVersionsByHash(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<ResultsByHash<CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  const versionIds = files.map((file) => file?.versionId)
  return byHash(query.hashes, await readVersionsInOrder(reader, versionIds))
}

/** Returns the projects that contain the files. Runs at most three statements. */
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

/** Converts one result at a time, so that a response that is too large fails early. */
export function* convertEach<Result, Json>(results: ResultsByHash<Result>, convert: (result: Result) => Json) {
  for (const [hash, result] of results) yield [hash, convert(result)] as const
}

/** @param results one per hash, in the same order. */
function byHash<Result>(hashes: readonly string[], results: readonly (Result | undefined)[]): ResultsByHash<Result> {
  return hashes.flatMap((hash, index) => {
    const result = results[index]
    return result === undefined ? [] : [[hash, result] as const]
  })
}

/** Returns, for each file that the viewer can see, the first version of its project that matches the filter. */
export async function checkUpdates(
  reader: VersionReader,
  viewer: Viewer | null,
  query: HashQuery,
  filterOf: (hash: string) => VersionFilter,
): Promise<ResultsByHash<CachedVersion>> {
  const files = await resolveFiles(reader, viewer, query)
  const checks = query.hashes.flatMap((hash, index) => {
    const file = files[index]
    return file === undefined ? [] : [{ hash, projectId: file.projectId, filter: filterOf(hash) }]
  })
  const hashes = checks.map(({ hash }) => hash)
  return byHash(hashes, await readVersionsInOrder(reader, await listUpdates(reader, checks)))
}

/** @throws ApiError 404 if the file is unknown or hidden, or if no version matches the filter. */
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
