// Markdown of users as Markdown of Discord (https://support.discord.com/hc/articles/210298617): bold, lists, headings, code
// and quotes keep their form. Mentions, links and everything else that Discord would interpret are shown as text.
import MarkdownIt from 'markdown-it'

/** Deeper nesting is shown as text. */
const NESTING_MAX = 10
const parser = new MarkdownIt('commonmark', { html: false, maxNesting: NESTING_MAX }).enable('strikethrough')
type Token = ReturnType<typeof parser.parse>[number]

const ELLIPSIS = '…'
/** Invisible, so that Discord does not see a mention or the end of a code block. */
const ZERO_WIDTH = '\u200b'

/** Discord counts UTF-16 units. A cut pair of surrogates would be invalid. */
export function cut(value: string, max: number): string {
  return value.length <= max ? value : `${value.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`
}

/** Escapes Markdown and mentions, so that Discord shows texts of users as they are. */
export function escaped(value: string): string {
  return value
    .replace(/[\\*_~|>[\]()#\-`<]|:(?=\/\/)/g, (character) => `\\${character}`)
    .replaceAll('@', `@${ZERO_WIDTH}`)
}

/** Returns a text of users with at most `max` characters. Leaves out the blocks after the last one that fits. */
export function toDiscordText(markdown: string, max: number): string {
  const blocks = blocksOf(parser.parse(markdown, {}))
  let text = ''
  for (const block of blocks) {
    const next = text === '' ? block : `${text}\n${block}`
    if (next.length > max - 2) return text === '' ? escaped(cut(markdown, max / 2)) : `${text}\n${ELLIPSIS}`
    text = next
  }
  return text
}

/** Position of a block. `lists`: the number of the next item of each list around it, or a hyphen. */
type Place = { lists: (number | '-')[]; quotes: number; marker: string }

/** Returns the text of each block. */
function blocksOf(tokens: readonly Token[]): string[] {
  const place: Place = { lists: [], quotes: 0, marker: '' }
  const blocks: string[] = []
  let heading = 0
  for (const token of tokens) {
    enterOrLeave(token, place)
    if (token.type === 'heading_open') heading = Number(token.tag.slice(1))
    const text = textOf(token, heading)
    if (token.type === 'heading_close') heading = 0
    if (text === undefined) continue
    const indent = '  '.repeat(Math.max(place.lists.length - 1, 0))
    const first = `${'> '.repeat(Math.min(place.quotes, 1))}${indent}${place.marker}`
    const rest = `${'> '.repeat(Math.min(place.quotes, 1))}${place.lists.length > 0 ? `${indent}  ` : ''}`
    blocks.push(`${first}${text.replaceAll('\n', `\n${rest}`)}`)
    place.marker = ''
  }
  return blocks
}

function enterOrLeave(token: Token, place: Place): void {
  const { type } = token
  if (type === 'bullet_list_open') place.lists.push('-')
  if (type === 'ordered_list_open') place.lists.push(Number(token.attrGet('start') ?? 1))
  if (type === 'bullet_list_close' || type === 'ordered_list_close') place.lists.pop()
  if (type === 'blockquote_open') place.quotes++
  if (type === 'blockquote_close') place.quotes--
  if (type !== 'list_item_open') return
  const number = place.lists.at(-1)
  place.marker = number === '-' || number === undefined ? '- ' : `${number}. `
  if (typeof number === 'number') place.lists[place.lists.length - 1] = number + 1
}

/** Discord has three levels of headings. */
const HEADINGS_MAX = 3

/** Returns the text of a block token; undefined for the start and the end of a block. */
function textOf(token: Token, heading: number): string | undefined {
  if (token.type === 'fence' || token.type === 'code_block') {
    const language = /^[\w+-]{1,20}/.exec(token.info)?.[0] ?? ''
    return `\`\`\`${language}\n${token.content.replaceAll('```', `\`\`${ZERO_WIDTH}\``).trimEnd()}\n\`\`\``
  }
  if (token.type === 'hr') return '⸻'
  if (token.type !== 'inline') return undefined
  const text = inline(token.children ?? [])
  if (heading === 0) return text
  const line = text.replaceAll('\n', ' ')
  return heading <= HEADINGS_MAX ? `${'#'.repeat(heading)} ${line}` : `**${line}**`
}

const MARKS: Readonly<Record<string, string>> = {
  strong_open: '**',
  strong_close: '**',
  em_open: '*',
  em_close: '*',
  s_open: '~~',
  s_close: '~~',
  softbreak: '\n',
  hardbreak: '\n',
}

function inline(tokens: readonly Token[]): string {
  let href = ''
  const parts = tokens.map((token) => {
    const mark = MARKS[token.type]
    if (mark !== undefined) return mark
    if (token.type === 'code_inline') return code(token.content)
    if (token.type === 'image') return escaped(token.content)
    if (token.type === 'link_open') href = String(token.attrGet('href') ?? '')
    // The reader sees where the link of another user leads.
    if (token.type === 'link_close') return ` (${code(href)})`
    return escaped(token.content)
  })
  return parts.join('')
}

const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``
