// Caches computed values for a limited time, such as counts and rendered texts. No announcement removes them: their
// age is limited, or their key changes with their content.
import type { CacheDefinition } from './definitions.ts'
import { type CachePart, type CacheStats, type EntryLru, entryBytes, isOversized } from './entries.ts'

/** Without `maxAgeMs`, the key or the reader determines whether a value is current. */
export interface RememberDefinition<V> extends CacheDefinition {
  readonly maxAgeMs?: number
  readonly maxBytes: number
  /** Whether callers get an expired value while a new one is loaded. */
  readonly isStaleAllowed?: boolean
  /** Approximate size in bytes; the cache adds its own overhead. Default: 0, for numbers. */
  readonly sizeOf?: (value: V) => number
}

type Entry<V> = { key: string; value: V; storedAt: number; bytes: number; removed(isEvicted: boolean): void }

/** Created by `EntityCache.remember`. Features call `get`, `peek` and `store`. */
export class Remembered<V> implements CachePart {
  readonly #definition: RememberDefinition<V>
  readonly #lru: EntryLru
  readonly #now: () => number
  /** In the order of their last use. */
  readonly #byKey = new Map<string, Entry<V>>()
  readonly #loading = new Map<string, Promise<V>>()
  readonly #counts = { hits: 0, misses: 0, loads: 0, evicted: 0, oversized: 0 }
  #bytes = 0

  constructor(definition: RememberDefinition<V>, { lru, now }: { lru: EntryLru; now: () => number }) {
    this.#definition = definition
    this.#lru = lru
    this.#now = now
  }

  /** Returns the cached value, or loads and caches it. Concurrent calls share one load. Rejects with its error. */
  async get(key: string, load: () => Promise<V>): Promise<V> {
    const current = this.#find(key)
    if (current !== undefined) return current.value
    const loading = this.#loading.get(key) ?? this.#load(key, load)
    const expired = this.#definition.isStaleAllowed ? this.#byKey.get(key) : undefined
    if (expired === undefined) return loading
    loading.catch(() => {})
    return expired.value
  }

  /** Returns the cached value, or undefined if there is none or it has expired. */
  peek(key: string): V | undefined {
    return this.#find(key)?.value
  }

  store(key: string, value: V): void {
    const present = this.#byKey.get(key)
    if (present !== undefined) this.#lru.delete(present)
    const bytes = entryBytes(key.length + (this.#definition.sizeOf?.(value) ?? 0))
    if (isOversized(this.#lru, bytes) || bytes > this.#definition.maxBytes) {
      this.#counts.oversized++
      return
    }
    const entry: Entry<V> = {
      key,
      value,
      storedAt: this.#now(),
      bytes,
      removed: (isEvicted) => this.#removed(entry, isEvicted),
    }
    this.#byKey.set(key, entry)
    this.#bytes += bytes
    this.#lru.set(entry, bytes, { size: bytes })
    for (const oldest of this.#byKey.values()) {
      if (this.#bytes <= this.#definition.maxBytes) break
      this.#lru.delete(oldest)
      this.#counts.evicted++
    }
  }

  clear(): void {
    for (const entry of this.#byKey.values()) this.#lru.delete(entry)
  }

  invalidate(): void {}

  hold(): () => void {
    return () => {}
  }

  recount(): void {}

  setEnabled(): void {}

  stats(): CacheStats {
    return { entries: this.#byKey.size, overtaken: 0, ...this.#counts }
  }

  #find(key: string): Entry<V> | undefined {
    const entry = this.#byKey.get(key)
    const { maxAgeMs = Number.POSITIVE_INFINITY } = this.#definition
    if (entry === undefined || this.#now() - entry.storedAt > maxAgeMs) {
      this.#counts.misses++
      return undefined
    }
    this.#counts.hits++
    this.#lru.get(entry)
    this.#byKey.delete(key)
    this.#byKey.set(key, entry)
    return entry
  }

  #load(key: string, load: () => Promise<V>): Promise<V> {
    this.#counts.loads++
    const loading = load()
      .then((value) => {
        this.store(key, value)
        return value
      })
      .finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  #removed({ key, bytes }: Entry<V>, isEvicted: boolean): void {
    if (isEvicted) this.#counts.evicted++
    this.#byKey.delete(key)
    this.#bytes -= bytes
  }
}
