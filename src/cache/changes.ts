/** The changed IDs of one kind; `'all'` when it is not known, or too many to say, which ones. */
export type ChangedIds = ReadonlySet<string> | 'all'

/** Changed IDs by the name of their kind. */
export type Changes = ReadonlyMap<string, ChangedIds>

/** From this many changed IDs of one kind on, a transaction says "all of that kind": it bounds messages and memory. */
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
