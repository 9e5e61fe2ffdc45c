// Caches recent filters, because most searches share a few filters. The cached documents of a filter stay valid after
// changes: a changed document gets a new slot, so only the slots that were added since must be evaluated.
import type { Filter } from '../../filter/tree.ts'
import { type Bits, hasBit, setBit } from '../storage/bits.ts'
import { withLength } from '../storage/memory.ts'
import { DROPPED, inSteps } from '../storage/new-slots.ts'
import { firstMatch, type Plan, type Sources, usesCounts } from './plan.ts'

/** If more slots were added, the filter is evaluated again for all slots. */
const MAX_NEW_SLOTS = 4096

/** Longer filters are not cached, because hundreds of them would fill the memory. */
const MAX_KEY_LENGTH = 4096

const MAX_PARSED = 1024

type Entry = { bits: Bits; docCount: number; readonly countsRevision: number }

export class FilterCache {
  readonly #entries = new Map<string, Entry>()
  readonly #max: number

  /** Caches up to `max` filters, with a bit per document each. */
  constructor(max: number) {
    this.#max = max
  }

  /** Returns the documents of a filter, possibly including dead ones. `plan` is the current plan of the filter. */
  find(key: string, plan: Plan, sources: Sources): Bits | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { docCount, countsRevision } = sources.docs
    const isStale = entry.countsRevision !== countsRevision && usesCounts(plan, sources)
    this.#entries.delete(key)
    if (isStale || docCount - entry.docCount > MAX_NEW_SLOTS) return undefined
    // Moves the entry to the end: the first entry is the least recently used.
    this.#entries.set(key, entry)
    entry.bits = withLength(entry.bits, (docCount + 31) >>> 5)
    for (let doc = entry.docCount; doc < docCount; doc += 1) {
      if (firstMatch(plan, sources, doc) !== undefined) setBit(entry.bits, doc)
    }
    entry.docCount = docCount
    return entry.bits
  }

  /** Stores a copy of `bits`. */
  put(key: string, bits: Bits, { docs: { docCount, countsRevision } }: Sources): void {
    if (key.length > MAX_KEY_LENGTH) return
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= this.#max && oldest !== undefined) this.#entries.delete(oldest)
    if (this.#max > 0) this.#entries.set(key, { bits: bits.slice(), docCount, countsRevision })
  }

  /** Copies the cache for a copy of the index with new slots. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, FilterCache> {
    const copy = new FilterCache(this.#max)
    for (const [key, { bits, docCount }] of [...this.#entries]) {
      const to = new Uint32Array(bits.length)
      let count = 0
      yield* inSteps(Math.min(docCount, newDocs.length), (doc) => {
        if (newDocs[doc] === DROPPED) return
        if (hasBit(bits, doc)) setBit(to, count)
        count += 1
      })
      // Counts can have changed during the copy; -1 matches no revision.
      copy.#entries.set(key, { bits: to, docCount: count, countsRevision: -1 })
    }
    return copy
  }
}

/** Caches parsed filters by their JSON. */
export class ParsedFilters {
  readonly #filters = new Map<string, Filter>()

  get size(): number {
    return this.#filters.size
  }

  read(json: string): Filter {
    const cached = this.#filters.get(json)
    if (cached !== undefined) return cached
    const filter: Filter = JSON.parse(json)
    if (json.length > MAX_KEY_LENGTH) return filter
    if (this.#filters.size >= MAX_PARSED) this.#filters.clear()
    this.#filters.set(json, filter)
    return filter
  }
}
