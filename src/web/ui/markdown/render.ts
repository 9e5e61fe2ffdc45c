// Renders Markdown of users as safe markup. Synchronous and slow for long texts; pages use markdown.ts, which runs it in a
// worker thread.
import MarkdownIt, { type MarkdownIt as Parser } from 'markdown-it'
import { full as emojiNames } from 'markdown-it-emoji'
import footnotes from 'markdown-it-footnote'
import { alerts } from './alerts.ts'
import { highlighting } from './highlight.ts'
import { type MarkdownOptions, sanitize } from './sanitize.ts'
import { shapeDocument } from './shape.ts'
import { spoilers } from './spoilers.ts'

/** Maximum number of characters; the rest is cut off. The API accepts fewer. */
export const MARKDOWN_LENGTH_MAX = 65_536
/** Maximum nesting of lists and quotes; deeper levels are shown as text. Also limits the work on hostile texts. */
const NESTING_MAX = 24

const parser = new MarkdownIt({ html: true, linkify: true, maxNesting: NESTING_MAX })
parser.use(taskLists).use(highlighting).use(alerts).use(spoilers).use(footnotes).use(emojiNames, { shortcuts: {} })
// All references of a footnote have its number; the plugin would show `1:1` for the second one.
parser.renderer.rules['footnote_caption'] = (tokens, index) => `[${Number(tokens[index]?.meta?.['id']) + 1}]`

/** Renders a text as the markup that the sanitizer allows, with headings from `h2` on. */
export function renderMarkdown(text: string, options: MarkdownOptions): string {
  const unsafe = parser.render(text.slice(0, MARKDOWN_LENGTH_MAX))
  return shapeDocument(sanitize(unsafe, options), options)
}

/** Adds a class to the items of task lists (`- [x] done`), which shapeDocument turns into a labelled symbol. */
function taskLists(parser: Parser): void {
  parser.core.ruler.after('inline', 'task-lists', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const first = token.children?.[0]
      const match = first?.type === 'text' ? /^\[([ xX])\]\s+/.exec(first.content) : null
      const item = tokens[index - 2]
      if (first === undefined || match === null || item?.type !== 'list_item_open') continue
      first.content = first.content.slice(match[0].length)
      item.attrJoin('class', match[1] === ' ' ? 'task' : 'task done')
    }
  })
}
