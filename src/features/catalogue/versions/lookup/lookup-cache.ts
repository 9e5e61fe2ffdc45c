// Caches the results of lookups in the versions of a project: lists, and the public versions that contain its files. A
// change of the project invalidates them.
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { readFirstVersions, type VersionFilter } from './version-filter.ts'

/** Longer filters are rare and not cached. */
const FILTER_LENGTH_MAX = 300
/** Maximum size of the results of one project, in bytes. */
const BYTES_MAX = 512 * 1024
/** Estimated size of an ID, and of a map entry or array, in bytes. */
const ID_BYTES = 40
const SLOT_BYTES = 120

/**
 * The cached results of one project. Get this object before you query the database, and then add the result: if the
 * project changed in the meantime, the object is no longer in the cache and the outdated result is lost.
 */
export class LookupResults {
  readonly projectId: string
  /** Hash in lower case → version ID. SHA-1 and SHA-512 hashes differ in length. */
  readonly files: ReadonlyMap<string, string>
  /** Filter as JSON → IDs of the list. */
  readonly lists: Map<string, readonly string[]>
  #bytes: number

  constructor(projectId: string, files: ReadonlyMap<string, string> = new Map(), others?: LookupResults) {
    this.projectId = projectId
    this.files = new Map([...(others?.files ?? []), ...files])
    this.lists = others?.lists ?? new Map()
    this.#bytes = SLOT_BYTES * 4 + (others === undefined ? 0 : others.#bytes) + files.size * 3 * SLOT_BYTES
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** Returns the size of a new result and adds it to the total, or returns 0 if the result is too large to cache. */
  admit(key: string, ids: number): number {
    const bytes = SLOT_BYTES + key.length + ids * ID_BYTES
    if (key.length > FILTER_LENGTH_MAX || this.#bytes + bytes > BYTES_MAX) return 0
    this.#bytes += bytes
    return bytes
  }
}

const RESULTS = defineCache({
  name: 'version-finds',
  contains: 'Results of version lists and hash lookups of a project',
  follows: 'project',
  idOf: (results: LookupResults) => results.projectId,
  sizeOf: (results: LookupResults) => results.sizeBytes,
  aliasesOf: (results: LookupResults) => [...results.files.keys()],
  // The results do not contain download counts.
  recount: (results: LookupResults) => results,
})

type FindsCache = { cache: EntityCache }

/** Returns the cached results of these projects, by project ID. */
function listLookupResults({ cache }: FindsCache, projectIds: Iterable<string>): Promise<Map<string, LookupResults>> {
  return cache.kind(RESULTS).getMany(projectIds, async (missing) => missing.map((id) => new LookupResults(id)))
}

/** Returns the version list of a project from the cache, or reads and caches it. `filter` is JSON. */
export async function rememberVersionList(
  { cache }: FindsCache,
  { projectId, filter }: { projectId: string; filter: string },
  read: () => Promise<string[]>,
): Promise<readonly string[]> {
  const cached = peekVersionList({ cache }, projectId, filter)
  if (cached !== undefined) return cached
  const results = (await listLookupResults({ cache }, [projectId])).get(projectId)
  const ids = await read()
  if (results !== undefined) storeVersionList({ cache }, results, filter, ids)
  return ids
}

/** Returns the version list if it is cached. */
function peekVersionList({ cache }: FindsCache, projectId: string, filter: string) {
  return cache.kind(RESULTS).peek(projectId)?.lists.get(filter)
}

/** Caches a version list, which must be read after `results`. */
function storeVersionList({ cache }: FindsCache, results: LookupResults, filter: string, ids: readonly string[]): void {
  const bytes = results.admit(filter, ids.length)
  if (bytes === 0) return
  results.lists.set(filter, ids)
  cache.kind(RESULTS).grow(results, bytes)
}

/** The projects of which the first version with a filter is needed. `key` is the filter of the list as JSON. */
export type FirstVersions = {
  filter: VersionFilter
  key: string
  projectIds: Set<string>
  /** Project ID → ID of the version, or undefined if no version matches. `addFirstVersions` adds the entries. */
  firsts: Map<string, string | undefined>
}

/** Adds the first version of each project to its group, from the cache or the database. Runs one statement per 64 groups not cached. */
export async function addFirstVersions(
  reader: FindsCache & { db: Db },
  groups: readonly FirstVersions[],
): Promise<void> {
  const missing = groups.map(({ projectIds, ...group }) => ({
    ...group,
    projectIds: [...projectIds].filter((projectId) => {
      const cached = peekVersionList(reader, projectId, group.key)
      if (cached !== undefined) group.firsts.set(projectId, cached[0])
      return cached === undefined
    }),
  }))
  const incomplete = missing.filter(({ projectIds }) => projectIds.length > 0)
  if (incomplete.length === 0) return
  // Before the query, so that a change during the query invalidates the entries.
  const entries = await listLookupResults(reader, new Set(incomplete.flatMap(({ projectIds }) => projectIds)))
  await readFirstVersions(reader.db, incomplete)
  for (const { key, firsts, projectIds } of incomplete) {
    for (const projectId of projectIds) {
      const entry = entries.get(projectId)
      const first = firsts.get(projectId)
      if (entry !== undefined) storeVersionList(reader, entry, key, first === undefined ? [] : [first])
    }
  }
}

/** The version that contains a file. */
export type FileLocation = { hash: string; versionId: string; projectId: string }

/**
 * Returns the public version that contains each file, in the order of the hashes.
 * @param read returns the locations of files that are not cached, in any order.
 */
export async function findVersionsOfFiles(
  { cache }: FindsCache,
  hashes: readonly (string | undefined)[],
  read: (missing: readonly string[]) => Promise<readonly FileLocation[]>,
): Promise<(FileLocation | undefined)[]> {
  const kind = cache.kind(RESULTS)
  const missing: string[] = []
  const files = hashes.map((hash) => {
    if (hash === undefined) return undefined
    const file = fileIn(kind.peekNamed(hash), hash)
    if (file === undefined) missing.push(hash)
    return file
  })
  if (missing.length === 0) return files
  const resultsByHash = await kind.getManyNamed(missing, async (unknown) => {
    const byProject = new Map<string, Map<string, string>>()
    for (const { hash, versionId, projectId } of await read(unknown))
      byProject.set(projectId, (byProject.get(projectId) ?? new Map()).set(hash, versionId))
    return Array.from(byProject, ([id, versions]) => new LookupResults(id, versions, kind.peek(id)))
  })
  return hashes.map((hash, index) =>
    hash === undefined ? undefined : (files[index] ?? fileIn(resultsByHash.get(hash), hash)),
  )
}

function fileIn(results: LookupResults | undefined, hash: string): FileLocation | undefined {
  const versionId = results?.files.get(hash)
  return results === undefined || versionId === undefined
    ? undefined
    : { hash, versionId, projectId: results.projectId }
}
