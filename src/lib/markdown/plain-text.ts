// Markdown of users as text without markup, for emails and quotations.
import MarkdownIt from 'markdown-it'

/** Deeper nesting is shown as text. */
const NESTING_MAX = 10
const parser = new MarkdownIt({ html: true, maxNesting: NESTING_MAX })
type Token = ReturnType<typeof parser.parse>[number]

/** Returns the text of Markdown: a blank line between blocks, no markup. `withLinks`: adds the URLs of links. */
export function plainTextOf(markdown: string, { withLinks = false } = {}): string {
  const blocks: string[] = []
  let marker = ''
  for (const { type, content, children, info } of parser.parse(markdown, {})) {
    if (type === 'list_item_open') marker = info === '' ? '- ' : `${info}. `
    const text = type === 'inline' ? inline(children ?? [], withLinks) : blockText(type, content)
    if (text.trim() === '') continue
    blocks.push(`${marker}${text.trim()}`)
    marker = ''
  }
  return blocks.join('\n\n')
}

function blockText(type: string, content: string): string {
  if (type === 'fence' || type === 'code_block') return content
  return type === 'html_block' ? content.replaceAll(/<[^<>]*>/g, '') : ''
}

function inline(tokens: readonly Token[], withLinks: boolean): string {
  let href = ''
  let label = ''
  const parts = tokens.map((token) => {
    if (token.type === 'link_open') {
      href = String(token.attrGet('href') ?? '')
      label = ''
    }
    if (token.type === 'link_close') return withLinks && label !== href ? ` (${href})` : ''
    if (token.type === 'softbreak' || token.type === 'hardbreak') return '\n'
    if (token.type === 'html_inline') return ''
    label += token.content
    return token.content
  })
  return parts.join('')
}

/** Times the length of an excerpt: the source that is parsed for it. */
const SOURCE_PER_EXCERPT = 10

/** Returns the start of the text of Markdown in one line, with an ellipsis if the text is longer than `max` characters. */
export function excerptOf(markdown: string, max: number): string {
  const source = markdown.slice(0, max * SOURCE_PER_EXCERPT).toWellFormed()
  const line = plainTextOf(source).replaceAll(/\s+/g, ' ').trim()
  return line.length <= max ? line : `${line.slice(0, max).toWellFormed()}…`
}
