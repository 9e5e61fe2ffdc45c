// How many typos a word may have, and what they cost: the same in every engine.

/** Words shorter than this are taken as typed. */
export const MIN_LENGTH_FOR_TYPO = 4
/** Words at least this long may have two typos. */
const MIN_LENGTH_FOR_TWO = 8
/** A query of more words than this is not searched for typos: each word costs a walk over the vocabulary. */
export const MAX_WORDS_FOR_TYPOS = 8
/** In the whole query. */
export const MAX_TYPOS = 2

/** How many typos a word may have. Digits and signs of one kind are not words with typos but other words. */
export function typosAllowed(word: string): 0 | 1 | 2 {
  const length = [...word].length
  if (length < MIN_LENGTH_FOR_TYPO || !/\p{L}/u.test(word)) return 0
  return length < MIN_LENGTH_FOR_TWO ? 1 : 2
}

/**
 * What a typo in the first letter counts: people seldom get it wrong, and a walk that need not try every first letter
 * is many times shorter. Words that may have one typo only may have it there.
 */
export function firstLetterCost(allowed: number): number {
  return allowed === 2 ? 2 : 1
}
