// Stores the entities of one kind by ID, and the aliases that lead to them. It knows nothing of loads and changes.

import { LRUCache } from 'lru-cache'
import type { Changes, Counted, Counts } from './changes.ts'
import type { CacheDefinition } from './definitions.ts'

/**
 * Describes a kind of entity. The value belongs to the feature, which never changes it once it is cached. Changes are
 * announced with the name of the cache, unless the kind `follows` another one.
 */
export interface KindDefinition<V> extends CacheDefinition {
  /** The kind whose changes remove these values, which must have the IDs of that kind. Default: `name`. */
  readonly follows?: string
  readonly idOf: (value: V) => string
  /** Approximate size in bytes; the cache adds its own overhead. */
  readonly sizeOf: (value: V) => number
  /** Other names (slug, username) in folded form. */
  readonly aliasesOf?: (value: V) => readonly string[]
  /** Folds a name that a client sent into the form of `aliasesOf`. IDs are never folded. */
  readonly foldAlias?: (name: string) => string
  /** The row's revision; an older revision never replaces a newer one. */
  readonly revisionOf?: (value: V) => number
  /**
   * Returns the value with a new download count, or undefined to remove it. Counts can arrive late and in any order.
   * Default: a new count removes the value.
   */
  readonly recount?: (value: V, counted: Counted) => V | undefined
}

/** Another form of a value, computed from the value alone. */
export interface DerivedForm<V, D> {
  readonly derive: (value: V) => D
  /** Approximate size in bytes. */
  readonly sizeOf: (form: D) => number
}

/** The interface between the entity cache and each of its caches. */
export interface CachePart {
  invalidate(changes: Changes): void
  hold(changes: Changes): () => void
  recount(counts: Counts): void
  setEnabled(enabled: boolean): void
  clear(): void
  stats(): CacheStats
}

export interface CacheStats {
  entries: number
  hits: number
  misses: number
  loads: number
  evicted: number
  /** Loaded values that were not cached because they changed during their load. */
  overtaken: number
  /** Loaded values that were not cached because they are too large. */
  oversized: number
}

/** Approximate overhead of an entry: two map slots, the entry and its strings. */
const ENTRY_OVERHEAD_BYTES = 400
/** Maximum share of the cache for one value, so that one large value cannot evict all others. */
const ENTRY_SHARE_MAX = 1 / 16

/** Entries of all caches with their sizes, in the order of their last use, limited by their total size. */
export type EntryLru = LRUCache<{ removed(isEvicted: boolean): void }, number>

/** Evicts the least recently used entries when they exceed `maxBytes`. Tells each removed entry, so that its cache forgets it. */
export function createEntryLru(maxBytes: number): EntryLru {
  return new LRUCache({
    maxSize: maxBytes,
    dispose: (_value, entry, reason) => {
      if (reason !== 'set') entry.removed(reason === 'evict')
    },
  })
}

/** Returns the size of an entry whose value has this size. */
export function entryBytes(valueBytes: number): number {
  return Math.ceil(valueBytes) + ENTRY_OVERHEAD_BYTES
}

export function isOversized(lru: EntryLru, bytes: number): boolean {
  return bytes > lru.maxSize * ENTRY_SHARE_MAX
}

type Entry<V> = { id: string; value: V; aliases: readonly string[]; bytes: number; removed(isEvicted: boolean): void }

/** The entries of one kind. All kinds share one LRU list. */
export class EntryTable<V> {
  readonly #definition: KindDefinition<V>
  readonly #lru: EntryLru
  readonly #byId = new Map<string, Entry<V>>()
  readonly #byAlias = new Map<string, Entry<V>>()
  readonly #counts = { hits: 0, evicted: 0, oversized: 0 }

  constructor(definition: KindDefinition<V>, lru: EntryLru) {
    this.#definition = definition
    this.#lru = lru
  }

  findById(id: string): V | undefined {
    const entry = this.#byId.get(id)
    return entry === undefined ? undefined : this.#hit(entry)
  }

  /** Finds a value by its exact ID, otherwise by alias. */
  findByName(name: string): V | undefined {
    const entry = this.#byId.get(name) ?? this.#byAlias.get(this.fold(name))
    return entry === undefined ? undefined : this.#hit(entry)
  }

  /** Finds a value without counting a use. */
  at(id: string): V | undefined {
    return this.#byId.get(id)?.value
  }

  /** Stores a value and returns it, or returns the present value if that has a higher revision. */
  put(id: string, value: V): V {
    const present = this.#byId.get(id)
    if (present !== undefined) {
      if (this.#revision(present.value) > this.#revision(value)) return present.value
      this.#lru.delete(present)
    }
    const aliases = this.#definition.aliasesOf?.(value) ?? []
    const bytes = entryBytes(this.#definition.sizeOf(value))
    if (isOversized(this.#lru, bytes)) {
      this.#counts.oversized++
      return value
    }
    const entry: Entry<V> = { id, value, aliases, bytes, removed: (isEvicted) => this.#removed(entry, isEvicted) }
    this.#byId.set(id, entry)
    for (const alias of aliases) this.#byAlias.set(alias, entry)
    this.#lru.set(entry, bytes, { size: bytes })
    return value
  }

  /** Adds to the size of a value if it is cached. */
  grow(value: V, bytes: number): void {
    const entry = this.#byId.get(this.#definition.idOf(value))
    if (entry === undefined || entry.value !== value) return
    entry.bytes += bytes
    // The list would drop an entry that is larger than the whole cache without telling it.
    if (entry.bytes > this.#lru.maxSize) this.#lru.delete(entry)
    else this.#lru.set(entry, entry.bytes, { size: entry.bytes })
  }

  remove(id: string): void {
    const entry = this.#byId.get(id)
    if (entry !== undefined) this.#lru.delete(entry)
  }

  clear(): void {
    for (const entry of this.#byId.values()) this.#lru.delete(entry)
  }

  fold(name: string): string {
    return this.#definition.foldAlias === undefined ? name : this.#definition.foldAlias(name)
  }

  stats(): { entries: number; hits: number; evicted: number; oversized: number } {
    return { entries: this.#byId.size, ...this.#counts }
  }

  #hit(entry: Entry<V>): V {
    this.#counts.hits++
    this.#lru.get(entry)
    return entry.value
  }

  /** Removes the aliases too: an alias exists only while the cached value lists it. */
  #removed(entry: Entry<V>, isEvicted: boolean): void {
    if (isEvicted) this.#counts.evicted++
    this.#byId.delete(entry.id)
    for (const alias of entry.aliases) if (this.#byAlias.get(alias) === entry) this.#byAlias.delete(alias)
  }

  #revision(value: V): number {
    return this.#definition.revisionOf?.(value) ?? 0
  }
}
