// What is done to a text that is safe already, so that it fits into a page: levels of headings, places to jump to, and
// wide things that a keyboard can scroll. The sanitizer closes what it opens and escapes the rest, so that tags can be
// found by their letters.
import { escapeText } from '../html.ts'
import type { MarkdownOptions } from './render.ts'
import { ID_PREFIX } from './sanitize.ts'

/** Markup of the sanitizer with headings in order from `h2` on, each with an ID. */
export function shapeDocument(markup: string, { words }: MarkdownOptions): string {
  const scrollable = (label: string) => `tabindex="0" role="group" aria-label="${escapeText(label)}"`
  return namedHeadings(orderedHeadings(markup))
    .replaceAll('<pre>', `<pre ${scrollable(words.code)}>`)
    .replace(/<table\b/g, `<div class="scroll" ${scrollable(words.table)}><table`)
    .replaceAll('</table>', '</table></div>')
    .replace(
      /<li class="task( done)?">(<p>)?/g,
      (tag, done: string | undefined) => tag + tick(done !== undefined, words),
    )
    .replace(/<picture>(?:\s|<source [^>]*>)*(<(?:a|span)\b(?:(?!<\/picture>)[\s\S])*)<\/picture>/g, '$1')
}

function tick(isDone: boolean, { done, notDone }: MarkdownOptions['words']): string {
  return `<span class="tick" role="img" aria-label="${escapeText(isDone ? done : notDone)}"></span>`
}

/** No level is left out on the way down, and none is that of the page's own heading. */
function orderedHeadings(markup: string): string {
  /** Levels as they are written, from the outermost of the present place to the innermost. */
  const path: number[] = []
  const open: number[] = []
  return markup.replace(/<(\/?)h([1-6])\b/g, (_tag, slash: string, digit: string) => {
    if (slash === '/') return `</h${open.pop() ?? 2}`
    const level = Number(digit)
    while ((path.at(-1) ?? 0) >= level) path.pop()
    path.push(level)
    const shown = Math.min(path.length + 1, 6)
    open.push(shown)
    return `<h${shown}`
  })
}

/** IDs made of the words, as people know them from code hosts; each is there once. */
function namedHeadings(markup: string): string {
  const taken = new Set([...markup.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))
  const counts = new Map<string, number>()
  return markup.replace(/<(h[2-6])>((?:(?!<\/h[2-6]>)[\s\S])*)/g, (tag, name: string, content: string) => {
    const words = content
      .replace(/<[^>]*>|&[a-z#0-9]+;/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s+/g, '-')
      .slice(0, 64)
    if (words === '') return tag
    let count = counts.get(words) ?? 0
    let id: string
    do {
      id = `${ID_PREFIX}${words}${count === 0 ? '' : `-${count}`}`
      count += 1
    } while (taken.has(id))
    counts.set(words, count)
    taken.add(id)
    return `<${name} id="${id}">${content}`
  })
}
