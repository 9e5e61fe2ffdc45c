// The documents of recent filters: most searches share a few filters. What is remembered outlives changes, because a
// changed document has a new slot, and only the slots that came since have to be asked.
import { type Bits, setBit } from './bits.ts'
import { withLength } from './memory.ts'
import { asksCounts, newestHolding, type Plan, type Sources } from './plan.ts'

/** With more new slots than this, the filter is evaluated afresh. */
const MAX_NEW_SLOTS = 4096

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
    const [oldest] = this.#sets.keys()
    if (this.#sets.size >= this.#max && oldest !== undefined) this.#sets.delete(oldest)
    if (this.#max > 0) this.#sets.set(key, { bits: bits.slice(), docCount, countsRevision })
  }

  clear(): void {
    this.#sets.clear()
  }
}
