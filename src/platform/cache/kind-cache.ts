// The cache of one kind of entity: its entries and the loads in progress. docs/contributors/caching.md explains why it is never stale.

import type { ChangedIds, Changes, Counts } from './changes.ts'
import {
  type CachePart,
  type CacheStats,
  type DerivedForm,
  type EntryLru,
  EntryTable,
  type KindDefinition,
} from './entries.ts'
import { type GuardedLoad, LoadGuard } from './load-guard.ts'

/**
 * Reads missing values in any order and skips what does not exist. It must read the primary database outside any
 * transaction: a snapshot older than the call would put outdated values into a cache that everyone reads.
 */
export type Load<V> = (missing: string[]) => Promise<readonly V[]>

/** The methods that features call. */
export type KindReads<V> = Pick<
  KindCache<V>,
  'peek' | 'peekNamed' | 'get' | 'getNamed' | 'getMany' | 'getManyNamed' | 'derive' | 'grow' | 'stats'
>

interface Loaded<V> {
  byId: Map<string, V>
  byAlias: Map<string, V>
}

/** Lookup by ID or by name. Each shares its own loads, because the loaders differ. */
interface LookupKey<V> {
  /** Loads in progress that a new caller can share. A change removes the loads that began before it. */
  shared: Map<string, Promise<Loaded<V>>>
  find(ref: string): V | undefined
  pick(loaded: Loaded<V>, ref: string): V | undefined
  /** Whether a transaction that is being committed might change `ref`. */
  isHeld(ref: string): boolean
}

interface Lookup<V> {
  values: Map<string, V>
  missing: Iterable<string>
  load: Load<V>
  mayRetry: boolean
}

/** Maximum number of values per load, because the rows of a load are parsed and stored in few turns of the event loop. */
const LOADED_MAX = 1_000

export class KindCache<V> implements CachePart {
  readonly #definition: KindDefinition<V>
  readonly #entries: EntryTable<V>
  readonly #guard: LoadGuard
  /** The kind whose changes concern these values. */
  readonly #follows: string
  readonly #counts = { misses: 0, loads: 0 }
  /** By the value, so that a form is released with its value. */
  readonly #forms = new Map<object, WeakMap<object, unknown>>()
  readonly #byId: LookupKey<V>
  readonly #byName: LookupKey<V>

  constructor(definition: KindDefinition<V>, { lru, enabled }: { lru: EntryLru; enabled: boolean }) {
    const entries = new EntryTable(definition, lru)
    const guard = new LoadGuard(enabled)
    this.#definition = definition
    this.#entries = entries
    this.#guard = guard
    this.#follows = definition.follows ?? definition.name
    this.#byId = {
      shared: new Map(),
      find: (id) => entries.findById(id),
      pick: (loaded, id) => loaded.byId.get(id),
      isHeld: (id) => guard.isHeld(id),
    }
    this.#byName = {
      shared: new Map(),
      find: (name) => entries.findByName(name),
      pick: (loaded, name) => loaded.byId.get(name) ?? loaded.byAlias.get(entries.fold(name)),
      // Only the loaded value shows which entity has the name, so any change of the kind might concern it.
      isHeld: () => guard.isAnyHeld(),
    }
  }

  /** Returns the cached value of an ID, or undefined if it must be loaded. */
  peek(id: string): V | undefined {
    return this.#entries.findById(id)
  }

  /** Returns the cached value of an exact ID, otherwise of an alias. */
  peekNamed(name: string): V | undefined {
    return this.#entries.findByName(name)
  }

  /**
   * Returns the existing values by ID, in no particular order. Calls `load` with the IDs that are neither cached nor
   * being loaded, and a second time if a load of another caller fails. Rejects with the error of `load`.
   */
  getMany(ids: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    return this.#find(this.#byId, ids, load)
  }

  /** Does the same for names, each an ID or an alias (an ID takes precedence). The keys are the requested names. */
  getManyNamed(names: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    return this.#find(this.#byName, names, load)
  }

  /** Returns one value by ID, or undefined if it does not exist. */
  async get(id: string, load: Load<V>): Promise<V | undefined> {
    return this.peek(id) ?? (await this.getMany([id], load)).get(id)
  }

  /** Returns one value by ID or alias, or undefined if it does not exist. */
  async getNamed(name: string, load: Load<V>): Promise<V | undefined> {
    return this.peekNamed(name) ?? (await this.getManyNamed([name], load)).get(name)
  }

  /** Returns another form of a value of this kind. Computed once, cached and removed with the value, which must be an object. */
  derive<D>(value: V, form: DerivedForm<V, D>): D {
    let forms = this.#forms.get(form)
    if (forms === undefined) {
      forms = new WeakMap()
      this.#forms.set(form, forms)
    }
    const cached = forms.get(value as object)
    if (cached !== undefined) return cached as D
    const derived = form.derive(value)
    forms.set(value as object, derived)
    this.#entries.grow(value, form.sizeOf(derived))
    return derived
  }

  /** Adds to the size of a value if it is cached. */
  grow(value: V, bytes: number): void {
    this.#entries.grow(value, bytes)
  }

  /** Removes changed entries. Loads in progress do not store these values, and new callers do not share the loads. */
  invalidate(changes: Changes): void {
    const ids = changes.get(this.#follows)
    if (ids !== undefined) this.#drop(ids)
  }

  /** Updates download counts. Loads in progress might have read the old counts and do not store them. */
  recount(counts: Counts): void {
    const counted = counts.get(this.#follows)
    if (counted === undefined) return
    this.#byName.shared.clear()
    for (const [id, count] of counted) {
      this.#byId.shared.delete(id)
      const value = this.#entries.at(id)
      if (value === undefined) continue
      const next = this.#definition.recount?.(value, count)
      if (next === undefined) this.#entries.remove(id)
      else if (next !== value) this.#entries.put(id, next)
    }
    this.#guard.change(new Set(counted.keys()))
  }

  /** Until the returned function is called, each read of a changed ID calls its own loader, and nothing is stored. */
  hold(changes: Changes): () => void {
    const ids = changes.get(this.#follows)
    if (ids === undefined) return () => {}
    this.#guard.hold(ids)
    this.#drop(ids)
    return () => {
      this.#guard.release(ids)
      // A load that began before the commit might have read what the commit replaced.
      this.#drop(ids)
    }
  }

  setEnabled(enabled: boolean): void {
    this.#guard.enabled = enabled
    this.clear()
  }

  clear(): void {
    this.#drop('all')
  }

  stats(): CacheStats {
    return { ...this.#entries.stats(), ...this.#counts, overtaken: this.#guard.overtaken }
  }

  #drop(ids: ChangedIds): void {
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
    this.#guard.change(ids)
  }

  #find(key: LookupKey<V>, refs: Iterable<string>, load: Load<V>): Promise<Map<string, V>> {
    const values = new Map<string, V>()
    let missing: Set<string> | undefined
    for (const ref of refs) {
      const value = key.find(ref)
      if (value !== undefined) values.set(ref, value)
      else if (missing === undefined) missing = new Set([ref])
      else missing.add(ref)
    }
    if (missing === undefined) return Promise.resolve(values)
    this.#counts.misses += missing.size
    return this.#fill(key, { values, missing, load, mayRetry: true })
  }

  async #fill(key: LookupKey<V>, lookup: Lookup<V>): Promise<Map<string, V>> {
    const own: string[] = []
    const others = new Map<Promise<Loaded<V>>, string[]>()
    for (const ref of lookup.missing) {
      const shared = key.isHeld(ref) ? undefined : key.shared.get(ref)
      if (shared === undefined) own.push(ref)
      else others.set(shared, [...(others.get(shared) ?? []), ref])
    }
    const pick = (loaded: Loaded<V>, refs: string[]): void => {
      for (const ref of refs) {
        const value = key.pick(loaded, ref)
        if (value !== undefined) lookup.values.set(ref, value)
      }
    }
    const failed: string[] = []
    const waits = [...others].map(async ([shared, refs]) => {
      try {
        pick(await shared, refs)
      } catch (error) {
        // The load of another caller might have failed for its own reason, such as a disconnected client.
        if (!lookup.mayRetry) throw error
        failed.push(...refs)
      }
    })
    const loadOwn = async (): Promise<void> => {
      for (let from = 0; from < own.length; from += LOADED_MAX) {
        const refs = own.slice(from, from + LOADED_MAX)
        pick(await this.#start(key, refs, lookup.load), refs)
      }
    }
    await Promise.all([...waits, loadOwn()])
    if (failed.length > 0) await this.#fill(key, { ...lookup, missing: failed, mayRetry: false })
    return lookup.values
  }

  #start(key: LookupKey<V>, refs: string[], load: Load<V>): Promise<Loaded<V>> {
    const running = this.#guard.begin()
    this.#counts.loads++
    const loaded = this.#run(running, refs, load).finally(() => {
      this.#guard.end(running)
      for (const ref of refs) if (key.shared.get(ref) === loaded) key.shared.delete(ref)
    })
    // Without announcements, no one would notice that a load has become too old to share.
    if (this.#guard.enabled) for (const ref of refs) if (!key.isHeld(ref)) key.shared.set(ref, loaded)
    return loaded
  }

  async #run(running: GuardedLoad, refs: string[], load: Load<V>): Promise<Loaded<V>> {
    const loaded: Loaded<V> = { byId: new Map(), byAlias: new Map() }
    for (const value of await load(refs)) {
      const id = this.#definition.idOf(value)
      const newest = this.#guard.allows(running, [id]) ? this.#entries.put(id, value) : value
      loaded.byId.set(id, newest)
      // The newest value might have been renamed since this load read it: the old name still leads to the loaded value.
      const names = this.#definition.aliasesOf?.(newest) ?? []
      for (const alias of this.#definition.aliasesOf?.(value) ?? [])
        loaded.byAlias.set(alias, names.includes(alias) ? newest : value)
    }
    return loaded
  }
}
