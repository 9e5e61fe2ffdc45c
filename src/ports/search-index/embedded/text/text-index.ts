// Finds the documents that match a text, by class of relevance.
import { documentWords, foldWords, isShort, queryTerms, shortPrefixes } from '#ports/search-index/fold.ts'
import { MAX_TYPOS, MAX_WORDS_FOR_TYPOS, typosAllowed } from '#ports/search-index/typo-rules.ts'
import type { Content } from '../prepare.ts'
import {
  type Bits,
  type BitsPool,
  countBits,
  hasBit,
  intersect,
  listBits,
  setBit,
  uniteShared,
} from '../storage/bits.ts'
import { claimSet, claimSlots, type DocSet } from '../storage/doc-set.ts'
import { Postings } from '../storage/postings.ts'
import { StringTable } from '../storage/string-table.ts'
import { NameIndex } from './name-index.ts'
import { visitTypos } from './typos.ts'
import { Vocabulary } from './vocabulary.ts'

/** Number of terms whose prefixes are cached. */
const MAX_CACHED_PREFIXES = 16_384

/**
 * Returns disjoint classes of documents, best first: exact slug, exact name, name that differs in its spaces, name prefix or
 * alias,
 * all words by prefix. If these are empty: one typo, two typos, each first those whose whole
 * name is similar.
 */
export class TextIndex {
  #vocabulary: Vocabulary
  #postings: Postings
  #prefixes: StringTable
  readonly #cachedPrefixes: (readonly number[] | undefined)[] = []
  #prefixPostings: Postings
  #names: NameIndex

  constructor(saved?: ReturnType<TextIndex['save']>) {
    this.#vocabulary = new Vocabulary(saved?.vocabulary)
    this.#postings = new Postings(saved?.postings)
    this.#prefixes = new StringTable(saved?.prefixes)
    this.#prefixPostings = new Postings(saved?.prefixPostings)
    this.#names = new NameIndex(saved?.names)
  }

  /** `doc` is the next slot. Searches find the document after `finishBatch`. */
  add(doc: number, content: Content['text']): void {
    const words = documentWords(content)
    for (const term of words.terms) {
      const code = this.#vocabulary.intern(term)
      this.#postings.add(code, doc)
      for (const prefix of this.#prefixesOf(term, code)) this.#prefixPostings.add(prefix, doc)
    }
    this.#names.add(doc, words)
  }

  finishBatch(): void {
    this.#vocabulary.sortNew()
    this.#names.finishBatch()
  }

  /** Returns undefined if the text has no word. `live`: the documents that exist. */
  search(text: string, live: Bits, pool: BitsPool): DocSet[] | undefined {
    const words = foldWords(text)
    if (words.length === 0) return undefined
    const terms = queryTerms(words)
    const rest = { live, seen: pool.take() }
    const all = this.#withAllTerms(terms, pool)
    const [slug, exact, prefix, unspaced] = this.#names.search(words)
    // `WorldEdit` counts as exactly `world edit`, because it contains both words. `Carpet` for `car pet` comes after that.
    const composed = unspaced.filter((doc) => hasBit(all, doc))
    const named = composed.length === 0 ? exact : [...Array.from(exact), ...composed]
    const aliased = this.#names.withAlias(words.join(''))
    const begun = aliased.length === 0 ? prefix : [...Array.from(prefix), ...aliased]
    const classes = [slug, named, unspaced, begun].map((slots) => claimSlots(slots, rest, pool))
    classes.push(claimSet(all, rest))
    if (classes.some(({ count }) => count > 0) || terms.length > MAX_WORDS_FOR_TYPOS) return classes
    const [one, two] = this.#withTypos(terms, live, pool)
    // An extra space is a typo as well: `town crier` for a name of one word.
    for (const slots of words.length > 1 ? this.#names.search([words.join('')]) : []) {
      for (let i = 0; i < slots.length; i += 1) setBit(one, slots[i] ?? 0)
    }
    // The previous classes are empty, so nothing was claimed. A similar whole name comes before similar words.
    const joined = words.join('')
    return [one, two].flatMap((typos) => {
      const all = listBits(typos, countBits(typos))
      const whole = all.filter((doc) => this.#names.isNear(doc, joined, MAX_TYPOS))
      return [claimSlots(whole, rest, pool), claimSet(typos, rest)]
    })
  }

  /** Copies the index without dropped slots; the copy shares the terms. Copies the names' order before the first yield. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, TextIndex> {
    const names = this.#names.remapped(newDocs)
    names.next()
    yield
    const copy = new TextIndex()
    copy.#vocabulary = this.#vocabulary
    copy.#prefixes = this.#prefixes
    copy.#names = yield* names
    copy.#postings = yield* this.#postings.remapped(newDocs)
    copy.#prefixPostings = yield* this.#prefixPostings.remapped(newDocs)
    return copy
  }

  save() {
    return {
      vocabulary: this.#vocabulary.save(),
      postings: this.#postings.save(),
      prefixes: this.#prefixes.save(),
      prefixPostings: this.#prefixPostings.save(),
      names: this.#names.save(),
    }
  }

  /** Returns the codes of the prefixes of one and two letters. */
  #prefixesOf(term: string, code: number): readonly number[] {
    const cached = this.#cachedPrefixes[code]
    if (cached !== undefined) return cached
    const codes = shortPrefixes(term).map((prefix) => this.#prefixes.internCommon(prefix))
    // Codes are assigned in sequence, so frequent terms have low codes.
    if (code < MAX_CACHED_PREFIXES) this.#cachedPrefixes[code] = codes
    return codes
  }

  #withAllTerms(terms: readonly string[], pool: BitsPool): Bits {
    const all = pool.take()
    const one = pool.take()
    for (const [i, term] of terms.entries()) {
      const target = i === 0 ? all : one.fill(0)
      this.#uniteByPrefix(term, target)
      if (i > 0) intersect(all, one)
    }
    return all
  }

  #uniteByPrefix(term: string, target: Bits): void {
    if (isShort(term)) {
      const code = this.#prefixes.find(term)
      if (code >= 0) this.#prefixPostings.uniteInto(code, target)
      return
    }
    const { start, end } = this.#vocabulary.range(term)
    for (let p = start; p < end; p += 1) this.#postings.uniteInto(this.#vocabulary.codeAt(p), target)
  }

  /** Returns the documents that match all terms with one and with two typos in total. */
  #withTypos(terms: readonly string[], live: Bits, pool: BitsPool): [Bits, Bits] {
    let reached: readonly Bits[] = [live]
    for (const term of terms) {
      const near = this.#near(term, pool)
      const next = [pool.take(), pool.take(), pool.take()]
      for (const [before, set] of reached.entries()) {
        for (const [used, other] of near.entries()) {
          const target = next[before + used]
          if (target !== undefined) uniteShared(target, set, other)
        }
      }
      reached = next
    }
    return [reached[1] ?? pool.take(), reached[2] ?? pool.take()]
  }

  /** Returns the documents that match the term with 0, 1 and 2 typos. */
  #near(term: string, pool: BitsPool): Bits[] {
    const near = [pool.take(), pool.take(), pool.take()]
    if (near[0] !== undefined) this.#uniteByPrefix(term, near[0])
    const allowed = Math.min(typosAllowed(term), MAX_TYPOS)
    if (allowed > 0) {
      visitTypos(this.#vocabulary, term, allowed, (code, typos) => {
        const target = near[typos]
        if (target !== undefined) this.#postings.uniteInto(code, target)
      })
    }
    return near
  }
}
