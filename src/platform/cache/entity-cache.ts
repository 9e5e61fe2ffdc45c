import type { LoggedChanges } from './change-log.ts'
import type { ChangedIds, Changes, Counts } from './changes.ts'
import { DerivedCache, type DerivedDefinition } from './derived-cache.ts'
import { createEntryLru, type KindDefinition } from './entries.ts'
import { KindCache, type KindStats } from './kind-cache.ts'

/** What features call of the entries of one kind. */
export type KindReads<V> = Pick<
  KindCache<V>,
  'peek' | 'peekNamed' | 'get' | 'getNamed' | 'getMany' | 'getManyNamed' | 'derive' | 'grow' | 'stats'
>

/** The one cache of a process. It neither queries nor serialises: kinds say what their values are. */
export interface EntityCache {
  /** The entries of one kind. The same definition gives the same entries; a second definition of a name throws. */
  kind<V>(definition: KindDefinition<V>): KindReads<V>
  /** Answers made of many things. The same definition gives the same ones. */
  derived<V>(definition: DerivedDefinition<V>): DerivedCache<V>
  /** Drops what changed. Kinds that nobody caches are ignored. */
  invalidate(changes: Changes): void
  /**
   * Drops what is about to change and keeps it out until the returned function is called. Held around a commit, it
   * leaves no instant at which this process answers with what the commit has replaced.
   */
  hold(changes: Changes): () => void
  /** Puts new numbers of downloads into what is kept. */
  recount(counts: Counts): void
  /** Says what this process has committed to whoever tells the other processes. */
  announce(logged: LoggedChanges): void
  /**
   * Resolves when no other process of the same server answers with what these changes and counts have replaced. Called
   * once they are committed, before anybody hears of it; without such processes there is nothing to wait for. Never
   * rejects.
   */
  invalidatePeers(changes: Changes, counts: Counts): Promise<void> | undefined
  /** Empties it. */
  clear(): void
  /** Starts keeping values, from empty. Called by the listener once it hears of changes. */
  enable(): void
  /** Empties it and serves every read from its loader: the state at the start, and while nobody hears of changes. */
  disable(): void
  stats(): CacheStats
}

/** A snapshot for the metrics; the counts only ever grow. */
export interface CacheStats {
  enabled: boolean
  bytes: number
  maxBytes: number
  kinds: Record<string, KindStats>
}

type CacheOptions = {
  /** Bounds all kinds together, values and bookkeeping. One value may take a sixteenth of it. */
  maxBytes: number
  /** Without it, other processes find what this one commits in the log of changes. */
  announce?: (logged: LoggedChanges) => void
  /** Tells the other processes of this server of changes, and resolves when they have dropped them. */
  invalidatePeers?: ((changes: Changes, counts: Counts) => Promise<void>) | undefined
}

export function createEntityCache({ maxBytes, announce = () => {}, invalidatePeers }: CacheOptions): EntityCache {
  const lru = createEntryLru(maxBytes)
  const kinds = new Map<string, KindCache<unknown>>()
  const composed = new Map<DerivedDefinition<unknown>, DerivedCache<unknown>>()
  const holds = new Set<{ changes: Changes; releases: (() => void)[] }>()
  let enabled = false

  const touch = (changes: Changes, act: (kind: KindCache<unknown>, ids: ChangedIds) => void): void => {
    for (const kind of kinds.values()) {
      const ids = changes.get(changesOf(kind.definition))
      if (ids !== undefined) act(kind, ids)
    }
  }
  const setEnabled = (value: boolean): void => {
    enabled = value
    for (const kind of kinds.values()) kind.setEnabled(value)
    for (const compositions of composed.values()) compositions.setEnabled(value)
  }

  return {
    kind: <V>(definition: KindDefinition<V>) => {
      const known = kinds.get(definition.name)
      // The identity of the definition, checked below, stands for its value type.
      if (known !== undefined && (known.definition as unknown) === definition) return known as unknown as KindCache<V>
      if (known !== undefined) throw new Error(`Two definitions of the cached kind ${definition.name}`)
      const made = new KindCache(definition, { lru, enabled })
      kinds.set(definition.name, made as unknown as KindCache<unknown>)
      // A commit may be under way that knew nothing of this kind's cache.
      for (const hold of holds) hold.releases.push(made.hold(hold.changes.get(changesOf(definition)) ?? new Set()))
      return made
    },
    derived: <V>(definition: DerivedDefinition<V>) => {
      const known = composed.get(definition as DerivedDefinition<unknown>)
      // The identity of the definition stands for its value type here too.
      if (known !== undefined) return known as unknown as DerivedCache<V>
      const made = new DerivedCache(definition, { lru, enabled })
      composed.set(definition as DerivedDefinition<unknown>, made as unknown as DerivedCache<unknown>)
      for (const hold of holds) hold.releases.push(made.hold(hold.changes))
      return made
    },
    invalidate: (changes) => {
      touch(changes, (kind, ids) => kind.invalidate(ids))
      for (const compositions of composed.values()) compositions.invalidate(changes)
    },
    hold: (changes) => {
      const hold: { changes: Changes; releases: (() => void)[] } = { changes, releases: [] }
      touch(changes, (kind, ids) => hold.releases.push(kind.hold(ids)))
      for (const compositions of composed.values()) hold.releases.push(compositions.hold(changes))
      holds.add(hold)
      return () => {
        holds.delete(hold)
        for (const release of hold.releases.splice(0)) release()
      }
    },
    recount: (counts) => {
      for (const kind of kinds.values()) {
        const counted = counts.get(changesOf(kind.definition))
        if (counted !== undefined) kind.recount(counted)
      }
      for (const compositions of composed.values()) compositions.recount(counts)
    },
    announce,
    invalidatePeers: (changes, counts) =>
      changes.size === 0 && counts.size === 0 ? undefined : invalidatePeers?.(changes, counts),
    clear: () => {
      for (const kind of kinds.values()) kind.invalidate('all')
      for (const compositions of composed.values()) compositions.clear()
    },
    enable: () => setEnabled(true),
    disable: () => setEnabled(false),
    stats: () => ({
      enabled,
      bytes: lru.calculatedSize,
      maxBytes,
      kinds: Object.fromEntries([
        ...[...kinds].map(([name, kind]) => [name, kind.stats()]),
        ...[...composed].map(([{ name }, compositions]) => [name, compositions.stats()]),
      ]),
    }),
  }
}

/** Under which name changes of these values are announced. */
function changesOf({ name, follows = name }: { name: string; follows?: string }): string {
  return follows
}
