// Resolves the hashes of files to versions, for every route that accepts hashes, so that all of them agree. Hidden
// versions are excluded before one of several versions is chosen.
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ownTurn } from '#lib/concurrency/own-turn.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { addFirstVersions, type FileLocation, type FirstVersions, findVersionsOfFiles } from '../lookup/lookup-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import { versionVisibleTo } from '../policy.ts'

export const ALGORITHMS = ['sha1', 'sha512'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** Maximum number of hashes per request. */
export const HASHES_MAX = 1000
/** Length of each hash, in hexadecimal digits. */
const HASH_LENGTHS: Readonly<Record<Algorithm, number>> = { sha1: 40, sha512: 128 }
export const HASH_LENGTH_MAX = HASH_LENGTHS.sha512

export type HashQuery = {
  /** Hexadecimal, upper or lower case. */
  hashes: readonly string[]
  /** Default: inferred from the length of each hash. */
  algorithm?: Algorithm | undefined
  /** ID of the version to choose if several contain the file. */
  versionId?: string | undefined
}

/** The version in which the viewer can see a file. */
export type ResolvedFile = { versionId: string; projectId: string }

export type FileReader = { db: Db; cache: EntityCache }

/**
 * Returns the latest version that contains each file, or undefined for an unknown or hidden file, in the hashes' order.
 * Runs one statement per algorithm, and none if all results are cached.
 */
export async function resolveFiles(
  reader: FileReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<(ResolvedFile | undefined)[]> {
  await ownTurn(query.hashes.length)
  const { versionId } = query
  const hashes = query.hashes.map((hash) => lowerHash(hash, query.algorithm))
  if (viewer === null && versionId === undefined)
    return findVersionsOfFiles(reader, hashes, (missing) => listFiles(reader.db, null, { hashes: missing, versionId }))
  const valid = hashes.filter((hash) => hash !== undefined)
  const rows = await listFiles(reader.db, viewer, { hashes: valid, versionId })
  const byHash = new Map(rows.map((file) => [file.hash, file]))
  return hashes.map((hash) => (hash === undefined ? undefined : byHash.get(hash)))
}

/** Returns the hash in lower case, or undefined if its length does not match the algorithm or any algorithm. */
function lowerHash(hash: string, algorithm: Algorithm | undefined): string | undefined {
  const actual = algorithmOf(hash)
  return actual === undefined || (algorithm ?? actual) !== actual ? undefined : hash.toLowerCase()
}

function algorithmOf({ length }: string): Algorithm | undefined {
  return ALGORITHMS.find((algorithm) => HASH_LENGTHS[algorithm] === length)
}

/** Reads the files with these lower-case hashes from the database, each in the latest version that the viewer can see. */
export async function listFiles(
  db: Db,
  viewer: Viewer | null,
  { hashes, versionId }: { hashes: readonly string[]; versionId?: string | undefined },
): Promise<FileLocation[]> {
  const files: FileLocation[] = []
  for (const algorithm of ALGORITHMS) {
    const matching = hashes.filter((hash) => hash.length === HASH_LENGTHS[algorithm])
    if (matching.length === 0) continue
    const column = `file.${algorithm}` as const
    const query = db
      .selectFrom('file')
      .innerJoin('version', 'version.id', 'file.version_id')
      .innerJoin('project', 'project.id', 'version.project_id')
      .select([`${column} as hash`, 'version.id as versionId', 'project.id as projectId'])
      .where(sql<boolean>`${sql.ref(column)} = any(${matching}::text[])`)
      .where(versionVisibleTo(viewer))
      .distinctOn(column)
      .orderBy(column)
      .orderBy('version.date_published', 'desc')
      .orderBy('version.id')
    files.push(...(await (versionId === undefined ? query : query.where('version.id', '=', versionId)).execute()))
  }
  return files
}

/** Returns the file of a version with this hash. */
function findFileIn(db: Db, versionId: string, hash: string): Promise<{ id: string; filename: string } | undefined> {
  return db
    .selectFrom('file')
    .select(['id', 'filename'])
    .where('version_id', '=', versionId)
    .where(algorithmOf(hash) ?? 'sha1', '=', hash.toLowerCase())
    .orderBy('id')
    .executeTakeFirst()
}

/** The parameters of a request for one file. */
type FileRequest = { hash: string; algorithm?: Algorithm | undefined; version_id?: string | undefined }

/** @throws ApiError 404 if the file is unknown or hidden. */
export async function resolveFile(
  reader: FileReader,
  viewer: Viewer | null,
  { hash, algorithm, version_id: versionId }: FileRequest,
): Promise<ResolvedFile> {
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const [file] = await resolveFiles(reader, viewer, { hashes: [hash], algorithm, versionId })
  if (file === undefined) throw notFound('file')
  return file
}

/** Returns the ID and name of the file with its version and project. @throws ApiError 404. */
export async function getFile(reader: FileReader, viewer: Viewer | null, request: FileRequest) {
  const resolved = await resolveFile(reader, viewer, request)
  const file = await findFileIn(reader.db, resolved.versionId, request.hash)
  if (file === undefined) throw notFound('file')
  return { ...resolved, ...file }
}

export type UpdateCheck = { projectId: string; filter: VersionFilter }

/** Maximum number of different filters per project and request: each reads the versions of the project again. */
export const FILTERS_PER_PROJECT_MAX = 32

type GroupedCheck = { projectId: string; group: FirstVersions }

/**
 * Returns the first version in each project's list that matches the filter and is not withdrawn, or undefined. Everyone
 * who can see the project can see these versions. Runs one statement per 64 different filters that are not cached.
 * @throws ApiError `invalid_input` for too many different filters per project.
 */
export async function listUpdates(reader: FileReader, checks: readonly UpdateCheck[]): Promise<(string | undefined)[]> {
  const grouped = groupByFilter(checks)
  rejectManyFilters(grouped)
  await addFirstVersions(reader, [...new Set(grouped.map(({ group }) => group))])
  return grouped.map(({ projectId, group }) => group.firsts.get(projectId))
}

/** Returns the checks with the group of their filter; equal filters share a group. */
function groupByFilter(checks: readonly UpdateCheck[]): GroupedCheck[] {
  const byFilter = new Map<VersionFilter, FirstVersions>()
  const byKey = new Map<string, FirstVersions>()
  return checks.map(({ projectId, filter }) => {
    let group = byFilter.get(filter)
    if (group === undefined) {
      // The key of the project's list of versions that can be chosen, of which only the first is needed.
      const key = JSON.stringify({ ...filter, offered: true, limit: 1 })
      group = byKey.get(key) ?? { filter, key, projectIds: new Set(), firsts: new Map() }
      byKey.set(key, group)
      byFilter.set(filter, group)
    }
    group.projectIds.add(projectId)
    return { projectId, group }
  })
}

function rejectManyFilters(checks: readonly GroupedCheck[]): void {
  for (const ofProject of Map.groupBy(checks, ({ projectId }) => projectId).values()) {
    if (new Set(ofProject.map(({ group }) => group)).size > FILTERS_PER_PROJECT_MAX) {
      const most = FILTERS_PER_PROJECT_MAX
      throw invalidInput(`The files of one project can have at most ${most} different filters`, 'hashes')
    }
  }
}
