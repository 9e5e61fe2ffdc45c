/** Changed IDs of one kind; `'all'` if they are unknown or too many. */
export type ChangedIds = ReadonlySet<string> | 'all'

/** Changed IDs by kind. */
export type Changes = ReadonlyMap<string, ChangedIds>

/** The unchanged revision and the new download count of an entity. */
export type Counted = { revision: number; downloads: number }

/** New download counts by kind and ID. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, Counted>>

/** Changes and counts in the log and in notices. The keys of counts begin with `+`. */
export type WrittenChanges = Record<string, string[] | 'all' | Record<string, [revision: number, downloads: number]>>

/** If more IDs of a kind change, a transaction announces all entities of the kind. Limits the log and the memory. */
const IDS_PER_KIND_MAX = 5_000
const ID_LENGTH_MAX = 200
const KIND = /^[a-z][a-z0-9_-]{0,31}$/

/** Kinds whose changes are announced to all processes. Each feature declares its kinds. */
// biome-ignore lint/suspicious/noEmptyInterface: the features extend it.
export interface ChangeKinds {}
export type ChangeKind = keyof ChangeKinds

/** Collects the changes of one transaction. Duplicate and unnecessary IDs are harmless. */
export class ChangeSet<Kind extends string = ChangeKind> {
  readonly #changes = new Map<string, Set<string> | 'all'>()
  readonly #counts = new Map<string, Map<string, Counted>>()

  /** Adds changed IDs of a kind: 1 to 200 characters, case-sensitive. */
  add(kind: Kind, ...ids: readonly string[]): void {
    this.addEach(kind, ids)
  }

  /** Adds a list of any length. A function call is limited to some 100,000 arguments. */
  addEach(kind: Kind, ids: readonly string[]): void {
    assertKind(kind)
    const known = this.#changes.get(kind) ?? new Set<string>()
    if (known === 'all' || ids.length === 0) return
    for (const id of ids) known.add(assertId(id))
    this.#changes.set(kind, known.size > IDS_PER_KIND_MAX ? 'all' : known)
  }

  /** Announces that any entity of a kind might have changed. */
  addAll(kind: Kind): void {
    assertKind(kind)
    this.#changes.set(kind, 'all')
  }

  /** Adds new download counts of otherwise unchanged entities. Cached values get the new count. */
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
  if (!KIND.test(kind)) throw new RangeError(`Invalid kind of change: ${JSON.stringify(kind)}`)
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

/** Parses the result of `writtenChanges`; undefined if invalid, so that anything might have changed. */
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
