// Which documents a text finds, and in which class of relevance.
import type { SearchDocument } from '../document.ts'
import { type Bits, type BitsPool, countBits, intersect, setBit, subtract, unite } from './bits.ts'
import { foldWords, indexTerms, innerWords, queryTerms } from './fold.ts'
import { NameIndex, type SavedNames } from './name-index.ts'
import { Postings, type SavedPostings } from './postings.ts'
import { type SavedTable, StringTable } from './string-table.ts'
import { typosAllowed, visitTypos } from './typos.ts'
import { type SavedVocabulary, Vocabulary } from './vocabulary.ts'

/** A query of more words than this is not searched for typos: each word costs a walk over the vocabulary. */
const MAX_WORDS_FOR_TYPOS = 8
/** Beginnings of up to this many letters have postings of their own, because the terms under them are too many. */
const SHORT = 2
const MAX_TYPOS = 2

export type SavedText = {
  vocabulary: SavedVocabulary
  postings: SavedPostings
  beginnings: SavedTable
  beginningPostings: SavedPostings
  names: SavedNames
}

/**
 * The documents of a text in disjoint classes, best first: exact slug, exact name, name prefix, all words by prefix;
 * only when these are empty, one typo and two typos (decisions.md 7).
 */
export class TextIndex {
  readonly #vocabulary: Vocabulary
  #postings: Postings
  readonly #beginnings: StringTable
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
      this.#postings.add(this.#vocabulary.intern(term), doc)
      for (const beginning of shortBeginnings(term)) {
        this.#beginningPostings.add(this.#beginnings.internCommon(beginning), doc)
      }
    }
    this.#names.add(doc, nameWords, document.slug === null ? [] : foldWords(document.slug))
  }

  finishBatch(): void {
    this.#vocabulary.sortNew()
    this.#names.finishBatch()
  }

  /** `undefined`: the text has no word, so it asks for nothing. `live` are the documents there are. */
  search(text: string, live: Bits, pool: BitsPool): Bits[] | undefined {
    const words = foldWords(text)
    if (words.length === 0) return undefined
    const terms = queryTerms(words)
    const all = this.#withAllTerms(terms, pool)
    const classes = [...this.#names.search(words, pool), all]
    const seen = pool.take()
    for (const set of classes) {
      intersect(set, live)
      subtract(set, seen)
      unite(seen, set)
    }
    if (countBits(seen) > 0 || terms.length > MAX_WORDS_FOR_TYPOS) return classes
    const [one, two] = this.#withTypos(terms, live, pool)
    // A space too many is a typo as well: `town crier` for a name written in one word.
    for (const set of words.length > 1 ? this.#names.search([words.join('')], pool) : []) {
      intersect(set, live)
      unite(one, set)
      subtract(two, set)
    }
    return [one, two]
  }

  /** Without the slots that `newDocs` drops. The vocabulary keeps its terms. */
  compact(newDocs: Uint32Array<ArrayBuffer>): void {
    this.#postings = this.#postings.remapped(newDocs)
    this.#beginningPostings = this.#beginningPostings.remapped(newDocs)
    this.#names = this.#names.remapped(newDocs)
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
    let reached: [Bits, Bits, Bits] = [pool.take(), pool.take(), pool.take()]
    unite(reached[0], live)
    for (const term of terms) {
      const near = this.#near(term, pool)
      const next: [Bits, Bits, Bits] = [pool.take(), pool.take(), pool.take()]
      for (const [total, target] of next.entries()) {
        for (let used = 0; used <= total; used += 1) {
          const set = pool.take()
          unite(set, reached[total - used] ?? set)
          intersect(set, near[used] ?? set)
          unite(target, set)
        }
      }
      reached = next
    }
    const [none, one, two] = reached
    subtract(one, none)
    subtract(two, one)
    return [one, two]
  }

  /** The documents that have the word with no, one and two typos. */
  #near(term: string, pool: BitsPool): Bits[] {
    const near = [pool.take(), pool.take(), pool.take()]
    if (near[0] !== undefined) this.#uniteByPrefix(term, near[0])
    const allowed = Math.min(typosAllowed(term), MAX_TYPOS)
    if (allowed > 0) {
      visitTypos(this.#vocabulary, term, allowed, (code, typos) => {
        const target = near[typos]
        if (target !== undefined) this.#postings.forEach(code, (doc) => setBit(target, doc))
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
