// The number of typos that a word can have, and their cost, in every engine.

/** Shorter words must match exactly. */
export const MIN_LENGTH_FOR_TYPO = 4
/** Minimum length of words that can have two typos. */
const MIN_LENGTH_FOR_TWO = 8
/** Queries of more words are not searched for typos, because each word costs a walk over the vocabulary. */
export const MAX_WORDS_FOR_TYPOS = 8
/** Maximum number of typos in a query. */
export const MAX_TYPOS = 2

/** Returns the number of typos that a word can have. Words without letters, such as numbers, must match exactly. */
export function typosAllowed(word: string): 0 | 1 | 2 {
  const length = [...word].length
  if (length < MIN_LENGTH_FOR_TYPO || !/\p{L}/u.test(word)) return 0
  return length < MIN_LENGTH_FOR_TWO ? 1 : 2
}

/** Returns the number of inserted, missing, replaced and swapped letters between two texts; each letter changes at most once. */
export function typosBetween(a: string, b: string): number {
  const [from, to] = [[...a], [...b]]
  let above: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwapped ? (above[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    above = row
    row = next
  }
  return row[to.length] ?? 0
}

/**
 * Returns the cost of a typo in the first letter. Such typos are rare, and a walk that does not try every first letter is
 * many times shorter. Words with one allowed typo can have it in the first letter.
 */
export function firstLetterCost(allowed: number): number {
  return allowed === 2 ? 2 : 1
}
