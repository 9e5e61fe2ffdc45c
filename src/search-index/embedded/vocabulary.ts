import { SortedSlots } from './sorted-slots.ts'
import { encode, type SavedTable, StringTable } from './string-table.ts'

export type SavedVocabulary = { table: SavedTable; sorted: Uint32Array<ArrayBuffer> }

/** Terms with their codes, also in byte order, so that the terms with one beginning are neighbours. */
export class Vocabulary {
  readonly table: StringTable
  readonly sorted: SortedSlots
  /** New terms wait here for `sortNew`. */
  #unsorted: number[] = []

  constructor(saved?: SavedVocabulary) {
    this.table = new StringTable(saved?.table)
    this.sorted = new SortedSlots(saved?.sorted)
  }

  intern(term: string): number {
    const code = this.table.intern(term)
    if (code === this.sorted.length + this.#unsorted.length) this.#unsorted.push(code)
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

  codeAt(position: number): number {
    return this.sorted.items[position] ?? 0
  }

  save(): SavedVocabulary {
    return { table: this.table.save(), sorted: this.sorted.save() }
  }
}
