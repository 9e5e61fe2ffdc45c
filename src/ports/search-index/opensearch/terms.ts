// Index terms for prefixes of words: short ones for fast prefix queries, longer ones for typos.
import { MIN_LENGTH_FOR_TYPO } from '../typo-rules.ts'

/** Prefixes of up to this length are separate terms, because too many terms share them. */
const SHORT_PREFIX = 2

export function isShort(term: string): boolean {
  return term.length <= SHORT_PREFIX || [...term].length <= SHORT_PREFIX
}

/** Returns the prefixes of one and two letters. */
export function shortPrefixes(term: string): string[] {
  const [first = '', second] = term
  return second === undefined ? [first] : [first, first + second]
}

/**
 * Returns the keys of the prefixes of a term. A term also matches by a prefix that is at least as long as the word and
 * ends with its last letter. A key therefore begins with this letter and the length, which a fuzzy query matches exactly.
 */
export function prefixKeys(term: string): string[] {
  const letters = [...term]
  const keys: string[] = []
  for (let length = MIN_LENGTH_FOR_TYPO; length < letters.length; length += 1) {
    keys.push(prefixKey(letters.slice(0, length).join(''), letters[length - 1] ?? '', length))
  }
  return keys
}

/** Returns the key of a prefix, or of a word of that length. Its first two characters are never fuzzy. */
export function prefixKey(letters: string, last: string, length: number): string {
  return last + String.fromCodePoint(FIRST_LENGTH + length) + letters
}
/** Character that stands for length 0. Words have at most 64 letters. */
const FIRST_LENGTH = 0x100
