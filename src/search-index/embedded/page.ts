// The page of hits out of sets of documents and an order over all of them.
import { type Bits, countBits, listBits } from './bits.ts'
import type { Compare, SortedSlots } from './sorted-slots.ts'

/** With at most one document in this many, sorting the few is cheaper than walking the order. */
const FEW = 512

export type PageRange = { readonly offset: number; readonly limit: number }

/** The sets one after another, each in the order; they must be disjoint and hold only documents that are in it. */
export function takePage(
  classes: readonly Bits[],
  order: { readonly slots: SortedSlots; readonly compare: Compare },
  range: PageRange,
): { docs: number[]; total: number } {
  const docs: number[] = []
  let total = 0
  for (const set of classes) {
    const count = countBits(set)
    const offset = Math.max(0, range.offset - total)
    const limit = range.limit - docs.length
    total += count
    if (limit > 0 && offset < count) docs.push(...takeFrom(set, count, order, { offset, limit }))
  }
  return { docs, total }
}

function takeFrom(
  set: Bits,
  count: number,
  { slots, compare }: { readonly slots: SortedSlots; readonly compare: Compare },
  { offset, limit }: PageRange,
): number[] {
  if (count * FEW <= slots.length) {
    return listBits(set, count)
      .sort(compare)
      .slice(offset, offset + limit)
  }
  const taken: number[] = []
  const { items, length } = slots
  let skip = offset
  for (let i = 0; i < length; i += 1) {
    const doc = items[i] ?? 0
    if ((((set[doc >>> 5] ?? 0) >>> (doc & 31)) & 1) === 0) continue
    if (skip > 0) skip -= 1
    else if (taken.push(doc) === limit) break
  }
  return taken
}
