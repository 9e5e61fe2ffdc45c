// Values that depend on several entities, such as a page: each is cached until one of these entities changes. A builder
// reads through a cache that records the dependencies.

import type { ChangedIds, Changes, Counts } from './changes.ts'
import type { CacheDefinition } from './definitions.ts'
import {
  type CachePart,
  type CacheStats,
  type EntryLru,
  entryBytes,
  isOversized,
  type KindDefinition,
} from './entries.ts'
import type { KindReads } from './kind-cache.ts'
import { LoadGuard } from './load-guard.ts'

/** Describes a kind of derived value. A value never changes once it is stored. */
export interface DerivedDefinition<V> extends CacheDefinition {
  /** Approximate size in bytes; the cache adds its own overhead. */
  readonly sizeOf: (value: V) => number
}

/** Builds one derived value. */
export interface DerivedEntryBuilder<V, Cache> {
  /** The cache to read through. A change of data from elsewhere must be announced as a change of an entity read here. */
  readonly cache: Cache
  /** Caches the value, unless one of its dependencies changed after `begin`. Returns whether it did not change. */
  store(key: string, value: V): boolean
  /** Must be called in the end, whether or not a value was stored. */
  end(): void
}

/** Approximate memory of a dependency. */
const SOURCE_OVERHEAD_BYTES = 200

/** The dependencies of a value: IDs by kind. */
type Sources = ReadonlyMap<string, ReadonlySet<string>>

/** Identifies an entity for the guard. Neither part contains a line break. */
const keyOf = (kind: string, id: string): string => `${kind}\n${id}`

/** Identifies the entities of changes for the guard. */
const keysOf = (kind: string, ids: ChangedIds): ChangedIds =>
  ids === 'all' ? ids : new Set(Array.from(ids, (id) => keyOf(kind, id)))

function* keysOfSources(sources: Sources): Generator<string> {
  for (const [kind, ids] of sources) for (const id of ids) yield keyOf(kind, id)
}

type Entry<V> = { key: string; value: V; sources: Sources; removed(isEvicted: boolean): void }

/** Created by `EntityCache.derived`. Features call `has`, `peek` and `begin`. */
export class DerivedCache<V> implements CachePart {
  readonly #definition: DerivedDefinition<V>
  readonly #lru: EntryLru
  readonly #byKey = new Map<string, Entry<V>>()
  /** Entries by kind and ID of their dependencies. */
  readonly #bySource = new Map<string, Map<string, Set<Entry<V>>>>()
  readonly #guard: LoadGuard
  readonly #counts = { hits: 0, misses: 0, loads: 0, evicted: 0, oversized: 0 }

  constructor(definition: DerivedDefinition<V>, { lru, enabled }: { lru: EntryLru; enabled: boolean }) {
    this.#definition = definition
    this.#lru = lru
    this.#guard = new LoadGuard(enabled)
  }

  /** Returns the value with this key. */
  peek(key: string): V | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined) {
      this.#counts.misses++
      return undefined
    }
    this.#counts.hits++
    this.#lru.get(entry)
    return entry.value
  }

  /** Whether a value with this key is cached. Does not count as a use. */
  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  /** Begins to build a value. The builder must read all dependencies after this, from `cache`. */
  begin<Cache extends KindSource>(cache: Cache): DerivedEntryBuilder<V, Cache> {
    const load = this.#guard.begin()
    const sources = new Map<string, Set<string>>()
    this.#counts.loads++
    return {
      cache: recordReads(cache, sources),
      store: (key, value) => {
        if (!this.#guard.allows(load, keysOfSources(sources))) return false
        this.#put(key, value, new Map(Array.from(sources, ([kind, ids]) => [kind, new Set(ids)])))
        return true
      },
      end: () => this.#guard.end(load),
    }
  }

  invalidate(changes: Changes): void {
    for (const [kind, ids] of changes) this.#drop(kind, ids)
  }

  /** Removes values that depend on a counted entity, because they might show the download count. */
  recount(counts: Counts): void {
    for (const [kind, counted] of counts) this.#drop(kind, new Set(counted.keys()))
  }

  /** Blocks caching of values that depend on these IDs until the returned function is called. */
  hold(changes: Changes): () => void {
    for (const [kind, ids] of changes) this.#guard.hold(keysOf(kind, ids))
    this.invalidate(changes)
    return () => {
      for (const [kind, ids] of changes) this.#guard.release(keysOf(kind, ids))
      // A builder that began before the commit might have read what the commit replaced.
      this.invalidate(changes)
    }
  }

  setEnabled(enabled: boolean): void {
    this.#guard.enabled = enabled
    this.clear()
  }

  clear(): void {
    for (const entry of this.#byKey.values()) this.#lru.delete(entry)
    this.#guard.change('all')
  }

  stats(): CacheStats {
    return { entries: this.#byKey.size, ...this.#counts, overtaken: this.#guard.overtaken }
  }

  #drop(kind: string, ids: ChangedIds): void {
    // Rare, so it is not worth recording which values depend on a kind.
    if (ids === 'all') return this.clear()
    const entries = this.#bySource.get(kind)
    for (const id of ids) for (const entry of entries?.get(id) ?? []) this.#lru.delete(entry)
    this.#guard.change(keysOf(kind, ids))
  }

  #put(key: string, value: V, sources: Sources): void {
    const present = this.#byKey.get(key)
    if (present !== undefined) this.#lru.delete(present)
    const count = sources.values().reduce((sum, ids) => sum + ids.size, 0)
    const size = entryBytes(this.#definition.sizeOf(value)) + count * SOURCE_OVERHEAD_BYTES
    if (isOversized(this.#lru, size)) {
      this.#counts.oversized++
      return
    }
    const entry: Entry<V> = { key, value, sources, removed: (isEvicted) => this.#removed(entry, isEvicted) }
    this.#byKey.set(key, entry)
    for (const [kind, ids] of sources) {
      const byId = this.#bySource.get(kind) ?? new Map<string, Set<Entry<V>>>()
      this.#bySource.set(kind, byId)
      for (const id of ids) byId.set(id, (byId.get(id) ?? new Set()).add(entry))
    }
    this.#lru.set(entry, size, { size })
  }

  #removed(entry: Entry<V>, isEvicted: boolean): void {
    if (isEvicted) this.#counts.evicted++
    this.#byKey.delete(entry.key)
    for (const [kind, ids] of entry.sources) {
      const byId = this.#bySource.get(kind)
      for (const id of ids) {
        const entries = byId?.get(id)
        entries?.delete(entry)
        if (entries?.size === 0) byId?.delete(id)
      }
    }
  }
}

type KindSource = { kind<V>(definition: KindDefinition<V>): KindReads<V> }

/** Returns the same cache, but records each value that is read and each ID that is requested. */
function recordReads<Cache extends KindSource>(cache: Cache, sources: Map<string, Set<string>>): Cache {
  const kinds = new Map<object, unknown>()
  return {
    ...cache,
    kind: <V>(definition: KindDefinition<V>) => {
      if (!kinds.has(definition)) {
        // A kind that follows another one changes with it.
        const name = definition.follows ?? definition.name
        const ids = sources.get(name) ?? new Set()
        sources.set(name, ids)
        kinds.set(definition, recordReadsOf(definition, cache.kind(definition), ids))
      }
      return kinds.get(definition) as KindReads<V>
    },
  }
}

function recordReadsOf<V>(definition: KindDefinition<V>, kind: KindReads<V>, recorded: Set<string>): KindReads<V> {
  const recordValue = <Value extends V | undefined>(value: Value): Value => {
    if (value !== undefined) recorded.add(definition.idOf(value))
    return value
  }
  return {
    peek: (id) => {
      recorded.add(id)
      return kind.peek(id)
    },
    peekNamed: (requested) => recordValue(kind.peekNamed(requested)),
    get: (id, load) => {
      recorded.add(id)
      return kind.get(id, load)
    },
    getNamed: async (requested, load) => recordValue(await kind.getNamed(requested, load)),
    getMany: (ids, load) => {
      const requested = [...ids]
      for (const id of requested) recorded.add(id)
      return kind.getMany(requested, load)
    },
    getManyNamed: async (names, load) => {
      const values = await kind.getManyNamed(names, load)
      for (const value of values.values()) recordValue(value)
      return values
    },
    derive: (value, form) => kind.derive(recordValue(value), form),
    grow: (value, bytes) => kind.grow(value, bytes),
    stats: () => kind.stats(),
  }
}
