// Values that depend on several entities, such as a page: each is cached until one of these entities changes. A builder
// reads through a cache that records the dependencies.

import type { ChangedIds, Changes, Counts } from './changes.ts'
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
import type { DerivedCacheName } from './names.ts'

/** Describes a kind of derived value. A value never changes once it is stored. */
export interface DerivedDefinition<V> {
  readonly name: DerivedCacheName
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

/** Approximate overhead of a dependency. */
const SOURCE_OVERHEAD_BYTES = 150
/** A value with more dependencies is not cached. */
const SOURCES_MAX = 3000

/** Identifies an entity by kind and ID, neither of which contains a line break. */
const sourceOf = (kind: string, id: string): string => `${kind}\n${id}`

/** Identifies the entities of changes. */
const sourcesOf = (kind: string, ids: ChangedIds): ChangedIds =>
  ids === 'all' ? ids : new Set(Array.from(ids, (id) => sourceOf(kind, id)))

type Entry<V> = { key: string; value: V; sources: ReadonlySet<string>; removed(isEvicted: boolean): void }

/** Created by `EntityCache.derived`. Features call `has`, `peek` and `begin`. */
export class DerivedCache<V> implements CachePart {
  readonly #definition: DerivedDefinition<V>
  readonly #lru: EntryLru
  readonly #byKey = new Map<string, Entry<V>>()
  readonly #bySource = new Map<string, Set<Entry<V>>>()
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
    const sources = new Set<string>()
    this.#counts.loads++
    return {
      cache: recordReads(cache, sources),
      store: (key, value) => {
        if (!this.#guard.allows(load, sources)) return false
        if (sources.size <= SOURCES_MAX) this.#put(key, value, new Set(sources))
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
    for (const [kind, ids] of changes) this.#guard.hold(sourcesOf(kind, ids))
    this.invalidate(changes)
    return () => {
      for (const [kind, ids] of changes) this.#guard.release(sourcesOf(kind, ids))
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
    const sources = sourcesOf(kind, ids)
    for (const source of sources) for (const entry of this.#bySource.get(source) ?? []) this.#lru.delete(entry)
    this.#guard.change(sources)
  }

  #put(key: string, value: V, sources: ReadonlySet<string>): void {
    const present = this.#byKey.get(key)
    if (present !== undefined) this.#lru.delete(present)
    const size = entryBytes(this.#definition.sizeOf(value)) + sources.size * SOURCE_OVERHEAD_BYTES
    if (isOversized(this.#lru, size)) {
      this.#counts.oversized++
      return
    }
    const entry: Entry<V> = { key, value, sources, removed: (isEvicted) => this.#removed(entry, isEvicted) }
    this.#byKey.set(key, entry)
    for (const source of sources) this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(entry))
    this.#lru.set(entry, size, { size })
  }

  #removed(entry: Entry<V>, isEvicted: boolean): void {
    if (isEvicted) this.#counts.evicted++
    this.#byKey.delete(entry.key)
    for (const source of entry.sources) {
      const entries = this.#bySource.get(source)
      entries?.delete(entry)
      if (entries?.size === 0) this.#bySource.delete(source)
    }
  }
}

type KindSource = { kind<V>(definition: KindDefinition<V>): KindReads<V> }

/** Returns the same cache, but records each value that is read and each ID that is requested. */
function recordReads<Cache extends KindSource>(cache: Cache, sources: Set<string>): Cache {
  const kinds = new Map<object, unknown>()
  return {
    ...cache,
    kind: <V>(definition: KindDefinition<V>) => {
      if (!kinds.has(definition)) kinds.set(definition, recordReadsOf(definition, cache.kind(definition), sources))
      return kinds.get(definition) as KindReads<V>
    },
  }
}

function recordReadsOf<V>(definition: KindDefinition<V>, kind: KindReads<V>, sources: Set<string>): KindReads<V> {
  // A kind that follows another one changes with it.
  const name = definition.follows ?? definition.name
  const recordValue = <Value extends V | undefined>(value: Value): Value => {
    if (value !== undefined) sources.add(sourceOf(name, definition.idOf(value)))
    return value
  }
  const recordId = (id: string): void => void sources.add(sourceOf(name, id))
  return {
    peek: (id) => {
      recordId(id)
      return kind.peek(id)
    },
    peekNamed: (requested) => recordValue(kind.peekNamed(requested)),
    get: (id, load) => {
      recordId(id)
      return kind.get(id, load)
    },
    getNamed: async (requested, load) => recordValue(await kind.getNamed(requested, load)),
    getMany: (ids, load) => {
      const requested = [...ids]
      for (const id of requested) recordId(id)
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
