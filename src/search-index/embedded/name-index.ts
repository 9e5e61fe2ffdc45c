// Exact slugs, exact names and beginnings of names.
import { type Bits, type BitsPool, setBit } from './bits.ts'
import { DROPPED, Postings, type SavedPostings } from './postings.ts'
import { SortedSlots } from './sorted-slots.ts'
import { encode, type SavedStrings, type SavedTable, StringList, StringTable } from './string-table.ts'

const SPACE = 0x20

export type SavedNames = {
  names: SavedStrings
  sorted: Uint32Array<ArrayBuffer>
  slugs: SavedTable
  slugPostings: SavedPostings
}

/** Folded names, one per document slot, sorted as if they had no spaces; folded slugs in a table. */
export class NameIndex {
  readonly #names: StringList
  readonly #sorted: SortedSlots
  readonly #slugs: StringTable
  readonly #slugPostings: Postings
  #unsorted: number[] = []

  constructor(saved?: SavedNames) {
    this.#names = new StringList(saved?.names)
    this.#sorted = new SortedSlots(saved?.sorted)
    this.#slugs = new StringTable(saved?.slugs)
    this.#slugPostings = new Postings(saved?.slugPostings)
  }

  add(doc: number, nameWords: readonly string[], slugWords: readonly string[]): void {
    this.#names.push(encode(nameWords.join(' ')))
    this.#unsorted.push(doc)
    if (slugWords.length > 0) this.#slugPostings.add(this.#slugs.intern(slugWords.join(' ')), doc)
  }

  finishBatch(): void {
    this.#sorted.insert(this.#unsorted, (a, b) => this.#compare(a, b))
    this.#unsorted = []
  }

  /** Three sets: exact slug, exact name, name prefix. Words typed as one also find names written as several. */
  search(words: readonly string[], pool: BitsPool): [Bits, Bits, Bits] {
    const [slug, exact, prefix] = [pool.take(), pool.take(), pool.take()]
    const slugCode = this.#slugs.find(words.join(' '))
    if (slugCode >= 0) this.#slugPostings.uniteInto(slugCode, slug)
    const joined = encode(words.join('')).slice()
    const spaced = encode(words.join(' ')).slice()
    const end = this.#sorted.firstWhere((doc) => this.#compareJoined(doc, joined) > 0)
    for (let p = this.#sorted.firstWhere((doc) => this.#compareJoined(doc, joined) >= 0); p < end; p += 1) {
      const doc = this.#sorted.items[p] ?? 0
      if (words.length > 1 && this.#names.comparePrefix(doc, spaced) !== 0) continue
      setBit(this.#joinedLength(doc) === joined.length ? exact : prefix, doc)
    }
    return [slug, exact, prefix]
  }

  remapped(newDocs: Uint32Array<ArrayBuffer>): NameIndex {
    const names = new StringList()
    for (let doc = 0; doc < this.#names.size; doc += 1) {
      const [start, end] = [this.#names.offsets[doc], this.#names.offsets[doc + 1]]
      if (newDocs[doc] !== DROPPED) names.push(this.#names.bytes.subarray(start, end))
    }
    return new NameIndex({
      names: names.save(),
      sorted: this.#sorted.remapped(newDocs).save(),
      slugs: this.#slugs.save(),
      slugPostings: this.#slugPostings.remapped(newDocs).save(),
    })
  }

  save(): SavedNames {
    return {
      names: this.#names.save(),
      sorted: this.#sorted.save(),
      slugs: this.#slugs.save(),
      slugPostings: this.#slugPostings.save(),
    }
  }

  #joinedLength(doc: number): number {
    const { bytes, offsets } = this.#names
    let length = 0
    for (let i = offsets[doc] ?? 0; i < (offsets[doc + 1] ?? 0); i += 1) if (bytes[i] !== SPACE) length += 1
    return length
  }

  /** As `StringList.comparePrefix`, spaces skipped. */
  #compareJoined(doc: number, joined: Uint8Array): number {
    const { bytes, offsets } = this.#names
    const end = offsets[doc + 1] ?? 0
    let i = offsets[doc] ?? 0
    for (const byte of joined) {
      while (i < end && bytes[i] === SPACE) i += 1
      if (i >= end) return -1
      const difference = (bytes[i] ?? 0) - byte
      if (difference !== 0) return difference
      i += 1
    }
    return 0
  }

  #compare(a: number, b: number): number {
    const { bytes, offsets } = this.#names
    const endA = offsets[a + 1] ?? 0
    const endB = offsets[b + 1] ?? 0
    let i = offsets[a] ?? 0
    let j = offsets[b] ?? 0
    for (;;) {
      while (i < endA && bytes[i] === SPACE) i += 1
      while (j < endB && bytes[j] === SPACE) j += 1
      if (i >= endA || j >= endB) break
      const difference = (bytes[i] ?? 0) - (bytes[j] ?? 0)
      if (difference !== 0) return difference
      i += 1
      j += 1
    }
    return Number(i < endA) - Number(j < endB) || a - b
  }
}
