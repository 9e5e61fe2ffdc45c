// Terms within one or two typos of a word. The vocabulary is walked in byte order as if it were a trie: neighbours share
// the rows of the distance table for their common beginning, and a beginning that is already too far skips all its terms.
import { firstLetterCost } from '#ports/search-index/typo-rules.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Longer than any term. */
const MAX_DEPTH = 80
const FAR = 255

type Walk = {
  readonly word: readonly number[]
  readonly allowed: number
  /** Row d: distances between the first d letters of the term and each beginning of the word. */
  readonly rows: readonly Uint8Array[]
  /** The letters of the term at hand, and where each ends among its bytes. */
  readonly letters: Uint32Array
  readonly ends: Uint32Array
  depth: number
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
  // One cell more at the end, so that the band's right neighbour always exists.
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

/** Brings the rows to this term; true when its beginning of `depth` letters is already too far for all under it. */
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

/** The first position after a dead end where the walk may lead on. */
function skip(walk: Walk, vocabulary: Vocabulary, position: number): number {
  const { depth, ends, smallest, allowed } = walk
  const end = ends[depth - 1] ?? 0
  // With a typo left, any other letter in this place may do.
  if (depth < 2 || (smallest[depth - 1] ?? 0) < allowed) return vocabulary.endOfBeginning(position, end)
  const before = ends[depth - 2] ?? 0
  const letter = nextLetter(walk)
  return letter === undefined
    ? vocabulary.endOfBeginning(position, before)
    : vocabulary.firstFrom(position, before, letter)
}

/** With no typo left: the next letter after the one at the end that is right in its place or by a swap. */
function nextLetter({ word, rows, letters, depth, allowed }: Walk): number | undefined {
  const above = rows[depth - 1]
  const aboveThat = rows[depth - 2]
  const last = letters[depth - 1] ?? 0
  let next: number | undefined
  const from = Math.max(1, depth - allowed)
  const to = Math.min(word.length, depth + allowed)
  for (let j = from; j <= to; j += 1) {
    const isRight = (above?.[j - 1] ?? FAR) <= allowed
    const isSwapped = j > 1 && word[j - 1] === letters[depth - 2] && (aboveThat?.[j - 2] ?? FAR) < allowed
    for (const letter of [isRight ? word[j - 1] : undefined, isSwapped ? word[j - 2] : undefined]) {
      if (letter !== undefined && letter > last && (next === undefined || letter < next)) next = letter
    }
  }
  return next
}

/**
 * Fills row `depth` where it can be near enough, and returns a distance that no longer beginning can go below. Cells off
 * the diagonal by more than the typos allowed stay far.
 */
function fillRow(walk: Walk, depth: number): number {
  const { word, rows, letters, best, smallest, allowed } = walk
  const row = rows[depth] as Uint8Array
  const above = rows[depth - 1] as Uint8Array
  const letter = letters[depth - 1]
  const from = Math.max(1, depth - allowed)
  const to = Math.min(word.length, depth + allowed)
  const extra = firstLetterCost(allowed) - 1
  row[from - 1] = from === 1 ? depth + extra : FAR
  let least = row[from - 1] ?? FAR
  for (let j = from; j <= to; j += 1) {
    let distance = Math.min(
      (above[j - 1] ?? FAR) + (word[j - 1] === letter ? 0 : depth === 1 && j === 1 ? 1 + extra : 1),
      (above[j] ?? FAR) + 1,
      (row[j - 1] ?? FAR) + 1,
      FAR,
    )
    if (depth > 1 && j > 1 && word[j - 1] === letters[depth - 2] && word[j - 2] === letter) {
      const cost = depth === 2 && j === 2 ? 1 + extra : 1
      distance = Math.min(distance, (rows[depth - 2]?.[j - 2] ?? FAR) + cost)
    }
    row[j] = distance
    if (distance < least) least = distance
  }
  row[to + 1] = FAR
  if (to < word.length) row[word.length] = FAR
  const isWhole = depth >= word.length && letter === word[word.length - 1]
  best[depth] = Math.min(best[depth - 1] ?? FAR, isWhole ? (row[word.length] ?? FAR) : FAR)
  smallest[depth] = least
  // The next letter may swap with this one, which starts from the row above.
  return Math.min(least, (smallest[depth - 1] ?? FAR) + 1)
}
