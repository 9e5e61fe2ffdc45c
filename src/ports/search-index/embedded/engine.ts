// The index itself, in one thread and without input or output: changes in, answers out.
import type { CountQuery, SearchChange, SearchQuery } from '../search-index.ts'
import { Compaction } from './parts/compaction.ts'
import type { ByteWriter } from './parts/hit-store.ts'
import { applyChange, finishChanges, makeParts, type Parts, type SavedParts, saveParts } from './parts/parts.ts'
import { countWithin, narrow } from './query/evaluate.ts'
import { FilterMemory } from './query/filter-cache.ts'
import { takePage } from './query/page.ts'
import { makePlan, newestHolding } from './query/plan.ts'
import { BitsPool } from './storage/bits.ts'
import { type DocSet, mergeSets } from './storage/doc-set.ts'

export type EngineLimits = {
  /** Compaction waits for this many dead slots, and for them to be a quarter as many as the living. */
  readonly minDeadSlots: number
  /** Filters whose documents are remembered. */
  readonly rememberedFilters: number
}
const LIMITS: EngineLimits = { minDeadSlots: 10_000, rememberedFilters: 128 }

/** While an index is built, what was added is put in order when it is this many: some milliseconds of work. */
const MAX_PENDING = 1000

export type SavedEngine = SavedParts & { sequence: number }

export class Engine {
  /** The highest sequence applied. */
  sequence: number
  #parts: Parts
  #compaction: Compaction | undefined
  #memory: FilterMemory
  readonly #limits: EngineLimits
  readonly #pools = { docs: new BitsPool(), versions: new BitsPool() }

  constructor(saved?: SavedEngine, limits: Partial<EngineLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
    this.#memory = new FilterMemory(this.#limits.rememberedFilters)
    this.sequence = saved?.sequence ?? 0
    this.#parts = makeParts(saved)
  }

  get size(): number {
    return this.#parts.docs.liveCount
  }

  /** Places in the index, those of dead documents included. */
  get slots(): number {
    return this.#parts.docs.docCount
  }

  /**
   * Applies changes in order; those no newer than what their project has change nothing. Those before one that is
   * refused stay applied.
   */
  apply(changes: readonly SearchChange[]): void {
    try {
      this.#applyEach(changes)
    } finally {
      finishChanges(this.#parts)
    }
  }

  /** As `apply`, for an index that is being built: what is added is found after `finish`. */
  add(changes: readonly SearchChange[]): void {
    this.#applyEach(changes)
    if (this.#parts.orders.pending >= MAX_PENDING) this.finish()
  }

  finish(): void {
    finishChanges(this.#parts)
  }

  /** Writes the response body; gives the number of all hits. `key` stands for the filter. */
  search(query: SearchQuery, out: ByteWriter, key = JSON.stringify(query.filter)): number {
    const { docs, facets, text, hits, orders } = this.#parts
    const sources = { docs, facets }
    this.#pools.docs.reset(docs.docCount)
    this.#pools.versions.reset(docs.versionCount)
    const all: DocSet = { kind: 'all', count: docs.liveCount }
    const classes = text.search(query.text, docs.live, this.#pools.docs) ?? [all]
    const sets = query.sort === 'relevance' ? classes : [mergeSets(classes, this.#pools.docs)]
    const plan = makePlan(query.filter, sources)
    const narrowed = narrow(sets, { plan, key, memory: this.#memory }, sources, this.#pools)
    const page = takePage(narrowed, orders.get(query.sort), query)
    out.text('{"hits":[')
    for (const [i, doc] of page.docs.entries()) {
      if (i > 0) out.text(',')
      hits.write(out, doc, plan.isProject ? undefined : newestHolding(plan, sources, doc))
    }
    const number = Math.floor(query.offset / query.limit) + 1
    out.text(`],"page":${number},"hits_per_page":${query.limit},"total_hits":${page.total}}`)
    return page.total
  }

  /** The hits of each filter. Filters are not remembered: most of them are asked once, and there are many. */
  count({ text, filters }: CountQuery): number[] {
    const { docs, facets, text: words } = this.#parts
    const sources = { docs, facets }
    this.#pools.docs.reset(docs.docCount)
    this.#pools.versions.reset(docs.versionCount)
    const classes = words.search(text, docs.live, this.#pools.docs) ?? [{ kind: 'all', count: docs.liveCount }]
    const found = mergeSets(classes, this.#pools.docs)
    return filters.map((filter) => countWithin(found, makePlan(filter, sources), sources, this.#pools))
  }

  /**
   * Gets rid of what changes have left behind, about a millisecond's work at a time; whether there is more to do. What
   * searches find is the same before and after. Not while what `save` gave is still needed.
   */
  tidy(): boolean {
    if (this.#compaction === undefined) {
      if (!this.#isCompactionDue()) return this.#parts.hits.tidy()
      this.#compaction = new Compaction({ parts: this.#parts, memory: this.#memory })
      return true
    }
    const copy = this.#compaction.step()
    if (copy !== undefined) {
      this.#parts = copy.parts
      this.#memory = copy.memory
      this.#compaction = undefined
    }
    return true
  }

  /** The whole state as arrays that are still in use: write them out before the next change. */
  save(): SavedEngine {
    return { sequence: this.sequence, ...saveParts(this.#parts) }
  }

  #applyEach(changes: readonly SearchChange[]): void {
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
