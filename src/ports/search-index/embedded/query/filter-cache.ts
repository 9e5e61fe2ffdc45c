// The documents of recent filters: most searches share a few filters. What is remembered outlives changes, because a
// changed document has a new slot, and only the slots that came since have to be asked.
import { type Bits, hasBit, setBit } from '../storage/bits.ts'
import { withLength } from '../storage/memory.ts'
import { DROPPED, stretches } from '../storage/new-slots.ts'
import { asksCounts, newestHolding, type Plan, type Sources } from './plan.ts'

/** With more new slots than this, the filter is evaluated afresh. */
const MAX_NEW_SLOTS = 4096

/** Filters with a longer key are not remembered: people send short ones, and long ones by the hundred would fill memory. */
export const MAX_KEY_LENGTH = 4096

type Remembered = { bits: Bits; docCount: number; readonly countsRevision: number }

export class FilterMemory {
  readonly #sets = new Map<string, Remembered>()
  readonly #max: number

  /** Remembers that many filters; a set takes a bit per document. */
  constructor(max: number) {
    this.#max = max
  }

  /** The documents, dead ones perhaps included, of the filter with that key; `plan` is its plan of now. */
  find(key: string, plan: Plan, sources: Sources): Bits | undefined {
    const known = this.#sets.get(key)
    if (known === undefined) return undefined
    const { docCount, countsRevision } = sources.docs
    const isStale = known.countsRevision !== countsRevision && asksCounts(plan, sources)
    this.#sets.delete(key)
    if (isStale || docCount - known.docCount > MAX_NEW_SLOTS) return undefined
    // Last in the map: the first is the one to forget.
    this.#sets.set(key, known)
    known.bits = withLength(known.bits, (docCount + 31) >>> 5)
    for (let doc = known.docCount; doc < docCount; doc += 1) {
      if (newestHolding(plan, sources, doc) !== undefined) setBit(known.bits, doc)
    }
    known.docCount = docCount
    return known.bits
  }

  /** Keeps a copy. */
  put(key: string, bits: Bits, { docs: { docCount, countsRevision } }: Sources): void {
    if (key.length > MAX_KEY_LENGTH) return
    const [oldest] = this.#sets.keys()
    if (this.#sets.size >= this.#max && oldest !== undefined) this.#sets.delete(oldest)
    if (this.#max > 0) this.#sets.set(key, { bits: bits.slice(), docCount, countsRevision })
  }

  /** The same filters over new slots, for a copy of the index. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, FilterMemory> {
    const copy = new FilterMemory(this.#max)
    for (const [key, { bits, docCount }] of [...this.#sets]) {
      const known = Math.min(docCount, newDocs.length)
      const to = new Uint32Array(bits.length)
      let kept = 0
      for (const { start, end } of stretches(known)) {
        for (let doc = start; doc < end; doc += 1) {
          if (newDocs[doc] === DROPPED) continue
          if (hasBit(bits, doc)) setBit(to, kept)
          kept += 1
        }
        yield
      }
      // Counts have changed meanwhile: no revision of the copy's is this one.
      copy.#sets.set(key, { bits: to, docCount: kept, countsRevision: -1 })
    }
    return copy
  }
}
