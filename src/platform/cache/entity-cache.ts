// The cache of a process: entities, values derived from them, and computed values. docs/contributors/caching.md explains the rules.
import type { LoggedChanges } from './change-log.ts'
import type { Changes, Counts } from './changes.ts'
import { DerivedCache, type DerivedDefinition } from './derived-cache.ts'
import { type CachePart, type CacheStats, createEntryLru, type KindDefinition } from './entries.ts'
import { KindCache, type KindReads } from './kind-cache.ts'
import { type RememberDefinition, Remembered } from './remembered.ts'

/** The cache does not query the database and does not serialise values: the definitions determine what a value is. */
export interface EntityCache {
  /** Returns the cache of one kind of entity. @throws Error if another definition has the same name. */
  kind<V>(definition: KindDefinition<V>): KindReads<V>
  /** Returns the cache of values that depend on several entities. @throws Error if another definition has the same name. */
  derived<V>(definition: DerivedDefinition<V>): DerivedCache<V>
  /** Returns the cache of computed values. @throws Error if another definition has the same name. */
  remember<V>(definition: RememberDefinition<V>): Remembered<V>
  /** Removes what changed. */
  invalidate(changes: Changes): void
  /**
   * Removes what is about to change and prevents caching of it until the returned function is called. A transaction
   * calls this before its commit, so that no read returns a value that the commit replaced.
   */
  hold(changes: Changes): () => void
  /** Puts new download counts into cached values. */
  recount(counts: Counts): void
  /** Announces a committed transaction to the other processes. */
  announce(logged: LoggedChanges): void
  /** Removes everything. */
  clear(): void
  /** Begins to cache entities and derived values. The listener calls this when it receives announcements. */
  enable(): void
  /** Removes entities and derived values, and calls their loader for every read. Initial state. */
  disable(): void
  stats(): EntityCacheStats
}

/** A snapshot for the metrics. The counts only increase. */
export interface EntityCacheStats {
  enabled: boolean
  bytes: number
  maxBytes: number
  kinds: Record<string, CacheStats>
}

type CacheOptions = {
  /** Limit of all caches together, including overhead. */
  maxBytes: number
  now?: () => number
  /** Default: the other processes find the transaction in the change log. */
  announce?: (logged: LoggedChanges) => void
}

export function createEntityCache(options: CacheOptions): EntityCache {
  const { maxBytes, now = Date.now, announce = () => {} } = options
  const lru = createEntryLru(maxBytes)
  const parts = new Map<{ readonly name: string }, CachePart>()
  const holds = new Set<{ changes: Changes; releases: (() => void)[] }>()
  let enabled = false

  const open = <Part extends CachePart>(definition: { readonly name: string }, create: () => Part): Part => {
    const present = parts.get(definition)
    // Each definition creates only one type of part.
    if (present !== undefined) return present as Part
    for (const { name } of parts.keys()) {
      if (name === definition.name) throw new Error(`Two definitions of the cache ${name}`)
    }
    const part = create()
    parts.set(definition, part)
    // A transaction may be committing changes that concern the new part.
    for (const hold of holds) hold.releases.push(part.hold(hold.changes))
    return part
  }
  const forEachPart = (act: (part: CachePart) => void): void => {
    for (const part of parts.values()) act(part)
  }
  const setEnabled = (value: boolean): void => {
    enabled = value
    forEachPart((part) => part.setEnabled(value))
  }

  return {
    kind: (definition) => open(definition, () => new KindCache(definition, { lru, enabled })),
    derived: (definition) => open(definition, () => new DerivedCache(definition, { lru, enabled })),
    remember: (definition) => open(definition, () => new Remembered(definition, { lru, now })),
    invalidate: (changes) => forEachPart((part) => part.invalidate(changes)),
    hold: (changes) => {
      const hold = { changes, releases: [...parts.values()].map((part) => part.hold(changes)) }
      holds.add(hold)
      return () => {
        holds.delete(hold)
        for (const release of hold.releases.splice(0)) release()
      }
    },
    recount: (counts) => forEachPart((part) => part.recount(counts)),
    announce,
    clear: () => forEachPart((part) => part.clear()),
    enable: () => setEnabled(true),
    disable: () => setEnabled(false),
    stats: () => ({
      enabled,
      bytes: lru.calculatedSize,
      maxBytes,
      kinds: Object.fromEntries([...parts].map(([{ name }, part]) => [name, part.stats()])),
    }),
  }
}
