// Sets of small integers as bits. Two sets may differ in length; what lies beyond the shorter one counts as absent.

export type Bits = Uint32Array<ArrayBuffer>

export function hasBit(bits: Bits, i: number): boolean {
  return (((bits[i >>> 5] ?? 0) >>> (i & 31)) & 1) === 1
}

/** `i` must lie within the set's length. */
export function setBit(bits: Bits, i: number): void {
  const word = i >>> 5
  bits[word] = (bits[word] ?? 0) | (1 << (i & 31))
}

export function clearBit(bits: Bits, i: number): void {
  const word = i >>> 5
  if (word < bits.length) bits[word] = (bits[word] ?? 0) & ~(1 << (i & 31))
}

export function intersect(target: Bits, other: Bits): void {
  const shared = Math.min(target.length, other.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) & (other[w] ?? 0)
  target.fill(0, shared)
}

export function subtract(target: Bits, other: Bits): void {
  const shared = Math.min(target.length, other.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) & ~(other[w] ?? 0)
}

/** What `other` holds beyond `target`'s length is dropped. */
export function unite(target: Bits, other: Bits): void {
  const shared = Math.min(target.length, other.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) | (other[w] ?? 0)
}

/** The complement among the integers below `size`. */
export function complement(target: Bits, size: number): void {
  for (let w = 0; w < target.length; w += 1) target[w] = ~(target[w] ?? 0)
  const last = size >>> 5
  if (last < target.length) target[last] = (target[last] ?? 0) & ~(-1 << (size & 31))
  target.fill(0, last + 1)
}

export function countBits(bits: Bits): number {
  let count = 0
  for (let w = 0; w < bits.length; w += 1) {
    let x = bits[w] ?? 0
    if (x === 0) continue
    x -= (x >>> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
    count += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** The members in ascending order; `limit` bounds the work. */
export function listBits(bits: Bits, limit: number): number[] {
  const members: number[] = []
  for (let w = 0; w < bits.length && members.length < limit; w += 1) {
    for (let x = bits[w] ?? 0; x !== 0; x &= x - 1) members.push(w * 32 + 31 - Math.clz32(x & -x))
  }
  return members
}

/** Sets of one length that a query borrows and gives back all at once, so that queries make no garbage. */
export class BitsPool {
  #sets: Bits[] = []
  #used = 0
  #words = 0

  /** Starts a query over integers below `size`: every set lent before is free again. */
  reset(size: number): void {
    const words = (size + 31) >>> 5
    if (words !== this.#words) this.#sets = []
    this.#words = words
    this.#used = 0
  }

  /** An empty set. */
  take(): Bits {
    const set = this.#sets[this.#used]
    this.#used += 1
    if (set !== undefined) return set.fill(0)
    const made = new Uint32Array(this.#words)
    // A long filter borrows many sets; only the first are worth keeping.
    if (this.#sets.length < 32) this.#sets.push(made)
    return made
  }
}
