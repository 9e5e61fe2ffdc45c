// Markdown of people as markup that can do no harm. Synchronous, and as slow as the text is long: pages ask for it by
// markdown.ts, which works in a thread.
import MarkdownIt from 'markdown-it'
import { highlighting } from './highlight.ts'
import { sanitize } from './sanitize.ts'
import { shapeDocument } from './shape.ts'
import { taskLists } from './task-lists.ts'

/** What of a text depends on the page it is shown on. */
export type MarkdownOptions = {
  /** Origins whose pictures are shown. Pictures of others would tell those who reads, and become links. */
  imageOrigins: readonly string[]
  /** Words that the renderer adds, in the language of the page. */
  words: { code: string; table: string; picture: string; video: string; done: string; notDone: string }
}

/** Longer texts are cut here, before anything else. The API takes fewer characters. */
export const MARKDOWN_LENGTH_MAX = 65_536
/** Deeper lists and quotes are shown as text. Also bounds the work on a text that is nothing but nesting. */
const NESTING_MAX = 24

const parser = new MarkdownIt({ html: true, linkify: true, maxNesting: NESTING_MAX })
parser.use(taskLists).use(highlighting)

/** Markup of a text: what the sanitizer allows, with headings from `h2` on. */
export function renderMarkdown(text: string, options: MarkdownOptions): string {
  const unsafe = parser.render(text.slice(0, MARKDOWN_LENGTH_MAX))
  return shapeDocument(sanitize(unsafe, options), options)
}
