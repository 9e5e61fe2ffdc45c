// A copy of the index without the dead slots, made in small steps. Meanwhile the original answers and takes changes; the
// copy gets these afterwards, and then takes its place.
import type { SearchChange } from '#ports/search-index/search-index.ts'
import type { FilterMemory } from '../query/filter-cache.ts'
import { numberLiving } from '../storage/new-slots.ts'
import { Orders } from './orders.ts'
import { applyChange, finishChanges, type Parts } from './parts.ts'

/** Changes made up for in one step. */
const STEP_CHANGES = 4

/** The index with the filters it remembers. */
export type Copy = { readonly parts: Parts; readonly memory: FilterMemory }

export class Compaction {
  readonly #copying: Generator<void, Copy>
  #copy: Copy | undefined
  /** What the original got since the copy began. */
  #missed: SearchChange[] = []

  constructor(original: Copy) {
    this.#copying = copyLiving(original)
    // What changes in place is taken now, all of it at one moment.
    this.#copying.next()
  }

  /** Every change that the original has taken. With a long backlog it also makes it shorter, so that there is an end to it. */
  record(changes: readonly SearchChange[]): void {
    this.#missed.push(...changes)
    if (this.#copy !== undefined && this.#missed.length > STEP_CHANGES)
      this.#catchUp(this.#copy.parts, changes.length * 2)
  }

  /** A millisecond of work at most, but for the first; gives the finished copy at the end. */
  step(): Copy | undefined {
    if (this.#copy !== undefined) {
      this.#catchUp(this.#copy.parts, STEP_CHANGES)
      if (this.#missed.length > 0) return undefined
      this.#copy.parts.hits.takeOver()
      return this.#copy
    }
    const { done, value } = this.#copying.next()
    if (done === true) this.#copy = value
    return undefined
  }

  #catchUp(copy: Parts, most: number): void {
    const changes = this.#missed.splice(0, most)
    copy.orders.beginBatch(changes.length)
    for (const change of changes) applyChange(copy, change)
    finishChanges(copy)
  }
}

function* copyLiving({ parts, memory }: Copy): Generator<void, Copy> {
  const { docCount, versionCount, docOfVersion } = parts.docs
  const live = parts.docs.live.slice()
  const slots = { docs: new Uint32Array(docCount), versions: new Uint32Array(versionCount) }
  const takingDocs = parts.docs.remapped(slots)
  const takingText = parts.text.remapped(slots.docs)
  const takingOrders = parts.orders.remapped(slots.docs)
  for (const taking of [takingDocs, takingText, takingOrders]) taking.next()
  yield
  yield* numberLiving(slots, live, docOfVersion)
  const docs = yield* takingDocs
  const text = yield* takingText
  const facets = yield* parts.facets.remapped(slots)
  const hits = yield* parts.hits.remapped(slots)
  const orders = new Orders(docs, yield* takingOrders)
  return { parts: { docs, text, facets, hits, orders }, memory: yield* memory.remapped(slots.docs) }
}
