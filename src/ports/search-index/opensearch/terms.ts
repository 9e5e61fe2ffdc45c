// Index terms for beginnings of words: the shortest for quick prefixes, the longer ones for typos.
import { MIN_LENGTH_FOR_TYPO } from '../typo-rules.ts'

/** Beginnings of up to this many letters are terms of their own, because the terms under them are too many. */
const SHORT = 2

export function isShort(term: string): boolean {
  return term.length <= SHORT || [...term].length <= SHORT
}

/** A term's first letter and its first two. */
export function shortBeginnings(term: string): string[] {
  const [first = '', second] = term
  return second === undefined ? [first] : [first, first + second]
}

/**
 * A term also matches by a beginning that ends in the word's last letter and is no shorter than the word: so each
 * beginning is indexed behind that letter and its own length, which a fuzzy query then asks for exactly.
 */
export function beginningKeys(term: string): string[] {
  const letters = [...term]
  const keys: string[] = []
  for (let length = MIN_LENGTH_FOR_TYPO; length < letters.length; length += 1) {
    keys.push(beginningKey(letters.slice(0, length).join(''), letters[length - 1] ?? '', length))
  }
  return keys
}

/** The key of a beginning, or of a word that should be one of that length. The first two letters are never fuzzy. */
export function beginningKey(letters: string, last: string, length: number): string {
  return last + String.fromCodePoint(FIRST_LENGTH + length) + letters
}
/** Letter count 0 as a character; words have at most 64 letters. */
const FIRST_LENGTH = 0x100
