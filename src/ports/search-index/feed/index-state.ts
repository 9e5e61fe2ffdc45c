// The states of the search index of a process:
//
//   closed ──────────▶ watching ◀── lease lost ── (any of the three states that feed the index)
//      │                  │ lease acquired
//      ▼                  ▼
//      outdated ──▶ rebuilding ──▶ ready ──▶ outdated (rebuild requested, or another database, taxonomy or index)
//          ▲            │ failed: with the error and the time of the next attempt
//          └────────────┘
import type { SearchIndex, SearchIndexStatus } from '#ports/search-index/search-index.ts'
import type { FeedSource } from './follow-changes.ts'
import type { IndexLease, IndexLeases, SavedState } from './index-lease.ts'
import { documentBasis } from './search-document.ts'

export type IndexOptions = {
  /** File in which an in-memory index is saved. */
  snapshotFile?: string
  onError: (problem: { message: string; cause?: unknown }) => void
  onRestart: (status: SearchIndexStatus) => void
}

export type FollowedIndexOptions = FeedSource & {
  leases: IndexLeases
  openIndex: (options: IndexOptions) => Promise<SearchIndex>
  /** Interval at which a changed index is saved. It is also saved after a rebuild and on close. Default: 1 hour. */
  saveEveryMs?: number
  /** Delay before a failed rebuild is repeated. Default: 5 s. */
  rebuildRetryMs?: number
  /** Interval at which the lease and the identity of an external index are checked. Default: 2 s. */
  checkEveryMs?: number
}

/**
 * Progress of the process that has the lease. `revert` and `startOver` replace this object. What is still in progress
 * then updates the old object, without effect.
 */
export type Feeding = {
  readonly lease: IndexLease
  /** The database that the index follows; empty until a first rebuild has begun. */
  database: string
  /** The index is current up to this snapshot; undefined until a first rebuild has begun. */
  cursor: string | undefined
  /** As last reported by the index. */
  identity: string
  /** Basis of the documents in the index. */
  basis: string
  /** The catalogue in the index; an outdated one is still searched. */
  catalogue: 'none' | 'outdated' | 'current'
  /** Numbers of the newest request to rebuild and of the newest request that the index fulfils. */
  requested: number
  rebuilt: number
  /** State of the index on disk. */
  saved: SavedState | undefined
  savedAt: number
  hasUnsaved: boolean
}

export type Feeder = { index: SearchIndex; feeding: Feeding }
type Outdated = Feeder & { name: 'outdated'; rebuildAt: number; error?: Error }
type Rebuilding = Feeder & { name: 'rebuilding'; done: Promise<void>; error?: Error }
type Ready = Feeder & { name: 'ready' }
/** Another process feeds the index. `isCurrent`: it has applied everything that was committed before the last check. */
export type Watching = { name: 'watching'; index: SearchIndex; isSearchable: boolean; isCurrent: boolean }

export type FollowedIndex = {
  readonly options: FollowedIndexOptions
  readonly basis: string
  /** Aborted when the feed stops. */
  readonly signal: AbortSignal
  /** Called after a change of state that the caller did not await. */
  readonly onChange: () => void
  state: { name: 'closed' } | Watching | Outdated | Rebuilding | Ready
  checkedAt: number
  /** Documents that the last rebuild has received so far. */
  built: number
  /** Time of the last change of the index by this process, as `performance.now()`; undefined before the first one. */
  changedAt: number | undefined
}

export function createFollowedIndex(
  options: FollowedIndexOptions,
  { signal, onChange }: Pick<FollowedIndex, 'signal' | 'onChange'>,
): FollowedIndex {
  return {
    options,
    // Operators can edit the taxonomy at any time.
    get basis() {
      return documentBasis(options.taxonomy)
    },
    signal,
    onChange,
    state: { name: 'closed' },
    checkedAt: 0,
    built: 0,
    changedAt: undefined,
  }
}

/** Returns the index if it contains a whole catalogue of this database. */
export function searchableIndex({ state }: FollowedIndex): SearchIndex | undefined {
  if (state.name === 'closed') return undefined
  const isSearchable = state.name === 'watching' ? state.isSearchable : state.feeding.catalogue !== 'none'
  return isSearchable ? state.index : undefined
}

/** Whether the index contains everything that was committed before the last turn, and no rebuild is due. */
export function isCurrent({ state }: FollowedIndex): boolean {
  return state.name === 'watching' ? state.isCurrent : state.name === 'ready'
}

/** Returns the error of the last rebuild if it failed and no later one succeeded. */
export function rebuildError({ state }: FollowedIndex): Error | undefined {
  return state.name === 'outdated' || state.name === 'rebuilding' ? state.error : undefined
}

export function feedingOf({ state }: FollowedIndex): Feeding | undefined {
  return 'feeding' in state ? state.feeding : undefined
}

/** Returns the state of a feeder that is not rebuilding. */
export function settle({ index, feeding }: Feeder): Outdated | Ready {
  const isOutdated = feeding.catalogue !== 'current' || feeding.requested > feeding.rebuilt
  return isOutdated ? { name: 'outdated', index, feeding, rebuildAt: 0 } : { name: 'ready', index, feeding }
}
