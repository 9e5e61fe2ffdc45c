// Selects the page of hits from sets of documents and an order of all documents.
import { type Bits, hasBit, listBits } from '../storage/bits.ts'
import type { DocSet } from '../storage/doc-set.ts'
import type { Compare, SortedSlots } from '../storage/sorted-slots.ts'

/** Cost of one comparison in a sort, in steps along an order. */
const COMPARISON_STEPS = 8

export type PageRange = { readonly offset: number; readonly limit: number }
type Order = { readonly slots: SortedSlots; readonly compare: Compare }

/** Takes the page from the sets, one after another, each sorted. The sets must be disjoint and part of the order. */
export function takePage(sets: readonly DocSet[], order: Order, range: PageRange): { docs: number[]; total: number } {
  const docs: number[] = []
  let total = 0
  for (const set of sets) {
    const offset = Math.max(0, range.offset - total)
    const limit = range.limit - docs.length
    total += set.count
    if (limit > 0 && offset < set.count) docs.push(...takeFrom(set, order, { offset, limit }))
  }
  return { docs, total }
}

function takeFrom(set: DocSet, { slots, compare }: Order, { offset, limit }: PageRange): readonly number[] {
  const { items, length } = slots
  switch (set.kind) {
    // An order contains exactly the live documents.
    case 'all':
      return Array.from(items.subarray(offset, Math.min(offset + limit, length)))
    case 'few':
      return set.docs.toSorted(compare).slice(offset, offset + limit)
    case 'many': {
      const { bits, count } = set
      const steps = (Math.min(count, offset + limit) / count) * length
      const isWalkShorter = steps < count * Math.log2(count + 1) * COMPARISON_STEPS + bits.length
      if (isWalkShorter) return walk(bits, slots, { offset, limit })
      return listBits(bits, count)
        .sort(compare)
        .slice(offset, offset + limit)
    }
  }
}

function walk(set: Bits, { items, length }: SortedSlots, { offset, limit }: PageRange): number[] {
  const docs: number[] = []
  let skip = offset
  for (let i = 0; i < length; i += 1) {
    const doc = items[i] ?? 0
    if (!hasBit(set, doc)) continue
    if (skip > 0) skip -= 1
    else if (docs.push(doc) === limit) break
  }
  return docs
}
