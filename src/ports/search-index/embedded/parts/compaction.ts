// Copies the index without dead slots, in small steps. During the copy the original serves searches and changes. The copy
// then applies these changes and replaces the original.
import type { PreparedChange } from '../prepare.ts'
import type { FilterCache } from '../query/filter-cache.ts'
import { numberLiveSlots } from '../storage/new-slots.ts'
import { Orders } from './orders.ts'
import { applyChange, finishChanges, type Parts } from './parts.ts'

/** Number of missed changes applied per step. */
const STEP_CHANGES = 4

export type Copy = { readonly parts: Parts; readonly cache: FilterCache }

export class Compaction {
  readonly #copying: Generator<void, Copy>
  #copy: Copy | undefined
  /** Changes of the original since the copy began. */
  #missed: PreparedChange[] = []

  constructor(original: Copy) {
    this.#copying = copyLive(original)
    // Copies the data that changes in place now, in one step.
    this.#copying.next()
  }

  /** Records changes of the original. Also applies some missed ones, so that a busy index reaches the end of the copy. */
  record(changes: readonly PreparedChange[]): void {
    this.#missed.push(...changes)
    if (this.#copy !== undefined && this.#missed.length > STEP_CHANGES)
      this.#catchUp(this.#copy.parts, changes.length * 2)
  }

  /** Works for at most a millisecond, except in the first step. Returns the copy when it is finished. */
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

function* copyLive({ parts, cache }: Copy): Generator<void, Copy> {
  const { docCount, versionCount, docOfVersion } = parts.docs
  const live = parts.docs.live.slice()
  const slots = { docs: new Uint32Array(docCount), versions: new Uint32Array(versionCount) }
  const docsCopy = parts.docs.remapped(slots)
  const textCopy = parts.text.remapped(slots.docs)
  const ordersCopy = parts.orders.remapped(slots.docs)
  for (const part of [docsCopy, textCopy, ordersCopy]) part.next()
  yield
  yield* numberLiveSlots(slots, live, docOfVersion)
  const docs = yield* docsCopy
  const text = yield* textCopy
  const facets = yield* parts.facets.remapped(slots)
  const hits = yield* parts.hits.remapped(slots)
  const orders = new Orders(docs, yield* ordersCopy)
  return { parts: { docs, text, facets, hits, orders }, cache: yield* cache.remapped(slots.docs) }
}
