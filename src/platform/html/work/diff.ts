// Changes: texts are compared by word, fields side by side.
import { html, type Markup, type Part } from '../html.ts'
import type { PageContext } from '../page-context.ts'

/** One piece of a comparison. */
type Piece = { kind: 'same' | 'added' | 'removed'; text: string }

/** Maximum number of cells of the table that compares two lists. Larger lists are replaced as a whole. */
const CELLS_MAX = 1_000_000

/** Compares two lists and returns their common items, additions and removals in order: the longest common subsequence. */
export function compareLists(before: readonly string[], after: readonly string[]): Piece[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const shortest = Math.min(before.length, after.length) - start
  while (end < shortest && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  const same = (items: readonly string[]): Piece[] => items.map((text) => ({ kind: 'same', text }))
  return [
    ...same(before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ]
}

function compareMiddle(before: readonly string[], after: readonly string[]): Piece[] {
  const width = after.length + 1
  const removed = (text: string): Piece => ({ kind: 'removed', text })
  const added = (text: string): Piece => ({ kind: 'added', text })
  if (before.length * after.length > CELLS_MAX) return [...before.map(removed), ...after.map(added)]
  // lengths[i * width + j]: length of the longest common subsequence of before[i…] and after[j…].
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pieces: Piece[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    const [old = '', now = ''] = [before[i], after[j]]
    if (old === now) {
      pieces.push({ kind: 'same', text: old })
      i += 1
      j += 1
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      pieces.push(removed(old))
      i += 1
    } else {
      pieces.push(added(now))
      j += 1
    }
  }
  return [...pieces, ...before.slice(i).map(removed), ...after.slice(j).map(added)]
}

/** Splits a text into words with the space after them. */
const wordsOf = (text: string): string[] => text.match(/\S+\s*|\s+/gu) ?? []
const paragraphsOf = (text: string): string[] => text.split(/\n+/).filter((paragraph) => paragraph.trim() !== '')

/** Renders the words that differ between two texts. */
export function wordDiff(before: string, after: string): Part {
  const parts: Markup[] = []
  let run: Piece | undefined
  const end = (): void => {
    if (run === undefined) return
    const { kind, text } = run
    // The space after the last word belongs to both texts.
    const [shown, space] = [text.trimEnd(), text.slice(text.trimEnd().length)]
    if (kind === 'same') parts.push(html`${text}`)
    else if (kind === 'added') parts.push(html`<ins>${shown}</ins>${space}`)
    else parts.push(html`<del>${shown}</del>${space}`)
  }
  for (const piece of compareLists(wordsOf(before), wordsOf(after))) {
    if (run?.kind === piece.kind) run = { kind: piece.kind, text: run.text + piece.text }
    else {
      end()
      run = piece
    }
  }
  end()
  return parts
}

/** Renders a long text with its changes by word. Unchanged paragraphs are collapsed. */
export function textDiff(page: PageContext, before: string, after: string): Markup {
  const pieces = compareLists(paragraphsOf(before), paragraphsOf(after))
  const shown: Markup[] = []
  for (let index = 0; index < pieces.length; ) {
    const kind = pieces[index]?.kind
    const run: string[] = []
    while (index < pieces.length && pieces[index]?.kind === kind) {
      run.push(pieces[index]?.text ?? '')
      index += 1
    }
    if (kind === 'same') shown.push(collapsed(page, run))
    else if (kind === 'added') shown.push(html`${run.map((text) => html`<p><ins>${text}</ins></p>`)}`)
    else {
      // A paragraph that was removed and one that was added at the same place are compared by word.
      const pairs = run.map((text) => {
        const next = pieces[index]
        if (next?.kind !== 'added' || !isSimilar(text, next.text)) return html`<p><del>${text}</del></p>`
        index += 1
        return html`<p>${wordDiff(text, next.text)}</p>`
      })
      shown.push(html`${pairs}`)
    }
  }
  return html`<div class="diff" dir="auto">${shown}</div>`
}

/** Whether two paragraphs have at least a third of their words in common. */
function isSimilar(before: string, after: string): boolean {
  const words = new Set(before.split(/\s+/))
  const others = after.split(/\s+/)
  return 3 * others.filter((word) => words.has(word)).length >= others.length
}

function collapsed({ language }: PageContext, paragraphs: readonly string[]): Markup {
  return html`<details><summary>${language.t('work.unchanged', { count: paragraphs.length })}</summary>${paragraphs.map((text) => html`<p>${text}</p>`)}</details>`
}

/** Renders fields with their values before and after. Values are parts, such as the result of `wordDiff`. */
export function fieldDiff(
  page: PageContext,
  of: { caption: string; before: string; after: string; rows: readonly { label: string; before: Part; after: Part }[] },
): Markup {
  const head = [page.language.t('work.field'), of.before, of.after].map((label) => html`<th scope="col">${label}</th>`)
  return html`<div class="list-box"><table class="was"><caption class="vh">${of.caption}</caption><thead><tr>${head}</tr></thead>
<tbody>${of.rows.map(
    ({
      label,
      before,
      after,
    }) => html`<tr><th scope="row">${label}</th><td dir="auto">${before}</td><td dir="auto">${after}</td></tr>
`,
  )}</tbody></table></div>`
}
