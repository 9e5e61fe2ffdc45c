// What is kept of one kind: values by ID, and names that lead to them. It knows nothing of loading or of changes.

import { LRUCache } from 'lru-cache'
import type { Counted } from './changes.ts'

/** What the cache must know of a kind; the value itself is the feature's and is never changed once handed over. */
export interface KindDefinition<V> {
  /** The name under which changes of this kind are announced. */
  readonly name: string
  /** The kind whose changes concern these values, which have the IDs of that kind; their own unless given. */
  readonly follows?: string
  readonly idOf: (value: V) => string
  /** Bytes the value holds on to, about; the cache adds its own overhead. */
  readonly sizeOf: (value: V) => number
  /** Further names (slug, username), already folded. */
  readonly aliasesOf?: (value: V) => readonly string[]
  /** Folds a name as it was asked for into the form of `aliasesOf`. IDs are never folded. */
  readonly foldAlias?: (name: string) => string
  /** The row's revision; an older one never replaces a newer one. */
  readonly revisionOf?: (value: V) => number
  /**
   * The same value with newly counted downloads, or undefined when it cannot be told: then it is dropped. Numbers may
   * come late and out of order. Without it, a count drops the value.
   */
  readonly recount?: (value: V, counted: Counted) => V | undefined
}

/** Another form of the values of a kind, made from the value alone: the same value always gives the same form. */
export interface DerivedForm<V, D> {
  readonly derive: (value: V) => D
  /** Bytes that the form holds on to, about. */
  readonly sizeOf: (form: D) => number
}

/** Rough cost of an entry beside its value: two map slots, the entry, its strings. */
const ENTRY_OVERHEAD_BYTES = 400
/** No value may take more than this part of the whole cache, so that one giant cannot empty it. */
const ENTRY_SHARE_MAX = 1 / 16

/** Entries of all kinds in the order of their use, bounded by the bytes they hold together. */
export type EntryLru = LRUCache<{ evicted(): void }, true>

/** A list that throws out what was used longest ago when more than `maxBytes` are held. */
export function createEntryLru(maxBytes: number): EntryLru {
  return new LRUCache({
    maxSize: maxBytes,
    dispose: (_value, entry, reason) => {
      if (reason === 'evict') entry.evicted()
    },
  })
}

class Entry<V> {
  readonly table: EntryTable<V>
  readonly id: string
  readonly value: V
  readonly aliases: readonly string[]
  bytes: number

  constructor(table: EntryTable<V>, fields: { id: string; value: V; aliases: readonly string[]; bytes: number }) {
    this.table = table
    this.id = fields.id
    this.value = fields.value
    this.aliases = fields.aliases
    this.bytes = fields.bytes
  }

  evicted(): void {
    this.table.evicted(this)
  }
}

/** The entries of one kind, in a list of use that all kinds share. */
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

  /** By ID as typed or, failing that, by alias. */
  findByName(name: string): V | undefined {
    const entry = this.#byId.get(name) ?? this.#byAlias.get(this.fold(name))
    return entry === undefined ? undefined : this.#hit(entry)
  }

  /** The kept value, without counting as a use. */
  at(id: string): V | undefined {
    return this.#byId.get(id)?.value
  }

  /** Keeps a value and returns the one that stands: the present one when that has the higher revision. */
  put(id: string, value: V): V {
    const present = this.#byId.get(id)
    if (present !== undefined) {
      if (this.#revision(present.value) > this.#revision(value)) return present.value
      this.#remove(present)
    }
    const aliases = this.#definition.aliasesOf?.(value) ?? []
    const bytes = this.#definition.sizeOf(value) + ENTRY_OVERHEAD_BYTES
    if (bytes > this.#lru.maxSize * ENTRY_SHARE_MAX) {
      this.#counts.oversized++
      return value
    }
    const entry = new Entry(this, { id, value, aliases, bytes })
    this.#byId.set(id, entry)
    for (const alias of aliases) this.#byAlias.set(alias, entry)
    this.#lru.set(entry, true, { size: bytes })
    return value
  }

  /** Counts more bytes for a value that is kept; one that is not has none. */
  grow(value: V, bytes: number): void {
    const entry = this.#byId.get(this.#definition.idOf(value))
    if (entry === undefined || entry.value !== value) return
    entry.bytes += bytes
    // The list keeps the size with which an entry came.
    this.#lru.delete(entry)
    this.#lru.set(entry, true, { size: entry.bytes })
  }

  remove(id: string): void {
    const entry = this.#byId.get(id)
    if (entry !== undefined) this.#remove(entry)
  }

  clear(): void {
    for (const entry of this.#byId.values()) this.#lru.delete(entry)
    this.#byId.clear()
    this.#byAlias.clear()
  }

  /** Called by an entry that the list of use has thrown out. */
  evicted(entry: Entry<V>): void {
    this.#unmap(entry)
    this.#counts.evicted++
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

  #remove(entry: Entry<V>): void {
    this.#lru.delete(entry)
    this.#unmap(entry)
  }

  /** An entry takes its aliases along: an alias exists only while the cached value behind it lists it. */
  #unmap(entry: Entry<V>): void {
    this.#byId.delete(entry.id)
    for (const alias of entry.aliases) if (this.#byAlias.get(alias) === entry) this.#byAlias.delete(alias)
  }

  #revision(value: V): number {
    return this.#definition.revisionOf?.(value) ?? 0
  }
}
