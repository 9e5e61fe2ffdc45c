// Finds terms with one or two typos. Walks the vocabulary in byte order like a trie: adjacent terms share the rows of the
// distance table for their common prefix, and a prefix that is too far skips all its terms.
import { firstLetterCost } from '#ports/search-index/typo-rules.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Longer than any term. */
const MAX_DEPTH = 80
const FAR = 255

type Walk = {
  readonly word: readonly number[]
  readonly allowed: number
  /** Row d: distances between the first d letters of the term and each prefix of the word. */
  readonly rows: readonly Uint8Array[]
  /** Letters of the current term, and the byte offset of the end of each. */
  readonly letters: Uint32Array
  readonly ends: Uint32Array
  depth: number
  /** Smallest distance of a prefix of the term of at most d letters. */
  readonly best: Uint8Array
  /** Smallest distance of each row. */
  readonly smallest: Uint8Array
}

/**
 * Visits term codes with their number of typos: inserted, missing, replaced or swapped letters. A term also matches by a
 * prefix that is at least as long as the word and ends with its last letter, because the user can still be typing.
 */
export function visitTypos(
  vocabulary: Vocabulary,
  word: string,
  allowed: number,
  visit: (code: number, typos: number) => void,
): void {
  const walk = beginWalk(word, allowed)
  const { list } = vocabulary.table
  const end = vocabulary.sorted.length
  for (let position = 0; position < end; ) {
    const code = vocabulary.codeAt(position)
    const isDead = stepThrough(walk, list.bytes, list.offsets[code] ?? 0, list.offsets[code + 1] ?? 0)
    const best = walk.best[walk.depth] ?? FAR
    const next = isDead ? skip(walk, vocabulary, position) : position + 1
    const typos = isDead ? best : Math.min(best, walk.rows[walk.depth]?.[walk.word.length] ?? FAR)
    if (typos <= allowed) for (let p = position; p < next; p += 1) visit(vocabulary.codeAt(p), typos)
    position = next
  }
}

function beginWalk(word: string, allowed: number): Walk {
  const letters = Array.from(word, (letter) => letter.codePointAt(0) ?? 0)
  // One extra cell at the end, so that the cell to the right of the band always exists.
  const rows = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint8Array(letters.length + 2).fill(FAR))
  const extra = firstLetterCost(allowed) - 1
  for (let j = 0; j <= letters.length; j += 1) (rows[0] as Uint8Array)[j] = j === 0 ? 0 : j + extra
  return {
    word: letters,
    allowed,
    rows,
    letters: new Uint32Array(MAX_DEPTH),
    ends: new Uint32Array(MAX_DEPTH),
    depth: 0,
    best: new Uint8Array(MAX_DEPTH + 1).fill(FAR),
    smallest: new Uint8Array(MAX_DEPTH + 1),
  }
}

/** Updates the rows for this term. Returns true if its prefix of `depth` letters is too far for all terms that have it. */
function stepThrough(walk: Walk, bytes: Uint8Array, start: number, end: number): boolean {
  const shared = walk.depth
  let depth = 0
  let isShared = true
  for (let at = start; at < end && depth < MAX_DEPTH; depth += 1) {
    const first = bytes[at] ?? 0
    const width = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    let letter = width === 1 ? first : first & (0x7f >> width)
    for (let k = 1; k < width; k += 1) letter = (letter << 6) | ((bytes[at + k] ?? 0) & 0x3f)
    at += width
    isShared &&= depth < shared && walk.letters[depth] === letter
    if (isShared) continue
    walk.letters[depth] = letter
    walk.ends[depth] = at - start
    if (fillRow(walk, depth + 1) > walk.allowed) {
      walk.depth = depth + 1
      return true
    }
  }
  walk.depth = depth
  return false
}

/** Returns the next position after a prefix that is too far. */
function skip(walk: Walk, vocabulary: Vocabulary, position: number): number {
  const { depth, ends, smallest, allowed } = walk
  const end = ends[depth - 1] ?? 0
  // With a typo left, any other letter could match here.
  if (depth < 2 || (smallest[depth - 1] ?? 0) < allowed) return vocabulary.endOfPrefix(position, end)
  const before = ends[depth - 2] ?? 0
  const letter = nextLetter(walk)
  return letter === undefined
    ? vocabulary.endOfPrefix(position, before)
    : vocabulary.firstFrom(position, before, letter)
}

/** Returns the next letter after the last one that matches exactly or by a swap; for a walk without typos left. */
function nextLetter({ word, rows, letters, depth, allowed }: Walk): number | undefined {
  const above = rows[depth - 1]
  const aboveThat = rows[depth - 2]
  const last = letters[depth - 1] ?? 0
  let next: number | undefined
  const from = Math.max(1, depth - allowed)
  const to = Math.min(word.length, depth + allowed)
  for (let j = from; j <= to; j += 1) {
    const isMatch = (above?.[j - 1] ?? FAR) <= allowed
    const isSwapped = j > 1 && word[j - 1] === letters[depth - 2] && (aboveThat?.[j - 2] ?? FAR) < allowed
    for (const letter of [isMatch ? word[j - 1] : undefined, isSwapped ? word[j - 2] : undefined]) {
      if (letter !== undefined && letter > last && (next === undefined || letter < next)) next = letter
    }
  }
  return next
}

/**
 * Fills row `depth` within the band around the diagonal that the allowed typos can reach. Returns a lower bound for the
 * distances of all longer prefixes.
 */
function fillRow(walk: Walk, depth: number): number {
  const { word, rows, letters, allowed } = walk
  const row = rows[depth] as Uint8Array
  const above = rows[depth - 1] as Uint8Array
  const aboveThat = rows[Math.max(0, depth - 2)] as Uint8Array
  const letter = letters[depth - 1]
  const before = letters[depth - 2]
  const from = Math.max(1, depth - allowed)
  const to = Math.min(word.length, depth + allowed)
  const extra = firstLetterCost(allowed) - 1
  row[from - 1] = from === 1 ? depth + extra : FAR
  let least = row[from - 1] ?? FAR
  for (let j = from; j <= to; j += 1) {
    const replaced = (above[j - 1] ?? FAR) + (word[j - 1] === letter ? 0 : depth + j === 2 ? 1 + extra : 1)
    let distance = Math.min(replaced, (above[j] ?? FAR) + 1, (row[j - 1] ?? FAR) + 1, FAR)
    if (j > 1 && word[j - 1] === before && word[j - 2] === letter)
      distance = Math.min(distance, (aboveThat[j - 2] ?? FAR) + (depth + j === 4 ? 1 + extra : 1))
    row[j] = distance
    if (distance < least) least = distance
  }
  row[to + 1] = FAR
  return finishRow(walk, depth, least)
}

function finishRow({ word, rows, letters, best, smallest, allowed }: Walk, depth: number, least: number): number {
  const row = rows[depth] as Uint8Array
  if (depth + allowed < word.length) row[word.length] = FAR
  const isWhole = depth >= word.length && letters[depth - 1] === word[word.length - 1]
  best[depth] = Math.min(best[depth - 1] ?? FAR, isWhole ? (row[word.length] ?? FAR) : FAR)
  smallest[depth] = least
  // The next letter can be swapped with this one, which starts from the row above.
  return Math.min(least, (smallest[depth - 1] ?? FAR) + 1)
}
