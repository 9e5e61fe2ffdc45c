// Decides whether a loaded value can be cached: not if it changed during the load, and not during a commit that changes it.
import type { ChangedIds } from './changes.ts'

/** A load in progress, with the keys that changed since it began. */
export interface GuardedLoad {
  changed: Set<string> | 'all'
}

/** If more keys change during a load, the load counts as outdated. Bounds the memory. */
const CHANGED_MAX = 10_000

/** The keys depend on the cache: IDs, or IDs with their kind. */
export class LoadGuard {
  readonly #loads = new Set<GuardedLoad>()
  readonly #held = new Map<string, number>()
  #heldAll = 0
  /** While false, nothing can be cached, because no one announces changes. */
  enabled: boolean
  /** Number of values that were not cached because they changed during their load. */
  overtaken = 0

  constructor(enabled: boolean) {
    this.enabled = enabled
  }

  begin(): GuardedLoad {
    const load: GuardedLoad = { changed: this.enabled ? new Set() : 'all' }
    this.#loads.add(load)
    return load
  }

  end(load: GuardedLoad): void {
    this.#loads.delete(load)
  }

  /** Marks the keys as changed in every load in progress. */
  change(keys: ChangedIds): void {
    for (const load of this.#loads) {
      if (load.changed === 'all') continue
      if (keys === 'all' || load.changed.size + keys.size > CHANGED_MAX) load.changed = 'all'
      else for (const key of keys) load.changed.add(key)
    }
  }

  /** Prevents caching of values that depend on the keys, until `release` is called as often. */
  hold(keys: ChangedIds): void {
    this.#count(keys, 1)
  }

  release(keys: ChangedIds): void {
    this.#count(keys, -1)
  }

  isHeld(key: string): boolean {
    return this.#heldAll > 0 || this.#held.has(key)
  }

  isAnyHeld(): boolean {
    return this.#heldAll > 0 || this.#held.size > 0
  }

  /** Whether a value that depends on the keys can be cached. Counts a rejection. */
  allows({ changed }: GuardedLoad, keys: Iterable<string>): boolean {
    // The usual case, which costs less without an iterator.
    if (changed !== 'all' && changed.size + this.#held.size + this.#heldAll === 0) return true
    if (
      changed !== 'all' &&
      this.#heldAll === 0 &&
      !Iterator.from(keys).some((key) => changed.has(key) || this.#held.has(key))
    )
      return true
    if (this.enabled) this.overtaken++
    return false
  }

  #count(keys: ChangedIds, by: 1 | -1): void {
    if (keys === 'all') {
      this.#heldAll += by
      return
    }
    for (const key of keys) {
      const count = (this.#held.get(key) ?? 0) + by
      if (count > 0) this.#held.set(key, count)
      else this.#held.delete(key)
    }
  }
}
