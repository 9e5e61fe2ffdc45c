// One kind of thing: its entries, the loads under key for it, and the changes being committed to it right now.
// docs/caching.md gives the rules that keep it from being stale.

import type { ChangedIds, Counted } from './changes.ts'
import { type DerivedForm, type EntryLru, EntryTable, type KindDefinition } from './entries.ts'

/**
 * Reads what the cache lacks, in any order, leaving out what does not exist. It reads the primary database outside
 * any transaction: a snapshot older than the call would put the past into a cache that everyone reads.
 */
export type Load<V> = (missing: string[]) => Promise<readonly V[]>

export interface KindStats {
  entries: number
  hits: number
  misses: number
  loads: number
  evicted: number
  /** Loaded values not kept because a change overtook them. */
  overtaken: number
  /** Loaded values not kept because they are larger than one entry may be. */
  oversized: number
}

/** A load under key as changes see it: what they touched since it began; from a bound on, everything. */
interface Running {
  overtaken: Set<string> | 'all'
}

interface Loaded<V> {
  byId: Map<string, V>
  byAlias: Map<string, V>
}

/** What is looked up by: ID or name. Each shares its own loads, since their loaders differ. */
interface LookupKey<V> {
  /** The loads that a caller asking now may wait for. A change takes out those that began before it. */
  shared: Map<string, Promise<Loaded<V>>>
  find(ref: string): V | undefined
  pick(loaded: Loaded<V>, ref: string): V | undefined
  /** Whether a change being committed right now may concern `ref`. */
  isHeld(ref: string): boolean
}

interface Lookup<V> {
  found: Map<string, V>
  missing: Iterable<string>
  load: Load<V>
  mayRetry: boolean
}

const OVERTAKEN_IDS_MAX = 10_000

/** Made by `EntityCache.kind`. Features call `peek*` and `get*`; the rest belongs to the entity cache. */
export class KindCache<V> {
  readonly definition: KindDefinition<V>
  readonly #entries: EntryTable<V>
  readonly #running = new Set<Running>()
  readonly #held = new Map<string, number>()
  #heldAll = 0
  #enabled: boolean
  readonly #counts = { misses: 0, loads: 0, overtaken: 0 }
  /** By the value, so that a form is gone when its value is. */
  readonly #forms = new Map<object, WeakMap<object, unknown>>()
  readonly #byId: LookupKey<V>
  readonly #byName: LookupKey<V>

  constructor(definition: KindDefinition<V>, options: { lru: EntryLru; enabled: boolean }) {
    const entries = new EntryTable(definition, options.lru)
    this.definition = definition
    this.#entries = entries
    this.#enabled = options.enabled
    this.#byId = {
      shared: new Map(),
      find: (id) => entries.findById(id),
      pick: (loaded, id) => loaded.byId.get(id),
      isHeld: (id) => this.#isHeld(id),
    }
    this.#byName = {
      shared: new Map(),
      find: (name) => entries.findByName(name),
      pick: (loaded, name) => loaded.byId.get(name) ?? loaded.byAlias.get(entries.fold(name)),
      // Which thing a name stands for is known only once it is loaded: any change of the kind may concern it.
      isHeld: () => this.#heldAll > 0 || this.#held.size > 0,
    }
  }

  /** The cached value of an ID at once, or undefined when it must be loaded. For answers without a promise. */
  peek(id: string): V | undefined {
    return this.#entries.findById(id)
  }

  /** The same by ID as typed or, failing that, by alias. */
  peekNamed(name: string): V | undefined {
    return this.#entries.findByName(name)
  }

  /**
   * The values of those IDs that exist, keyed by ID, in no particular order; duplicates collapse. Calls `load` once
   * at most, with what neither the cache has nor another caller is loading; once more when another caller's load that
   * this one waited for fails. Rejects with the loader's error.
   */
  getMany(ids: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    return this.#find(this.#byId, ids, load)
  }

  /** The same for names, each an ID or an alias (the ID wins), keyed by the name as it was asked for. */
  getManyNamed(names: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    return this.#find(this.#byName, names, load)
  }

  /** One value by ID, or undefined when there is none. */
  async get(id: string, load: Load<V>): Promise<V | undefined> {
    return this.peek(id) ?? (await this.getMany([id], load)).get(id)
  }

  /** One value by ID or alias, or undefined when there is none. */
  async getNamed(name: string, load: Load<V>): Promise<V | undefined> {
    return this.peekNamed(name) ?? (await this.getManyNamed([name], load)).get(name)
  }

  /**
   * Another form of a value that this kind has given: made when it is first asked for, kept and dropped with the value,
   * and counted with it. Values must be objects.
   */
  derive<D>(value: V, form: DerivedForm<V, D>): D {
    let forms = this.#forms.get(form)
    if (forms === undefined) {
      forms = new WeakMap()
      this.#forms.set(form, forms)
    }
    const known = forms.get(value as object)
    if (known !== undefined) return known as D
    const made = form.derive(value)
    forms.set(value as object, made)
    this.#entries.grow(value, form.sizeOf(made))
    return made
  }

  /** Counts more bytes for a value that grows while it is kept; one that is not kept has none. */
  grow(value: V, bytes: number): void {
    this.#entries.grow(value, bytes)
  }

  /** Drops the entries, and sees to it that no load under way stores them or is handed to a later caller. */
  invalidate(ids: ChangedIds): void {
    this.#byName.shared.clear()
    if (ids === 'all') {
      this.#byId.shared.clear()
      this.#entries.clear()
    } else {
      for (const id of ids) {
        this.#byId.shared.delete(id)
        this.#entries.remove(id)
      }
    }
    for (const running of this.#running) overtake(running, ids)
  }

  /** Puts new numbers of downloads into the entries; loads under way may have read the old ones, and are not kept. */
  recount(counts: ReadonlyMap<string, Counted>): void {
    this.#byName.shared.clear()
    for (const [id, counted] of counts) {
      this.#byId.shared.delete(id)
      const value = this.#entries.at(id)
      if (value === undefined) continue
      const next = this.definition.recount?.(value, counted)
      if (next === undefined) this.#entries.remove(id)
      else if (next !== value) this.#entries.put(id, next)
    }
    const ids = new Set(counts.keys())
    for (const running of this.#running) overtake(running, ids)
  }

  /** Until the returned function is called, reads of these IDs go to their loader, each by itself, and store nothing. */
  hold(ids: ChangedIds): () => void {
    this.#countHolds(ids, 1)
    this.invalidate(ids)
    return () => {
      this.#countHolds(ids, -1)
      // A load that began under the hold may have read what was there before the commit.
      this.invalidate(ids)
    }
  }

  /** Switches between keeping values and serving every read from its loader; either key the cache starts empty. */
  setEnabled(enabled: boolean): void {
    this.#enabled = enabled
    this.invalidate('all')
  }

  stats(): KindStats {
    return { ...this.#entries.stats(), ...this.#counts }
  }

  #find(key: LookupKey<V>, refs: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    const found = new Map<string, V>()
    let missing: Set<string> | undefined
    for (const ref of refs) {
      const value = key.find(ref)
      if (value !== undefined) found.set(ref, value)
      else if (missing === undefined) missing = new Set([ref])
      else missing.add(ref)
    }
    if (missing === undefined) return Promise.resolve(found)
    this.#counts.misses += missing.size
    return this.#fill(key, { found, missing, load, mayRetry: true })
  }

  async #fill(key: LookupKey<V>, lookup: Lookup<V>): Promise<Map<string, V>> {
    const own: string[] = []
    const others = new Map<Promise<Loaded<V>>, string[]>()
    for (const ref of lookup.missing) {
      const shared = key.isHeld(ref) ? undefined : key.shared.get(ref)
      if (shared === undefined) own.push(ref)
      else others.set(shared, [...(others.get(shared) ?? []), ref])
    }
    const take = (loaded: Loaded<V>, refs: string[]): void => {
      for (const ref of refs) {
        const value = key.pick(loaded, ref)
        if (value !== undefined) lookup.found.set(ref, value)
      }
    }
    const failed: string[] = []
    const waits = [...others].map(async ([shared, refs]) => {
      try {
        take(await shared, refs)
      } catch (error) {
        // Another caller's load may have failed for a reason of its own, such as its client going away.
        if (!lookup.mayRetry) throw error
        failed.push(...refs)
      }
    })
    if (own.length > 0) waits.push(this.#start(key, own, lookup.load).then((loaded) => take(loaded, own)))
    await Promise.all(waits)
    if (failed.length > 0) await this.#fill(key, { ...lookup, missing: failed, mayRetry: false })
    return lookup.found
  }

  #start(key: LookupKey<V>, refs: string[], load: Load<V>): Promise<Loaded<V>> {
    // Without invalidation messages nobody says when a value has become too old to keep or a load too old to share.
    const running: Running = { overtaken: this.#enabled ? new Set() : 'all' }
    this.#running.add(running)
    this.#counts.loads++
    const loaded = this.#run(running, refs, load).finally(() => {
      this.#running.delete(running)
      for (const ref of refs) if (key.shared.get(ref) === loaded) key.shared.delete(ref)
    })
    if (this.#enabled) for (const ref of refs) if (!key.isHeld(ref)) key.shared.set(ref, loaded)
    return loaded
  }

  async #run(running: Running, refs: string[], load: Load<V>): Promise<Loaded<V>> {
    const loaded: Loaded<V> = { byId: new Map(), byAlias: new Map() }
    for (const value of await load(refs)) {
      const id = this.definition.idOf(value)
      const standing = this.#mayKeep(running, id) ? this.#entries.put(id, value) : value
      loaded.byId.set(id, standing)
      // The one that stands may have been renamed since this load read it, and the name gone to another: by this name the
      // load has found what it read.
      const names = this.definition.aliasesOf?.(standing) ?? []
      for (const alias of this.definition.aliasesOf?.(value) ?? []) {
        loaded.byAlias.set(alias, names.includes(alias) ? standing : value)
      }
    }
    return loaded
  }

  #mayKeep(running: Running, id: string): boolean {
    if (running.overtaken !== 'all' && !running.overtaken.has(id) && !this.#isHeld(id)) return true
    if (this.#enabled) this.#counts.overtaken++
    return false
  }

  #countHolds(ids: ChangedIds, by: 1 | -1): void {
    if (ids === 'all') {
      this.#heldAll += by
      return
    }
    for (const id of ids) {
      const count = (this.#held.get(id) ?? 0) + by
      if (count > 0) this.#held.set(id, count)
      else this.#held.delete(id)
    }
  }

  #isHeld(id: string): boolean {
    return this.#heldAll > 0 || this.#held.has(id)
  }
}

function overtake(running: Running, ids: ChangedIds): void {
  if (running.overtaken === 'all') return
  if (ids === 'all' || running.overtaken.size + ids.size > OVERTAKEN_IDS_MAX) running.overtaken = 'all'
  else for (const id of ids) running.overtaken.add(id)
}
