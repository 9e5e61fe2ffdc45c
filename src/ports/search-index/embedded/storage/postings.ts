import { type Bits, hasBit, setBit, unite } from './bits.ts'
import { Arena, withLength } from './memory.ts'
import { DROPPED, inSteps } from './new-slots.ts'

/** A list of at least this length that contains one in 32 of all slots is stored as bits. */
const MIN_DENSE = 4096
/** 2^20 slots of 4 bytes per block: longer than any list that is not dense, for up to 16 million slots. */
const BLOCK_SHIFT = 20

const LAST_CODES = 4096
/** Number of slots copied per step of a compaction. */
const STEP_SLOTS = 8_000

/**
 * The ascending slots of each code. One slot is stored inline, more in a run whose capacity is the next power of two
 * (outgrown runs are reused), and a dense list as bits. Slots can only be appended, in ascending order per code.
 */
export class Postings {
  #starts: Uint32Array<ArrayBuffer>
  #counts: Uint32Array<ArrayBuffer>
  #arena: Arena<Uint32Array<ArrayBuffer>>
  #dense: Map<number, Bits>
  /** Last slot of the first codes, which are the frequent ones. */
  readonly #last = new Float64Array(LAST_CODES).fill(-1)
  /** Addresses of outgrown runs, by the exponent of their capacity. */
  #free: number[][] = Array.from({ length: BLOCK_SHIFT + 1 }, () => [])

  constructor(saved?: ReturnType<Postings['save']>) {
    this.#starts = saved?.starts ?? new Uint32Array(64)
    this.#counts = saved?.counts ?? new Uint32Array(64)
    this.#arena = new Arena((length) => new Uint32Array(length), BLOCK_SHIFT, saved)
    this.#dense = new Map(saved?.dense.map((bits, i) => [saved.denseCodes[i] ?? 0, bits]))
  }

  count(code: number): number {
    return this.#counts[code] ?? 0
  }

  /** Appends a slot; does nothing if it is the last slot already. */
  add(code: number, slot: number): void {
    if (code >= this.#counts.length) {
      this.#counts = withLength(this.#counts, code + 1)
      this.#starts = withLength(this.#starts, code + 1)
    }
    // A document is added once per version.
    if (code < LAST_CODES) {
      if (this.#last[code] === slot) return
      this.#last[code] = slot
    }
    const count = this.#counts[code] ?? 0
    const dense = count >= MIN_DENSE ? this.#dense.get(code) : undefined
    if (dense !== undefined) this.#addDense(code, slot, dense)
    else if (count === 0) {
      this.#starts[code] = slot
      this.#counts[code] = 1
    } else this.#addToRun(code, slot, count)
  }

  has(code: number, slot: number): boolean {
    const count = this.count(code)
    if (count === 0) return false
    if (count === 1) return this.#starts[code] === slot
    const dense = this.#dense.get(code)
    if (dense !== undefined) return hasBit(dense, slot)
    const { items, start } = this.#run(code)
    let low = start
    let high = start + count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((items[middle] ?? 0) < slot) low = middle + 1
      else high = middle
    }
    return low < start + count && items[low] === slot
  }

  uniteInto(code: number, target: Bits): void {
    const count = this.count(code)
    if (count === 0) return
    if (count === 1) {
      setBit(target, this.#starts[code] ?? 0)
      return
    }
    const dense = count >= MIN_DENSE ? this.#dense.get(code) : undefined
    if (dense !== undefined) {
      unite(target, dense)
      return
    }
    const { items, start } = this.#run(code)
    for (let i = start; i < start + count; i += 1) setBit(target, items[i] ?? 0)
  }

  forEach(code: number, visit: (slot: number) => void): void {
    const count = this.count(code)
    if (count === 1) visit(this.#starts[code] ?? 0)
    if (count <= 1) return
    const dense = this.#dense.get(code)
    if (dense === undefined) {
      const { items, start } = this.#run(code)
      for (let i = start; i < start + count; i += 1) visit(items[i] ?? 0)
      return
    }
    for (let w = 0; w < dense.length; w += 1) {
      for (let x = dense[w] ?? 0; x !== 0; x &= x - 1) visit(w * 32 + 31 - Math.clz32(x & -x))
    }
  }

  /**
   * Copies the postings with new slot numbers, which ascend as the old ones do. Omits `DROPPED` slots and those beyond
   * `newSlots`, which can be added during the copy. Yields between steps.
   */
  *remapped(newSlots: Uint32Array<ArrayBuffer>): Generator<void, Postings> {
    const copy = new Postings()
    let work = 0
    for (let code = 0; code < this.#counts.length; code += 1) {
      const add = (slot: number) => {
        const to = newSlots[slot] ?? DROPPED
        if (to !== DROPPED) copy.add(code, to)
      }
      const dense = this.#dense.get(code)
      if (dense === undefined) {
        this.forEach(code, add)
        work += 1 + this.count(code)
      } else yield* inSteps(dense.length * 32, (slot) => hasBit(dense, slot) && add(slot))
      if (work < STEP_SLOTS) continue
      work = 0
      yield
    }
    return copy
  }

  save() {
    return {
      starts: this.#starts,
      counts: this.#counts,
      blocks: this.#arena.blocks,
      end: this.#arena.end,
      denseCodes: Uint32Array.from(this.#dense.keys()),
      dense: [...this.#dense.values()],
    }
  }

  #run(code: number): { items: Uint32Array<ArrayBuffer>; start: number } {
    const address = this.#starts[code] ?? 0
    return { items: this.#arena.block(address), start: this.#arena.offset(address) }
  }

  #addDense(code: number, slot: number, dense: Bits): void {
    if (hasBit(dense, slot)) return
    const grown = slot >>> 5 < dense.length ? dense : withLength(dense, (slot >>> 5) + 1)
    if (grown !== dense) this.#dense.set(code, grown)
    setBit(grown, slot)
    this.#counts[code] = this.count(code) + 1
  }

  #addToRun(code: number, slot: number, count: number): void {
    const first = this.#starts[code] ?? 0
    const run = count === 1 ? undefined : this.#run(code)
    if ((run === undefined ? first : run.items[run.start + count - 1]) === slot) return
    // The capacity is the next power of two, so a run is full if its count is a power of two.
    const isFull = (count & (count - 1)) === 0
    if (isFull && isDense(count, slot)) {
      this.#makeDense(code, slot)
      return
    }
    let target = run
    if (isFull) {
      const exponent = 32 - Math.clz32(count)
      const address = this.#free[exponent]?.pop() ?? this.#arena.allocate(2 ** exponent)
      target = { items: this.#arena.block(address), start: this.#arena.offset(address) }
      if (run === undefined) target.items[target.start] = first
      else {
        target.items.set(run.items.subarray(run.start, run.start + count), target.start)
        this.#free[exponent - 1]?.push(first)
      }
      this.#starts[code] = address
    }
    if (target !== undefined) target.items[target.start + count] = slot
    this.#counts[code] = count + 1
  }

  #makeDense(code: number, slot: number): void {
    // With reserve for more slots.
    const bits = new Uint32Array(Math.ceil((slot * 1.25) / 32) + 1)
    this.forEach(code, (member) => setBit(bits, member))
    this.#free[Math.log2(this.count(code))]?.push(this.#starts[code] ?? 0)
    this.#dense.set(code, bits)
    this.#addDense(code, slot, bits)
  }
}

function isDense(count: number, last: number): boolean {
  return count >= MIN_DENSE && count * 32 >= last
}
