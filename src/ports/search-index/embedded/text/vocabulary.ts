import { withLength } from '../storage/memory.ts'
import { SortedSlots } from '../storage/sorted-slots.ts'
import { encode, StringTable } from '../storage/string-table.ts'

const HEAD_BYTES = 4

/** Terms with their codes, and the codes in byte order of the terms, so that terms with one prefix are adjacent. */
export class Vocabulary {
  readonly table: StringTable
  readonly sorted: SortedSlots
  /** First 4 bytes of each term as a number, which is enough for most comparisons. */
  #heads: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  /** New terms, until `sortNew`. */
  #unsorted: number[] = []

  constructor(saved?: ReturnType<Vocabulary['save']>) {
    this.table = new StringTable(saved?.table)
    this.sorted = new SortedSlots(saved?.sorted)
    for (let code = 0; code < this.table.size; code += 1) this.#setHead(code)
  }

  intern(term: string): number {
    const code = this.table.internCommon(term)
    if (code === this.sorted.length + this.#unsorted.length) {
      this.#unsorted.push(code)
      this.#setHead(code)
    }
    return code
  }

  /** Must be called after each batch; searches do not find new terms before. */
  sortNew(): void {
    this.sorted.insert(this.#unsorted, (a, b) => this.table.list.compare(a, b))
    this.#unsorted = []
  }

  /** Returns the positions in `sorted` of the terms with the prefix; `end` is exclusive. */
  range(prefix: string): { start: number; end: number } {
    const bytes = encode(prefix)
    const { list } = this.table
    const start = this.sorted.firstWhere((code) => list.comparePrefix(code, bytes) >= 0)
    return {
      start,
      end: this.sorted.firstWhere((code) => list.comparePrefix(code, bytes) > 0, this.sorted.length, start),
    }
  }

  /** Returns the first later position whose term differs in the first `length` bytes from that at `position`. */
  endOfPrefix(position: number, length: number): number {
    return this.#firstAfter(position, this.#differsFrom(this.codeAt(position), length))
  }

  /** Returns the first later position whose term is at least `length` bytes of the term at `position` and `letter`. */
  firstFrom(position: number, length: number, letter: number): number {
    return this.#firstAfter(position, this.#reaches(this.codeAt(position), length, letter))
  }

  codeAt(position: number): number {
    return this.sorted.items[position] ?? 0
  }

  save() {
    return { table: this.table.save(), sorted: this.sorted.save() }
  }

  /** Searches with growing steps, because the result is usually near. `test` must hold for all positions after the first. */
  #firstAfter(position: number, test: (code: number) => boolean): number {
    let step = 1
    while (position + step < this.sorted.length && !test(this.codeAt(position + step))) step *= 2
    return this.sorted.firstWhere(test, Math.min(position + step, this.sorted.length), position + (step >>> 1))
  }

  #differsFrom(code: number, length: number): (other: number) => boolean {
    if (length <= HEAD_BYTES) {
      const heads = this.#heads
      const shift = 8 * (HEAD_BYTES - length)
      const prefix = (heads[code] ?? 0) >>> shift
      return (other) => (heads[other] ?? 0) >>> shift !== prefix
    }
    const { list } = this.table
    const start = list.offsets[code] ?? 0
    const prefix = list.bytes.subarray(start, start + length)
    return (other) => list.comparePrefix(other, prefix) !== 0
  }

  #reaches(code: number, length: number, letter: number): (other: number) => boolean {
    if (length < HEAD_BYTES && letter < 0x80) {
      const heads = this.#heads
      const shift = 8 * (HEAD_BYTES - length)
      // A shift by 32 bits has no effect in JavaScript.
      const prefix = length === 0 ? 0 : ((heads[code] ?? 0) >>> shift) << shift
      const least = (prefix | (letter << (shift - 8))) >>> 0
      return (other) => (heads[other] ?? 0) >= least
    }
    const { list } = this.table
    const start = list.offsets[code] ?? 0
    const last = encode(String.fromCodePoint(letter))
    const target = new Uint8Array(length + last.length)
    target.set(list.bytes.subarray(start, start + length))
    target.set(last, length)
    return (other) => list.comparePrefix(other, target) >= 0
  }

  #setHead(code: number): void {
    const { bytes, offsets } = this.table.list
    this.#heads = withLength(this.#heads, code + 1)
    this.#heads[code] = headOf(bytes, offsets[code] ?? 0, offsets[code + 1] ?? 0)
  }
}

/** Returns the first bytes as a number that sorts as they do. A missing byte is 0, which no term contains. */
function headOf(bytes: Uint8Array, start: number, end: number): number {
  let head = 0
  for (let i = start; i < start + HEAD_BYTES; i += 1) head = (head << 8) | (i < end ? (bytes[i] ?? 0) : 0)
  return head >>> 0
}
