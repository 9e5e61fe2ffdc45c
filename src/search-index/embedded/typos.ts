// Terms within one or two typos of a word. The vocabulary is walked in byte order as if it were a trie: neighbours share
// the rows of the distance table for their common beginning, and a beginning that is already too far skips all its terms.
import type { Vocabulary } from './vocabulary.ts'

/** Words shorter than this are taken as typed. */
const MIN_LENGTH = 4
/** Words at least this long may have two typos. */
const MIN_LENGTH_FOR_TWO = 8
/** Longer than any term. */
const MAX_DEPTH = 80
const FAR = 255

/** How many typos a word may have. Digits and signs of one kind are not words with typos but other words. */
export function typosAllowed(word: string): 0 | 1 | 2 {
  const length = [...word].length
  if (length < MIN_LENGTH || !/\p{L}/u.test(word)) return 0
  return length < MIN_LENGTH_FOR_TWO ? 1 : 2
}

type Walk = {
  readonly word: readonly number[]
  readonly allowed: number
  /** Row d: distances between the first d letters of the term and each beginning of the word. */
  readonly rows: readonly Uint8Array[]
  readonly letters: number[]
  /** Best distance of a beginning of the term of at most d letters. */
  readonly best: Uint8Array
  /** Smallest distance of each row. */
  readonly smallest: Uint8Array
}

/**
 * Visits term codes with their distance (insert, drop, replace, swap neighbours: one typo each). A term also matches by
 * a beginning that is no shorter than the word and ends in the word's last letter: a longer word being typed.
 */
export function visitTypos(
  vocabulary: Vocabulary,
  word: string,
  allowed: number,
  visit: (code: number, typos: number) => void,
): void {
  const letters = Array.from(word, (letter) => letter.codePointAt(0) ?? 0)
  const rows = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint8Array(letters.length + 1))
  for (let j = 0; j <= letters.length; j += 1) (rows[0] as Uint8Array)[j] = j
  const best = new Uint8Array(MAX_DEPTH + 1).fill(FAR)
  const walk: Walk = { word: letters, allowed, rows, letters: [], best, smallest: new Uint8Array(MAX_DEPTH + 1) }
  const end = vocabulary.sorted.length
  for (let position = 0; position < end; ) {
    const code = vocabulary.codeAt(position)
    const term = vocabulary.table.list.get(code)
    const dead = stepThrough(walk, term)
    if (dead === undefined) {
      const depth = walk.letters.length
      const typos = Math.min(walk.best[depth] ?? FAR, walk.rows[depth]?.[letters.length] ?? FAR)
      if (typos <= allowed) visit(code, typos)
      position += 1
      continue
    }
    const next = vocabulary.range(dead).end
    const typos = walk.best[walk.letters.length] ?? FAR
    if (typos <= allowed) for (let p = position; p < next; p += 1) visit(vocabulary.codeAt(p), typos)
    position = Math.max(next, position + 1)
  }
}

/** Brings the rows to this term; gives its shortest beginning from which no term can come nearer, if it has one. */
function stepThrough(walk: Walk, term: string): string | undefined {
  let depth = 0
  let isShared = true
  let units = 0
  for (const letter of term) {
    const point = letter.codePointAt(0) ?? 0
    units += letter.length
    isShared &&= walk.letters[depth] === point
    if (!isShared) {
      walk.letters.length = depth
      walk.letters.push(point)
      if (fillRow(walk, depth + 1) > walk.allowed) return term.slice(0, units)
    }
    depth += 1
    if (depth === MAX_DEPTH) break
  }
  walk.letters.length = depth
  return undefined
}

/** Fills row `depth` and returns a distance that no longer beginning can go below. */
function fillRow(walk: Walk, depth: number): number {
  const { word, rows, letters, best, smallest } = walk
  const row = rows[depth] as Uint8Array
  const above = rows[depth - 1] as Uint8Array
  const letter = letters[depth - 1]
  row[0] = depth
  let least = depth
  for (let j = 1; j <= word.length; j += 1) {
    let distance = Math.min(
      (above[j - 1] ?? FAR) + (word[j - 1] === letter ? 0 : 1),
      (above[j] ?? FAR) + 1,
      (row[j - 1] ?? FAR) + 1,
    )
    if (depth > 1 && j > 1 && word[j - 1] === letters[depth - 2] && word[j - 2] === letter) {
      distance = Math.min(distance, (rows[depth - 2]?.[j - 2] ?? FAR) + 1)
    }
    row[j] = distance
    if (distance < least) least = distance
  }
  const isWhole = depth >= word.length && letter === word[word.length - 1]
  best[depth] = Math.min(best[depth - 1] ?? FAR, isWhole ? (row[word.length] ?? FAR) : FAR)
  smallest[depth] = least
  // The next letter may swap with this one, which starts from the row above.
  return Math.min(least, (smallest[depth - 1] ?? FAR) + 1)
}
