import { withLength } from '../storage/memory.ts'
import { SortedSlots } from '../storage/sorted-slots.ts'
import { encode, type SavedTable, StringTable } from '../storage/string-table.ts'

const HEAD_BYTES = 4

export type SavedVocabulary = { table: SavedTable; sorted: Uint32Array<ArrayBuffer> }

/** Terms with their codes, also in byte order, so that the terms with one beginning are neighbours. */
export class Vocabulary {
  readonly table: StringTable
  readonly sorted: SortedSlots
  /** The first four bytes of each term as a number, so that most comparisons need not look for its bytes. */
  #heads: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  /** New terms wait here for `sortNew`. */
  #unsorted: number[] = []

  constructor(saved?: SavedVocabulary) {
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

  /** Call after each batch: until then new terms are not found. */
  sortNew(): void {
    this.sorted.insert(this.#unsorted, (a, b) => this.table.list.compare(a, b))
    this.#unsorted = []
  }

  /** The positions in `sorted` of the terms that begin so: from `start` up to, not including, `end`. */
  range(prefix: string): { start: number; end: number } {
    const bytes = encode(prefix)
    const { list } = this.table
    const start = this.sorted.firstWhere((code) => list.comparePrefix(code, bytes) >= 0)
    return {
      start,
      end: this.sorted.firstWhere((code) => list.comparePrefix(code, bytes) > 0, this.sorted.length, start),
    }
  }

  /** The first position after `position` whose term does not share the first `length` bytes with the term there. */
  endOfBeginning(position: number, length: number): number {
    return this.#firstAfter(position, this.#differsFrom(this.codeAt(position), length))
  }

  /**
   * The first position after `position` whose term is not before the first `length` bytes of the term there, followed
   * by that letter.
   */
  firstFrom(position: number, length: number, letter: number): number {
    return this.#firstAfter(position, this.#reaches(this.codeAt(position), length, letter))
  }

  codeAt(position: number): number {
    return this.sorted.items[position] ?? 0
  }

  save(): SavedVocabulary {
    return { table: this.table.save(), sorted: this.sorted.save() }
  }

  /** The test must hold for all after the first; what is looked for is most often near. */
  #firstAfter(position: number, test: (code: number) => boolean): number {
    let step = 1
    while (position + step < this.sorted.length && !test(this.codeAt(position + step))) step *= 2
    return this.sorted.firstWhere(test, Math.min(position + step, this.sorted.length), position + (step >>> 1))
  }

  #differsFrom(code: number, length: number): (other: number) => boolean {
    if (length <= HEAD_BYTES) {
      const heads = this.#heads
      const shift = 8 * (HEAD_BYTES - length)
      const beginning = (heads[code] ?? 0) >>> shift
      return (other) => (heads[other] ?? 0) >>> shift !== beginning
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
      // A shift by all 32 bits would be none.
      const beginning = length === 0 ? 0 : ((heads[code] ?? 0) >>> shift) << shift
      const least = (beginning | (letter << (shift - 8))) >>> 0
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

/** The first bytes as a number that sorts as they do; 0 stands for what is missing, which no term holds. */
function headOf(bytes: Uint8Array, start: number, end: number): number {
  let head = 0
  for (let i = start; i < start + HEAD_BYTES; i += 1) head = (head << 8) | (i < end ? (bytes[i] ?? 0) : 0)
  return head >>> 0
}
