// What was found among the versions of a project, kept as long as nothing of the project changes: its lists, the first of
// each list, and the versions on which everybody sees its files.
import type { EntityCache } from '#platform/cache/entity-cache.ts'

/** Filters that are written longer than this are rare, and not kept. */
const FILTER_LENGTH_MAX = 300
/** What is kept for one project; more is found again each time. */
const BYTES_MAX = 512 * 1024
/** An ID with its slot, and a key or a list with its own, about. */
const ID_BYTES = 40
const SLOT_BYTES = 120

/** Results are added only by those who had it before they asked the database: so a change that they missed has dropped it. */
export class LookupResults {
  readonly projectId: string
  /** Hash, in small letters → version. Hashes of the two algorithms differ in length. */
  readonly files: ReadonlyMap<string, string>
  /** Filter as text → the IDs of the list. */
  readonly lists: Map<string, readonly string[]>
  /** Filter as text → the first ID of the list; null where the list is empty. */
  readonly firsts: Map<string, string | null>
  #bytes: number

  constructor(projectId: string, files: ReadonlyMap<string, string> = new Map(), others?: LookupResults) {
    this.projectId = projectId
    this.files = new Map([...(others?.files ?? []), ...files])
    this.lists = others?.lists ?? new Map()
    this.firsts = others?.firsts ?? new Map()
    this.#bytes = SLOT_BYTES * 4 + (others === undefined ? 0 : others.#bytes) + files.size * 3 * SLOT_BYTES
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** Counts what is about to be kept; 0 says that it is too much. */
  admit(key: string, ids: number): number {
    const bytes = SLOT_BYTES + key.length + ids * ID_BYTES
    if (key.length > FILTER_LENGTH_MAX || this.#bytes + bytes > BYTES_MAX) return 0
    this.#bytes += bytes
    return bytes
  }
}

const FINDS = {
  name: 'version-finds' as const,
  follows: 'project',
  idOf: (finds: LookupResults) => finds.projectId,
  sizeOf: (finds: LookupResults) => finds.sizeBytes,
  aliasesOf: (finds: LookupResults) => [...finds.files.keys()],
  // Downloads are no part of it.
  recount: (finds: LookupResults) => finds,
}

type FindsCache = { cache: EntityCache }

/** What was found so far for these projects, by project. */
export function listLookupResults(
  { cache }: FindsCache,
  projectIds: Iterable<string>,
): Promise<Map<string, LookupResults>> {
  return cache.kind(FINDS).getMany(projectIds, async (missing) => missing.map((id) => new LookupResults(id)))
}

/**
 * The list of a project under a filter as text: kept, or asked for and kept.
 * @param ask IDs in the order of the list
 */
export async function rememberVersionList(
  { cache }: FindsCache,
  { projectId, filter }: { projectId: string; filter: string },
  ask: () => Promise<string[]>,
): Promise<readonly string[]> {
  const kind = cache.kind(FINDS)
  const finds = kind.peek(projectId) ?? (await listLookupResults({ cache }, [projectId])).get(projectId)
  const known = finds?.lists.get(filter)
  if (known !== undefined) return known
  const ids = await ask()
  const bytes = finds?.admit(filter, ids.length) ?? 0
  if (finds !== undefined && bytes > 0) {
    finds.lists.set(filter, ids)
    kind.grow(finds, bytes)
  }
  return ids
}

/** The first of a list, when it is kept; null where the list is empty. */
export function peekFirstVersion({ cache }: FindsCache, projectId: string, filter: string): string | null | undefined {
  return cache.kind(FINDS).peek(projectId)?.firsts.get(filter)
}

/** Keeps the first of a list, which was asked for after `finds` was. */
export function storeFirstVersion(
  { cache }: FindsCache,
  finds: LookupResults,
  filter: string,
  id: string | undefined,
): void {
  const bytes = finds.admit(filter, 1)
  if (bytes === 0) return
  finds.firsts.set(filter, id ?? null)
  cache.kind(FINDS).grow(finds, bytes)
}

/** The version on which a file is, by its hash. */
export type FileLocation = { hash: string; versionId: string; projectId: string }

/**
 * The versions on which everybody sees the files with these hashes, in their places.
 * @param ask which of the hashes that are not kept can be found, in any order
 */
export async function findVersionsOfFiles(
  { cache }: FindsCache,
  hashes: readonly (string | undefined)[],
  ask: (missing: readonly string[]) => Promise<readonly FileLocation[]>,
): Promise<(FileLocation | undefined)[]> {
  const kind = cache.kind(FINDS)
  const missing: string[] = []
  const files = hashes.map((hash) => {
    if (hash === undefined) return undefined
    const file = fileIn(kind.peekNamed(hash), hash)
    if (file === undefined) missing.push(hash)
    return file
  })
  if (missing.length === 0) return files
  const found = await kind.getManyNamed(missing, async (unknown) => {
    const byProject = new Map<string, Map<string, string>>()
    for (const { hash, versionId, projectId } of await ask(unknown)) {
      byProject.set(projectId, (byProject.get(projectId) ?? new Map()).set(hash, versionId))
    }
    return Array.from(byProject, ([id, own]) => new LookupResults(id, own, kind.peek(id)))
  })
  return hashes.map((hash, index) => (hash === undefined ? undefined : (files[index] ?? fileIn(found.get(hash), hash))))
}

function fileIn(finds: LookupResults | undefined, hash: string): FileLocation | undefined {
  const versionId = finds?.files.get(hash)
  return finds === undefined || versionId === undefined ? undefined : { hash, versionId, projectId: finds.projectId }
}
