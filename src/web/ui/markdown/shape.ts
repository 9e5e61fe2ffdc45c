// Fits sanitized markup into a page: levels and IDs of headings, and keyboard access to wide elements. The sanitizer
// closes every element and escapes the rest, so regular expressions can find tags.
import { escapeText } from '#lib/text/xml.ts'
import { alertBoxes } from './alerts.ts'
import { withDirections } from './directions.ts'
import { ID_PREFIX, type MarkdownOptions } from './sanitize.ts'
import { focusableSpoilers } from './spoilers.ts'

/** Returns the markup with headings in order from `h2` on, each with an ID. */
export function shapeDocument(sanitized: string, { words, icons }: MarkdownOptions): string {
  const markup = alertBoxes(sanitized, words, icons)
  const scrollable = (label: string) => `tabindex="0" role="group" aria-label="${escapeText(label)}"`
  const shaped = withDirections(focusableSpoilers(namedHeadings(orderedHeadings(markup)), words.spoiler))
    .replaceAll('<pre>', `<pre ${scrollable(words.code)}>`)
    .replace(/<table\b/g, `<div class="scroll" ${scrollable(words.table)}><table`)
    .replaceAll('</table>', '</table></div>')
    .replace(
      // Texts with right-to-left scripts have directions by now.
      /<li class="task( done)?"(?: dir="\w+")?>(?:<p(?: dir="\w+")?>)?/g,
      (tag, done: string | undefined) => tag + tick(done !== undefined, words),
    )
  return withoutPicturesOfLinks(shaped)
}

/** Removes the `picture` around the link or text that replaces an image. */
function withoutPicturesOfLinks(markup: string): string {
  const [before = '', ...pictures] = markup.split('<picture>')
  const shaped = pictures.map((text) => {
    const [sources] = /^(?:\s|<source [^<>]*>)*(?=<(?:a|span)\b)/.exec(text) ?? []
    const end = text.indexOf('</picture>')
    if (sources === undefined || end === -1) return `<picture>${text}`
    return text.slice(sources.length, end) + text.slice(end + '</picture>'.length)
  })
  return before + shaped.join('')
}

function tick(isDone: boolean, { done, notDone }: MarkdownOptions['words']): string {
  return `<span class="tick" role="img" aria-label="${escapeText(isDone ? done : notDone)}"></span>`
}

/** Renumbers headings so that no level is skipped and none equals the heading of the page. */
function orderedHeadings(markup: string): string {
  /** Written levels of the enclosing headings, outermost first. */
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

/** Adds unique IDs made of the words of each heading, as on code hosts. */
function namedHeadings(markup: string): string {
  const usedIds = new Set([...markup.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))
  const counts = new Map<string, number>()
  return markup.replace(/<(h[2-6])>((?:(?!<\/h[2-6]>)[\s\S])*)/g, (tag, name: string, content: string) => {
    const words = content
      .replace(/<[^<>]*>|&[a-z#0-9]+;/g, '')
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
    } while (usedIds.has(id))
    counts.set(words, count)
    usedIds.add(id)
    return `<${name} id="${id}">${content}`
  })
}
