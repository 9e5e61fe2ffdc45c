// Which documents a text finds, and in which class of relevance.
import type { SearchDocument } from '#ports/search-index/document.ts'
import { foldWords, indexTerms, innerWords, queryTerms } from '#ports/search-index/fold.ts'
import { MAX_TYPOS, MAX_WORDS_FOR_TYPOS, typosAllowed } from '#ports/search-index/typo-rules.ts'
import { type Bits, type BitsPool, hasBit, intersect, setBit, uniteShared } from '../storage/bits.ts'
import { claimSet, claimSlots, type DocSet } from '../storage/doc-set.ts'
import { Postings, type SavedPostings } from '../storage/postings.ts'
import { type SavedTable, StringTable } from '../storage/string-table.ts'
import { NameIndex, type SavedNames } from './name-index.ts'
import { visitTypos } from './typos.ts'
import { type SavedVocabulary, Vocabulary } from './vocabulary.ts'

/** Beginnings of up to this many letters have postings of their own, because the terms under them are too many. */
const SHORT = 2
/** Terms whose beginnings are remembered. */
const MAX_KNOWN_BEGINNINGS = 16_384

export type SavedText = {
  vocabulary: SavedVocabulary
  postings: SavedPostings
  beginnings: SavedTable
  beginningPostings: SavedPostings
  names: SavedNames
}

/**
 * The documents of a text in disjoint classes, best first: exact slug, exact name, name prefix, all words by prefix;
 * only when these are empty, one typo and two typos.
 */
export class TextIndex {
  #vocabulary: Vocabulary
  #postings: Postings
  #beginnings: StringTable
  readonly #knownBeginnings: (readonly number[] | undefined)[] = []
  #beginningPostings: Postings
  #names: NameIndex

  constructor(saved?: SavedText) {
    this.#vocabulary = new Vocabulary(saved?.vocabulary)
    this.#postings = new Postings(saved?.postings)
    this.#beginnings = new StringTable(saved?.beginnings)
    this.#beginningPostings = new Postings(saved?.beginningPostings)
    this.#names = new NameIndex(saved?.names)
  }

  /** `doc` is the next slot. Found after `finishBatch`. */
  add(doc: number, document: SearchDocument): void {
    const nameWords = foldWords(document.name)
    const terms = new Set<string>()
    indexTerms(nameWords, terms)
    indexTerms(innerWords(document.name), terms)
    if (document.slug !== null) indexTerms(foldWords(document.slug), terms)
    indexTerms(foldWords(document.author), terms)
    indexTerms(foldWords(document.summary), terms)
    for (const term of terms) {
      const code = this.#vocabulary.intern(term)
      this.#postings.add(code, doc)
      for (const beginning of this.#beginningsOf(term, code)) this.#beginningPostings.add(beginning, doc)
    }
    this.#names.add(doc, nameWords, document.slug === null ? [] : foldWords(document.slug))
  }

  finishBatch(): void {
    this.#vocabulary.sortNew()
    this.#names.finishBatch()
  }

  /** `undefined`: the text has no word, so it asks for nothing. `live` are the documents there are. */
  search(text: string, live: Bits, pool: BitsPool): DocSet[] | undefined {
    const words = foldWords(text)
    if (words.length === 0) return undefined
    const terms = queryTerms(words)
    const rest = { live, seen: pool.take() }
    const all = this.#withAllTerms(terms, pool)
    const [slug, exact, prefix, unspaced] = this.#names.search(words)
    // `WorldEdit` is exactly `world edit`, whose words it has inside; `Carpet` is not `car pet`.
    const composed = unspaced.filter((doc) => hasBit(all, doc))
    const named = composed.length === 0 ? exact : [...Array.from(exact), ...composed]
    const classes = [slug, named, prefix].map((slots) => claimSlots(slots, rest, pool))
    classes.push(claimSet(all, rest))
    if (classes.some(({ count }) => count > 0) || terms.length > MAX_WORDS_FOR_TYPOS) return classes
    const [one, two] = this.#withTypos(terms, live, pool)
    // A space too many is a typo as well: `town crier` for a name written in one word.
    for (const slots of words.length > 1 ? this.#names.search([words.join('')]) : []) {
      for (let i = 0; i < slots.length; i += 1) setBit(one, slots[i] ?? 0)
    }
    // Nothing has been claimed: the classes so far are empty.
    return [claimSet(one, rest), claimSet(two, rest)]
  }

  /** A copy without the slots that `newDocs` drops, which shares the words. What moves is taken before the first yield. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, TextIndex> {
    const names = this.#names.remapped(newDocs)
    names.next()
    yield
    const copy = new TextIndex()
    copy.#vocabulary = this.#vocabulary
    copy.#beginnings = this.#beginnings
    copy.#names = yield* names
    copy.#postings = yield* this.#postings.remapped(newDocs)
    copy.#beginningPostings = yield* this.#beginningPostings.remapped(newDocs)
    return copy
  }

  save(): SavedText {
    return {
      vocabulary: this.#vocabulary.save(),
      postings: this.#postings.save(),
      beginnings: this.#beginnings.save(),
      beginningPostings: this.#beginningPostings.save(),
      names: this.#names.save(),
    }
  }

  /** The codes of a term's first letter and of its first two. */
  #beginningsOf(term: string, code: number): readonly number[] {
    const known = this.#knownBeginnings[code]
    if (known !== undefined) return known
    const codes = shortBeginnings(term).map((beginning) => this.#beginnings.internCommon(beginning))
    // Terms get their codes one after another, so the common ones come first.
    if (code < MAX_KNOWN_BEGINNINGS) this.#knownBeginnings[code] = codes
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
    if (term.length <= SHORT || [...term].length <= SHORT) {
      const code = this.#beginnings.find(term)
      if (code >= 0) this.#beginningPostings.uniteInto(code, target)
      return
    }
    const { start, end } = this.#vocabulary.range(term)
    for (let p = start; p < end; p += 1) this.#postings.uniteInto(this.#vocabulary.codeAt(p), target)
  }

  /** Each word as it stands or with its allowed typos, at most two in all: the classes of one and of two typos. */
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

  /** The documents that have the word with no, one and two typos. */
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

function shortBeginnings(term: string): string[] {
  const first = String.fromCodePoint(term.codePointAt(0) ?? 0)
  if (first.length === term.length) return [first]
  return [first, first + String.fromCodePoint(term.codePointAt(first.length) ?? 0)]
}
