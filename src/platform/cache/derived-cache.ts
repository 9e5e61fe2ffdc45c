// Answers that are made of many things, such as a page: each is kept until one of the things that it was made of changes.
// What it was made of is noted while it is made, by the cache that its maker reads through.

import type { ChangedIds, Changes, Counts } from './changes.ts'
import type { EntityCache, KindReads } from './entity-cache.ts'
import type { EntryLru, KindDefinition } from './entries.ts'
import type { KindStats } from './kind-cache.ts'

/** What the cache must know of the answers of one sort. A value is never changed once it is handed over. */
export interface DerivedDefinition<V> {
  /** For the metrics; no kind has it. */
  readonly name: string
  /** Bytes the value holds on to, about; the cache adds its own overhead. */
  readonly sizeOf: (value: V) => number
}

/** One answer that is being made. */
export interface DerivedEntryBuilder<V> {
  /** The cache to read through. Whatever else is read must be announced as a change of something read through it. */
  readonly cache: EntityCache
  /** Keeps the answer, unless something that it was made of changed since it was begun. */
  keep(key: string, value: V): void
  /** Must be called in the end, whether or not something was kept. */
  end(): void
}

/** Rough cost of an entry beside its value, and of each thing that it was made of. */
const ENTRY_OVERHEAD_BYTES = 400
const SOURCE_OVERHEAD_BYTES = 150
/** No answer may take more than this part of the whole cache. */
const ENTRY_SHARE_MAX = 1 / 16
/** An answer made of more things is not kept. */
const SOURCES_MAX = 1000
/** From so many changes on, one that is being made counts as overtaken by everything. */
const OVERTAKEN_MAX = 10_000

/** A thing by its kind and ID. Neither has a line break in it. */
const sourceOf = (kind: string, id: string): string => `${kind}\n${id}`

class Entry<V> {
  readonly table: DerivedCache<V>
  readonly key: string
  readonly value: V
  readonly sources: ReadonlySet<string>

  constructor(table: DerivedCache<V>, fields: { key: string; value: V; sources: ReadonlySet<string> }) {
    this.table = table
    this.key = fields.key
    this.value = fields.value
    this.sources = fields.sources
  }

  evicted(): void {
    this.table.evicted(this)
  }
}

type Running = { sources: Set<string>; overtaken: Set<string> | 'all' }

/** Made by `EntityCache.derived`. Features call `has`, `peek` and `begin`; the rest belongs to the entity cache. */
export class DerivedCache<V> {
  readonly definition: DerivedDefinition<V>
  readonly #lru: EntryLru
  readonly #byKey = new Map<string, Entry<V>>()
  readonly #bySource = new Map<string, Set<Entry<V>>>()
  readonly #running = new Set<Running>()
  readonly #held = new Map<string, number>()
  #heldAll = 0
  #enabled: boolean
  readonly #counts = { hits: 0, misses: 0, loads: 0, evicted: 0, overtaken: 0, oversized: 0 }

  constructor(definition: DerivedDefinition<V>, { lru, enabled }: { lru: EntryLru; enabled: boolean }) {
    this.definition = definition
    this.#lru = lru
    this.#enabled = enabled
  }

  /** The answer that is kept under this key. */
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

  /** Whether an answer is kept under this key; does not count as a use. */
  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  /** Begins an answer: everything that it is made of is read after this. `cache` is where it is read from. */
  begin(cache: EntityCache): DerivedEntryBuilder<V> {
    const running: Running = { sources: new Set(), overtaken: this.#enabled ? new Set() : 'all' }
    this.#running.add(running)
    this.#counts.loads++
    return {
      cache: noteReads(cache, running.sources),
      keep: (key, value) => {
        if (this.#mayKeep(running)) this.#put(key, value, new Set(running.sources))
        else if (this.#enabled) this.#counts.overtaken++
      },
      end: () => void this.#running.delete(running),
    }
  }

  invalidate(changes: Changes): void {
    for (const [kind, ids] of changes) this.#drop(kind, ids)
  }

  /** Counted downloads are part of answers: those of the things that were counted are dropped. */
  recount(counts: Counts): void {
    for (const [kind, counted] of counts) this.#drop(kind, new Set(counted.keys()))
  }

  /** Until the returned function is called, nothing is kept that is made of these. */
  hold(changes: Changes): () => void {
    this.#countHolds(changes, 1)
    this.invalidate(changes)
    return () => {
      this.#countHolds(changes, -1)
      // What was begun under the hold may have read what was there before the commit.
      this.invalidate(changes)
    }
  }

  /** Empties it, and switches between keeping answers and keeping none. */
  setEnabled(enabled: boolean): void {
    this.#enabled = enabled
    this.clear()
  }

  clear(): void {
    for (const entry of this.#byKey.values()) this.#lru.delete(entry)
    this.#byKey.clear()
    this.#bySource.clear()
    for (const running of this.#running) running.overtaken = 'all'
  }

  stats(): KindStats {
    return { entries: this.#byKey.size, ...this.#counts }
  }

  /** Called by an entry that the list of use has thrown out. */
  evicted(entry: Entry<V>): void {
    this.#unmap(entry)
    this.#counts.evicted++
  }

  #drop(kind: string, ids: ChangedIds): void {
    // Rare enough that it is not worth knowing which answers are made of something of this kind.
    if (ids === 'all') return this.clear()
    for (const id of ids) for (const entry of this.#bySource.get(sourceOf(kind, id)) ?? []) this.#remove(entry)
    for (const running of this.#running) {
      if (running.overtaken === 'all') continue
      if (running.overtaken.size + ids.size > OVERTAKEN_MAX) running.overtaken = 'all'
      else for (const id of ids) running.overtaken.add(sourceOf(kind, id))
    }
  }

  #mayKeep({ sources, overtaken }: Running): boolean {
    if (overtaken === 'all' || this.#heldAll > 0 || sources.size > SOURCES_MAX) return false
    for (const source of sources) if (overtaken.has(source) || this.#held.has(source)) return false
    return true
  }

  #put(key: string, value: V, sources: ReadonlySet<string>): void {
    const present = this.#byKey.get(key)
    if (present !== undefined) this.#remove(present)
    const size = Math.ceil(this.definition.sizeOf(value)) + ENTRY_OVERHEAD_BYTES + sources.size * SOURCE_OVERHEAD_BYTES
    if (size > this.#lru.maxSize * ENTRY_SHARE_MAX) {
      this.#counts.oversized++
      return
    }
    const entry = new Entry(this, { key, value, sources })
    this.#byKey.set(key, entry)
    for (const source of sources) {
      const entries = this.#bySource.get(source)
      if (entries === undefined) this.#bySource.set(source, new Set([entry]))
      else entries.add(entry)
    }
    this.#lru.set(entry, true, { size })
  }

  #remove(entry: Entry<V>): void {
    this.#lru.delete(entry)
    this.#unmap(entry)
  }

  #unmap(entry: Entry<V>): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key)
    for (const source of entry.sources) {
      const entries = this.#bySource.get(source)
      entries?.delete(entry)
      if (entries?.size === 0) this.#bySource.delete(source)
    }
  }

  #countHolds(changes: Changes, by: 1 | -1): void {
    for (const [kind, ids] of changes) {
      if (ids === 'all') this.#heldAll += by
      else for (const id of ids) this.#countHold(sourceOf(kind, id), by)
    }
  }

  #countHold(source: string, by: 1 | -1): void {
    const count = (this.#held.get(source) ?? 0) + by
    if (count > 0) this.#held.set(source, count)
    else this.#held.delete(source)
  }
}

/** The same cache, of which every value that is read is noted, and every ID that is asked for. */
function noteReads(cache: EntityCache, sources: Set<string>): EntityCache {
  return { ...cache, kind: (definition) => noteReadsOf(definition, cache.kind(definition), sources) }
}

function noteReadsOf<V>(definition: KindDefinition<V>, kind: KindReads<V>, sources: Set<string>): KindReads<V> {
  // What follows another kind changes with it.
  const name = definition.follows ?? definition.name
  const noteValue = <Found extends V | undefined>(value: Found): Found => {
    if (value !== undefined) sources.add(sourceOf(name, definition.idOf(value)))
    return value
  }
  const noteId = (id: string): void => void sources.add(sourceOf(name, id))
  return {
    peek: (id) => {
      noteId(id)
      return kind.peek(id)
    },
    peekNamed: (asked) => noteValue(kind.peekNamed(asked)),
    get: (id, load) => {
      noteId(id)
      return kind.get(id, load)
    },
    getNamed: async (asked, load) => noteValue(await kind.getNamed(asked, load)),
    getMany: (ids, load) => {
      const asked = [...ids]
      for (const id of asked) noteId(id)
      return kind.getMany(asked, load)
    },
    getManyNamed: async (names, load) => {
      const found = await kind.getManyNamed(names, load)
      for (const value of found.values()) noteValue(value)
      return found
    },
    derive: (value, form) => kind.derive(noteValue(value), form),
    grow: (value, bytes) => kind.grow(value, bytes),
    stats: () => kind.stats(),
  }
}
