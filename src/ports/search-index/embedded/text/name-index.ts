// Finds exact slugs, exact names, name prefixes and aliases.
import type { documentWords } from '#ports/search-index/fold.ts'
import { typosBetween } from '#ports/search-index/typo-rules.ts'
import type { Slots } from '../storage/doc-set.ts'
import { DROPPED, remapSlots } from '../storage/new-slots.ts'
import { Postings } from '../storage/postings.ts'
import { SortedSlots } from '../storage/sorted-slots.ts'
import { encode, StringList, StringTable } from '../storage/string-table.ts'

const SPACE = 0x20
/** Number of names copied per step of a compaction. */
const STEP_NAMES = 2000

/** Folded names, one per document slot, sorted without their spaces, and folded slugs and aliases in tables. */
export class NameIndex {
  readonly #names: StringList
  #sorted: SortedSlots
  #slugs: StringTable
  #slugPostings: Postings
  #aliases: StringTable
  #aliasPostings: Postings
  #unsorted: number[] = []

  constructor(saved?: ReturnType<NameIndex['save']>) {
    this.#names = new StringList(saved?.names)
    this.#sorted = new SortedSlots(saved?.sorted)
    this.#slugs = new StringTable(saved?.slugs)
    this.#slugPostings = new Postings(saved?.slugPostings)
    this.#aliases = new StringTable(saved?.aliases)
    this.#aliasPostings = new Postings(saved?.aliasPostings)
  }

  add(doc: number, words: Pick<ReturnType<typeof documentWords>, 'name' | 'slug' | 'aliases'>): void {
    this.#names.push(encode(words.name.join(' ')))
    this.#unsorted.push(doc)
    if (words.slug.length > 0) this.#slugPostings.add(this.#slugs.intern(words.slug.join(' ')), doc)
    for (const alias of words.aliases) this.#aliasPostings.add(this.#aliases.intern(alias), doc)
  }

  finishBatch(): void {
    this.#sorted.insert(this.#unsorted, (a, b) => this.#compare(a, b))
    this.#unsorted = []
  }

  /**
   * Finds documents by exact slug, exact name, name prefix, and by a name that differs only in its spaces. One word also
   * finds names that are written as several words.
   */
  search(words: readonly string[]): [slug: Slots, exact: Slots, prefix: Slots, unspaced: readonly number[]] {
    const slug: number[] = []
    const slugCode = this.#slugs.find(words.join(' '))
    if (slugCode >= 0) this.#slugPostings.forEach(slugCode, (doc) => slug.push(doc))
    const joined = encode(words.join('')).slice()
    const { items } = this.#sorted
    const start = this.#sorted.firstWhere((doc) => this.#compareJoined(doc, joined) >= 0)
    const end = this.#sorted.firstWhere((doc) => this.#compareJoined(doc, joined) > 0, this.#sorted.length, start)
    // Shorter names sort first, so exact names come before longer ones.
    const exactEnd = this.#sorted.firstWhere((doc) => this.#joinedLength(doc) > joined.length, end, start)
    const [exact, prefix] = [items.subarray(start, exactEnd), items.subarray(exactEnd, end)]
    if (words.length === 1) return [slug, exact, prefix, []]
    const spaced = encode(words.join(' ')).slice()
    const isSpaced = (doc: number) => this.#names.comparePrefix(doc, spaced) === 0
    const unspaced = Array.from(exact.filter((doc) => !isSpaced(doc)))
    return [slug, exact.filter(isSpaced), prefix.filter(isSpaced), unspaced]
  }

  /** Whether the whole name has at most this many typos, both without spaces. */
  isNear(doc: number, joined: string, typos: number): boolean {
    const { bytes, offsets } = this.#names
    const start = offsets[doc] ?? 0
    // A letter has at most 4 bytes.
    const difference = this.#joinedLength(doc) - Buffer.byteLength(joined)
    if (Math.abs(difference) > 4 * typos) return false
    const name = Buffer.from(bytes.subarray(start, offsets[doc + 1]))
      .toString()
      .replaceAll(' ', '')
    return typosBetween(joined, name) <= typos
  }

  /** Finds documents by an alias, without spaces. */
  withAlias(joined: string): number[] {
    const found: number[] = []
    const code = this.#aliases.find(joined)
    if (code >= 0) this.#aliasPostings.forEach(code, (doc) => found.push(doc))
    return found
  }

  /** Copies the index without dropped slots. Copies the order before the first yield, because it can change later. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, NameIndex> {
    const sorted = this.#sorted.save().slice()
    yield
    const copy = new NameIndex()
    copy.#slugs = this.#slugs
    copy.#aliases = this.#aliases
    copy.#sorted = new SortedSlots(yield* remapSlots(sorted, newDocs))
    for (let doc = 0; doc < newDocs.length; doc += 1) {
      if (doc % STEP_NAMES === 0) yield
      if (newDocs[doc] === DROPPED) continue
      copy.#names.push(this.#names.bytes.subarray(this.#names.offsets[doc], this.#names.offsets[doc + 1]))
    }
    copy.#slugPostings = yield* this.#slugPostings.remapped(newDocs)
    copy.#aliasPostings = yield* this.#aliasPostings.remapped(newDocs)
    return copy
  }

  save() {
    return {
      names: this.#names.save(),
      sorted: this.#sorted.save(),
      slugs: this.#slugs.save(),
      slugPostings: this.#slugPostings.save(),
      aliases: this.#aliases.save(),
      aliasPostings: this.#aliasPostings.save(),
    }
  }

  #joinedLength(doc: number): number {
    const { bytes, offsets } = this.#names
    let length = 0
    for (let i = offsets[doc] ?? 0; i < (offsets[doc + 1] ?? 0); i += 1) if (bytes[i] !== SPACE) length += 1
    return length
  }

  /** As `StringList.comparePrefix`, without spaces. */
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
