// Compares two texts: by paragraph, and changed paragraphs by word. The time is bounded for any input.
import { diffArrays } from 'diff'

export const CHANGES = ['same', 'added', 'removed'] as const
export type Change = (typeof CHANGES)[number]
export type TextPart = { change: Change; text: string }

/**
 * Maximum number of added and removed lines, and words of one changed block. Beyond them, the whole block counts as replaced.
 * The time grows with their square: the limit of lines takes at most about 50 ms.
 */
const LINES_MAX = 500
const WORDS_MAX = 200
/** Maximum number of words, in all changed blocks together, that are compared by word. */
const COMPARED_WORDS_MAX = 8000

/** Returns the parts of both texts in reading order. Adjacent parts have different changes. */
export function diffText(before: string, after: string): TextPart[] {
  if (before === after) return after === '' ? [] : [{ change: 'same', text: after }]
  const parts: TextPart[] = []
  let wordsLeft = COMPARED_WORDS_MAX
  for (const block of pairBlocks(diffTokens(linesOf(before), linesOf(after), LINES_MAX))) {
    if (block.same !== undefined) {
      append(parts, { change: 'same', text: block.same })
      continue
    }
    const [removed, added] = [wordsOf(block.removed), wordsOf(block.added)]
    const isComparable = removed.length > 0 && added.length > 0 && removed.length + added.length <= wordsLeft
    if (isComparable) wordsLeft -= removed.length + added.length
    const compared = isComparable ? joinWords(diffTokens(removed, added, WORDS_MAX)) : [block]
    for (const one of compared) {
      if (one.same !== undefined) append(parts, { change: 'same', text: one.same })
      else for (const part of replaced(one.removed, one.added)) append(parts, part)
    }
  }
  return parts
}

/** Returns each line with its line break. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? []
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

function diffTokens(before: string[], after: string[], maxEditLength: number): TextPart[] {
  const changes = diffArrays(before, after, { maxEditLength })
  if (changes === undefined) return replaced(before.join(''), after.join(''))
  return changes.map(({ added, removed, value }) => ({
    change: added ? 'added' : removed ? 'removed' : 'same',
    text: value.join(''),
  }))
}

const replaced = (removed: string, added: string): TextPart[] => [
  { change: 'removed', text: removed },
  { change: 'added', text: added },
]

type Block = { same: string } | { same?: undefined; removed: string; added: string }

/** Joins changes that only white space separates, so that readers see whole phrases and not every second word. */
function joinWords(parts: readonly TextPart[]): Block[] {
  const blocks: Block[] = []
  for (const block of pairBlocks(parts)) {
    const [between, before] = [blocks.at(-1), blocks.at(-2)]
    const joins = block.same === undefined && between?.same?.trim() === '' && before?.same === undefined
    if (joins && before !== undefined && before.same === undefined) {
      blocks.pop()
      before.removed += between.same + block.removed
      before.added += between.same + block.added
    } else blocks.push(block)
  }
  return blocks
}

/** Joins the removed and added tokens between two unchanged blocks. */
function pairBlocks(parts: readonly TextPart[]): Block[] {
  const blocks: Block[] = []
  for (const { change, text } of parts) {
    const last = blocks.at(-1)
    if (change === 'same') blocks.push({ same: text })
    else if (last === undefined || last.same !== undefined) blocks.push({ removed: '', added: '', [change]: text })
    else last[change] += text
  }
  return blocks
}

function append(parts: TextPart[], part: TextPart): void {
  if (part.text === '') return
  const last = parts.at(-1)
  if (last?.change === part.change) last.text += part.text
  else parts.push({ ...part })
}
