// A set of small numbers, for sets of decisions that are merged thousands of times.

export class BitSet {
  #words = new Uint32Array(4)

  add(value: number): void {
    this.#grow((value >>> 5) + 1)
    this.#words[value >>> 5] = (this.#words[value >>> 5] ?? 0) | (1 << (value & 31))
  }

  /** Adds every number below `end`. */
  addBelow(end: number): void {
    const whole = end >>> 5
    this.#grow(whole + 1)
    this.#words.fill(0xffffffff, 0, whole)
    this.#words[whole] = (this.#words[whole] ?? 0) | ((1 << (end & 31)) - 1)
  }

  addAll(other: BitSet): void {
    this.#grow(other.#words.length)
    for (let i = 0; i < other.#words.length; i += 1) this.#words[i] = (this.#words[i] ?? 0) | (other.#words[i] ?? 0)
  }

  delete(value: number): void {
    const word = this.#words[value >>> 5]
    if (word !== undefined) this.#words[value >>> 5] = word & ~(1 << (value & 31))
  }

  /** Returns the largest number, or -1 if the set is empty. */
  get last(): number {
    for (let i = this.#words.length - 1; i >= 0; i -= 1) {
      const word = this.#words[i] ?? 0
      if (word !== 0) return i * 32 + 31 - Math.clz32(word)
    }
    return -1
  }

  #grow(words: number): void {
    if (words <= this.#words.length) return
    const larger = new Uint32Array(Math.max(words, this.#words.length * 2))
    larger.set(this.#words)
    this.#words = larger
  }
}
