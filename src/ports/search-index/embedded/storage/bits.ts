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

/** Adds what two sets share. */
export function uniteShared(target: Bits, a: Bits, b: Bits): void {
  const shared = Math.min(target.length, a.length, b.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) | ((a[w] ?? 0) & (b[w] ?? 0))
}

/** Makes `target` what `a` and `b` share, and counts it. Either may be `target` itself. */
export function share(target: Bits, a: Bits, b: Bits): number {
  const shared = Math.min(target.length, a.length, b.length)
  let count = 0
  for (let w = 0; w < shared; w += 1) {
    const x = (a[w] ?? 0) & (b[w] ?? 0)
    target[w] = x
    if (x !== 0) count += countWord(x)
  }
  target.fill(0, shared)
  return count
}

/** Leaves in `target` what is in `live` and not yet in `seen`, adds it to `seen` and counts it: one pass for all. */
export function claimBits(target: Bits, live: Bits, seen: Bits): number {
  const shared = Math.min(target.length, live.length, seen.length)
  let count = 0
  for (let w = 0; w < shared; w += 1) {
    const before = target[w] ?? 0
    if (before === 0) continue
    const x = before & (live[w] ?? 0) & ~(seen[w] ?? 0)
    target[w] = x
    seen[w] = (seen[w] ?? 0) | x
    count += countWord(x)
  }
  target.fill(0, shared)
  return count
}

export function countBits(bits: Bits): number {
  let count = 0
  for (let w = 0; w < bits.length; w += 1) {
    const x = bits[w] ?? 0
    if (x !== 0) count += countWord(x)
  }
  return count
}

function countWord(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555)
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The members in ascending order; `limit` bounds the work. */
export function listBits(bits: Bits, limit: number): number[] {
  const members: number[] = []
  for (let w = 0; w < bits.length && members.length < limit; w += 1) {
    for (let x = bits[w] ?? 0; x !== 0; x &= x - 1) members.push(w * 32 + 31 - Math.clz32(x & -x))
  }
  return members
}

/** Must be a power of two. */
const STEP_WORDS = 256

/** Sets of one length that a query borrows and gives back all at once, so that queries make no garbage. */
export class BitsPool {
  #sets: Bits[] = []
  #used = 0
  #words = 0

  /** Starts a query over integers below `size`: every set lent before is free again. */
  reset(size: number): void {
    // In steps, so that an index that grows keeps its sets for a while.
    const words = ((size >>> 5) + STEP_WORDS) & -STEP_WORDS
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
    // A deep filter borrows many sets at once; only the first are worth keeping.
    if (this.#sets.length < 32) this.#sets.push(made)
    return made
  }

  /** What `use` borrows is free again afterwards, so that a long filter needs no more sets than a deep one. */
  within<T>(use: () => T): T {
    const used = this.#used
    const result = use()
    this.#used = used
    return result
  }
}
