import { type Bits, hasBit, setBit } from './bits.ts'
import { withLength } from './memory.ts'

export type Compare = (a: number, b: number) => number

/** A sorted list of slots. The comparison must be total, and the keys of a slot must not change while it is in the list. */
export class SortedSlots {
  items: Uint32Array<ArrayBuffer>
  length: number

  constructor(saved?: Uint32Array<ArrayBuffer>) {
    this.items = saved ?? new Uint32Array(64)
    this.length = saved?.length ?? 0
  }

  /** Merges from the end, so that one call moves each item at most once. */
  insert(slots: readonly number[], compare: Compare): void {
    if (slots.length === 0) return
    const sorted = [...slots].sort(compare)
    this.items = withLength(this.items, this.length + sorted.length)
    let end = this.length
    for (let k = sorted.length; k > 0; k -= 1) {
      const slot = sorted[k - 1] ?? 0
      const position = this.firstWhere((other) => compare(other, slot) > 0, end)
      this.items.copyWithin(position + k, position, end)
      this.items[position + k - 1] = slot
      end = position
    }
    this.length += sorted.length
  }

  remove(slot: number, compare: Compare): void {
    const position = this.firstWhere((other) => compare(other, slot) >= 0)
    if (position >= this.length || this.items[position] !== slot) return
    this.items.copyWithin(position, position + 1, this.length)
    this.length -= 1
  }

  /** Removes the slots, which must be below `size`, in one pass. */
  removeAll(slots: ReadonlySet<number>, size: number): void {
    if (slots.size === 0) return
    const removed: Bits = new Uint32Array((size + 31) >>> 5)
    for (const slot of slots) setBit(removed, slot)
    let count = 0
    for (let i = 0; i < this.length; i += 1) {
      const slot = this.items[i] ?? 0
      if (hasBit(removed, slot)) continue
      this.items[count] = slot
      count += 1
    }
    this.length = count
  }

  /** Returns the first position at which `test` holds; it must then hold for all later ones. Searches `start` to `end`. */
  firstWhere(test: (slot: number) => boolean, end = this.length, start = 0): number {
    let low = start
    let high = end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (test(this.items[middle] ?? 0)) high = middle
      else low = middle + 1
    }
    return low
  }

  save(): Uint32Array<ArrayBuffer> {
    return this.items.subarray(0, this.length)
  }
}
