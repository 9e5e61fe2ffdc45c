// Bit sets of small integers. Sets can differ in length; a shorter set does not contain the integers beyond its end.

export type Bits = Uint32Array<ArrayBuffer>

export function hasBit(bits: Bits, i: number): boolean {
  return (((bits[i >>> 5] ?? 0) >>> (i & 31)) & 1) === 1
}

/** `i` must be within the length of the set. */
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

/** Ignores what is in `other` beyond the length of `target`. Returns `target`. */
export function unite(target: Bits, other: Bits): Bits {
  const shared = Math.min(target.length, other.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) | (other[w] ?? 0)
  return target
}

/** Inverts the set of integers below `size`. Returns `target`. */
export function complement(target: Bits, size: number): Bits {
  for (let w = 0; w < target.length; w += 1) target[w] = ~(target[w] ?? 0)
  const last = size >>> 5
  if (last < target.length) target[last] = (target[last] ?? 0) & ~(-1 << (size & 31))
  return target.fill(0, last + 1)
}

/** Adds the intersection of two sets. */
export function uniteShared(target: Bits, a: Bits, b: Bits): void {
  const shared = Math.min(target.length, a.length, b.length)
  for (let w = 0; w < shared; w += 1) target[w] = (target[w] ?? 0) | ((a[w] ?? 0) & (b[w] ?? 0))
}

/** Sets `target` to the intersection of `a` and `b`, of which one can be `target`. Returns its size. */
export function intersection(target: Bits, a: Bits, b: Bits): number {
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

/** Keeps the integers of `target` that are live and not seen, adds them to `seen` and returns their number. */
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

/** Returns the members in ascending order, about `limit` at most. */
export function listBits(bits: Bits, limit: number): number[] {
  const members: number[] = []
  for (let w = 0; w < bits.length && members.length < limit; w += 1) {
    for (let x = bits[w] ?? 0; x !== 0; x &= x - 1) members.push(w * 32 + 31 - Math.clz32(x & -x))
  }
  return members
}

/** Must be a power of two. */
const STEP_WORDS = 256

/** Bit sets of one length that queries reuse, so that they create no garbage. */
export class BitsPool {
  #sets: Bits[] = []
  #used = 0
  #words = 0

  /** Starts a query over integers below `size` and frees all sets. */
  reset(size: number): void {
    // Rounded up, so that a growing index can reuse its sets for a while.
    const words = ((size >>> 5) + STEP_WORDS) & -STEP_WORDS
    if (words !== this.#words) this.#sets = []
    this.#words = words
    this.#used = 0
  }

  /** Returns an empty set. */
  take(): Bits {
    const set = this.#sets[this.#used]
    this.#used += 1
    if (set !== undefined) return set.fill(0)
    const created = new Uint32Array(this.#words)
    // A deep filter uses many sets; only the first are worth reusing.
    if (this.#sets.length < 32) this.#sets.push(created)
    return created
  }

  /** Frees the sets that `use` took, so that a long filter does not need more sets than a deep one. */
  within<T>(use: () => T): T {
    const used = this.#used
    const result = use()
    this.#used = used
    return result
  }
}
