/** The changed IDs of one kind; `'all'` when it is not known, or too many to say, which ones. */
export type ChangedIds = ReadonlySet<string> | 'all'

/** Changed IDs by the name of their kind. */
export type Changes = ReadonlyMap<string, ChangedIds>

/** A thing whose downloads were counted, and nothing else: its revision, which stays, and its downloads from now on. */
export type Counted = { revision: number; downloads: number }

/** Counted things by kind and ID. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, Counted>>

/** Both as they are written into the log and into notices; the keys of counts begin with a plus. */
export type WrittenChanges = Record<string, string[] | 'all' | Record<string, [revision: number, downloads: number]>>

/** From this many changed IDs of one kind on, a transaction says "all of that kind": it bounds the log and memory. */
const IDS_PER_KIND_MAX = 5_000
const ID_LENGTH_MAX = 200
const KIND = /^[a-z][a-z0-9_-]{0,31}$/

/** The kinds of things whose changes are announced to every process. */
export type ChangeKind =
  | 'project'
  | 'version'
  | 'user'
  | 'team'
  | 'organization'
  | 'token'
  | 'viewer'
  | 'rate-grant'
  | 'search'
  | 'settings'
  | 'events-export'

/** Collects what one transaction changed. Naming a thing twice, or one that did not change after all, is harmless. */
export class ChangeSet<Kind extends string = ChangeKind> {
  readonly #changes = new Map<string, Set<string> | 'all'>()
  readonly #counts = new Map<string, Map<string, Counted>>()

  /** Names changed things of a kind. IDs are the cache's keys: case counts, 1-200 characters. */
  add(kind: Kind, ...ids: readonly string[]): void {
    this.addEach(kind, ids)
  }

  /** The same for lists of any length: a call takes some hundred thousand arguments at most. */
  addEach(kind: Kind, ids: readonly string[]): void {
    assertKind(kind)
    const known = this.#changes.get(kind) ?? new Set<string>()
    if (known === 'all' || ids.length === 0) return
    for (const id of ids) known.add(assertId(id))
    this.#changes.set(kind, known.size > IDS_PER_KIND_MAX ? 'all' : known)
  }

  /** Says that anything of a kind may have changed. */
  addAll(kind: Kind): void {
    assertKind(kind)
    this.#changes.set(kind, 'all')
  }

  /** Names things of which nothing but their downloads changed: what is kept of them gets the new number. */
  addCounts(kind: Kind, counted: Iterable<readonly [id: string, Counted]>): void {
    assertKind(kind)
    const known = this.#counts.get(kind) ?? new Map<string, Counted>()
    for (const [id, value] of counted) known.set(assertId(id), value)
    if (known.size > 0) this.#counts.set(kind, known)
  }

  get counts(): Counts {
    return this.#counts
  }

  get changes(): Changes {
    return this.#changes
  }
}

function assertKind(kind: string): void {
  if (!KIND.test(kind)) throw new RangeError(`Not a kind of changed thing: ${JSON.stringify(kind)}`)
}

function assertId(id: string): string {
  if (id.length === 0 || id.length > ID_LENGTH_MAX) throw new RangeError(`An ID has 1 to ${ID_LENGTH_MAX} characters`)
  return id
}

const COUNTS = '+'

export function writtenChanges(changes: Changes, counts: Counts = new Map()): WrittenChanges {
  const written: WrittenChanges = {}
  for (const [kind, ids] of changes) written[kind] = ids === 'all' ? 'all' : [...ids]
  for (const [kind, counted] of counts) {
    written[COUNTS + kind] = Object.fromEntries(
      [...counted].map(([id, { revision, downloads }]) => [id, [revision, downloads]]),
    )
  }
  return written
}

/** Reads what `writtenChanges` wrote; undefined when it is anything else: then anything may have changed. */
export function readChanges(written: unknown): { changes: Changes; counts: Counts } | undefined {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return undefined
  const changes = new Map<string, ChangedIds>()
  const counts = new Map<string, Map<string, Counted>>()
  for (const [key, value] of Object.entries(written)) {
    if (key.startsWith(COUNTS)) {
      const counted = readCounts(value)
      if (counted === undefined) return undefined
      counts.set(key.slice(COUNTS.length), counted)
    } else if (value === 'all') changes.set(key, 'all')
    else if (Array.isArray(value) && value.every((id) => typeof id === 'string')) changes.set(key, new Set(value))
    else return undefined
  }
  return { changes, counts }
}

function readCounts(written: unknown): Map<string, Counted> | undefined {
  if (typeof written !== 'object' || written === null) return undefined
  const counts = new Map<string, Counted>()
  for (const [id, pair] of Object.entries(written)) {
    if (!Array.isArray(pair)) return undefined
    const [revision, downloads] = pair
    if (typeof revision !== 'number' || typeof downloads !== 'number') return undefined
    counts.set(id, { revision, downloads })
  }
  return counts
}
