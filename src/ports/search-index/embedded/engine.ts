// The index: applies changes and runs searches, in one thread and without I/O.
import type { CountQuery, SearchQuery } from '../search-index.ts'
import { Compaction } from './parts/compaction.ts'
import type { ByteWriter } from './parts/hit-store.ts'
import { applyChange, finishChanges, makeParts, type Parts, saveParts } from './parts/parts.ts'
import type { PreparedChange } from './prepare.ts'
import { countWithin, narrow } from './query/evaluate.ts'
import { FilterCache } from './query/filter-cache.ts'
import { takePage } from './query/page.ts'
import { firstMatch, makePlan } from './query/plan.ts'
import { BitsPool } from './storage/bits.ts'
import { type DocSet, mergeSets } from './storage/doc-set.ts'

export type EngineLimits = {
  /** Compaction begins when this many slots are dead, and a quarter as many as are live. */
  readonly minDeadSlots: number
  /** Number of filters whose documents are cached. */
  readonly cachedFilters: number
}
const LIMITS: EngineLimits = { minDeadSlots: 10_000, cachedFilters: 128 }

/** Number of documents that `add` collects before it sorts them: some milliseconds of work. */
const MAX_PENDING = 1000

export type SavedEngine = ReturnType<Engine['save']>

export class Engine {
  /** The highest sequence applied. */
  sequence: number
  #parts: Parts
  #compaction: Compaction | undefined
  #cache: FilterCache
  readonly #limits: EngineLimits
  readonly #pools = { docs: new BitsPool(), versions: new BitsPool() }

  constructor(saved?: SavedEngine, limits: Partial<EngineLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
    this.#cache = new FilterCache(this.#limits.cachedFilters)
    this.sequence = saved?.sequence ?? 0
    this.#parts = makeParts(saved)
  }

  get size(): number {
    return this.#parts.docs.liveCount
  }

  /** Number of document slots, including dead ones. */
  get slots(): number {
    return this.#parts.docs.docCount
  }

  /**
   * Applies changes in order and ignores those that are not newer than the project's last one. If a change is rejected,
   * the changes before it stay applied.
   */
  apply(changes: readonly PreparedChange[]): void {
    try {
      this.#applyEach(changes)
    } finally {
      finishChanges(this.#parts)
    }
  }

  /** As `apply`, for an index that is being built. Searches find the documents after `finish`. */
  add(changes: readonly PreparedChange[]): void {
    this.#applyEach(changes)
    if (this.#parts.orders.pending >= MAX_PENDING) this.finish()
  }

  finish(): void {
    finishChanges(this.#parts)
  }

  /** Writes the response body and returns the number of hits. `key` identifies the filter in the cache. */
  search(query: SearchQuery, out: ByteWriter, key = JSON.stringify(query.filter)): number {
    const sources = this.#parts
    const { hits, orders } = sources
    const classes = this.#match(query.text)
    const sets = query.sort === 'relevance' ? classes : [mergeSets(classes, this.#pools.docs)]
    const plan = makePlan(query.filter, sources)
    const narrowed = narrow(sets, { plan, key, cache: this.#cache }, sources, this.#pools)
    const page = takePage(narrowed, orders.get(query.sort), query)
    out.text('{"hits":[')
    for (const [i, doc] of page.docs.entries()) {
      if (i > 0) out.text(',')
      hits.write(out, doc, plan.isProject ? undefined : firstMatch(plan, sources, doc))
    }
    const number = Math.floor(query.offset / query.limit) + 1
    out.text(`],"page":${number},"hits_per_page":${query.limit},"total_hits":${page.total}}`)
    return page.total
  }

  /** Returns the number of hits of each filter. Does not cache the filters, because most of them are used once. */
  count({ text, filters }: CountQuery): number[] {
    const sources = this.#parts
    const matches = mergeSets(this.#match(text), this.#pools.docs)
    return filters.map((filter) => countWithin(matches, makePlan(filter, sources), sources, this.#pools))
  }

  /**
   * Removes dead slots and unused space, about a millisecond of work per call. Returns whether more is to do. Does not
   * affect the results of searches. Must not be called while the arrays of `save` are in use.
   */
  tidy(): boolean {
    if (this.#compaction === undefined) {
      if (!this.#isCompactionDue()) return this.#parts.hits.tidy()
      this.#compaction = new Compaction({ parts: this.#parts, cache: this.#cache })
      return true
    }
    const copy = this.#compaction.step()
    if (copy !== undefined) {
      this.#parts = copy.parts
      this.#cache = copy.cache
      this.#compaction = undefined
    }
    return true
  }

  /** Returns the state without copying its arrays. The caller must write them before the next change. */
  save() {
    return { sequence: this.sequence, ...saveParts(this.#parts) }
  }

  /** Begins a query: returns the documents that match the text, by class of relevance. */
  #match(text: string): DocSet[] {
    const { docs, text: index } = this.#parts
    this.#pools.docs.reset(docs.docCount)
    this.#pools.versions.reset(docs.versionCount)
    return index.search(text, docs.live, this.#pools.docs) ?? [{ kind: 'all', count: docs.liveCount }]
  }

  #applyEach(changes: readonly PreparedChange[]): void {
    this.#parts.orders.beginBatch(changes.length)
    let applied = 0
    try {
      for (const change of changes) {
        applyChange(this.#parts, change)
        this.sequence = Math.max(this.sequence, change.sequence)
        applied += 1
      }
    } finally {
      this.#compaction?.record(changes.slice(0, applied))
    }
  }

  #isCompactionDue(): boolean {
    const { docCount, liveCount } = this.#parts.docs
    const dead = docCount - liveCount
    return dead >= this.#limits.minDeadSlots && dead * 4 >= liveCount
  }
}
