// Spoilers as in Discord: `||text||` is hidden until the reader points at it or moves the focus to it.
import type { MarkdownIt as Parser } from 'markdown-it'
import { escapeText } from '#lib/text/xml.ts'

const MARK = '||'
/** The text up to a character that another rule can begin with, as the rule of the library, and `||`. */
const TEXT = /(?:\|+|[^\n!#$%&*+\-:<=>@[\\\]^_`{}~|])(?:[^\n!#$%&*+\-:<=>@[\\\]^_`{}~|]|\|(?!\|))*/y

/** Adds the rule. Like emphasis, a spoiler has no space after its first and before its last mark, so that `a || b || c` is text. */
export function spoilers(parser: Parser): void {
  const { ruler } = parser.inline
  ruler.before('text', 'spoilers', (state, silent) => {
    const { src, pos, posMax } = state
    if (!src.startsWith(MARK, pos) || /[\s|]/.test(src[pos + 2] ?? ' ')) return false
    const end = src.indexOf(MARK, pos + 2)
    if (end === -1 || end + 2 > posMax || /\s/.test(src[end - 1] ?? ' ')) return false
    if (!silent) {
      state.push('spoiler_open', 'span', 1).attrSet('class', 'spoiler')
      state.pos = pos + 2
      state.posMax = end
      state.md.inline.tokenize(state)
      state.push('spoiler_close', 'span', -1)
    }
    state.pos = end + 2
    state.posMax = posMax
    return true
  })
  // The rule of the library does not stop at `|`.
  ruler.at('text', (state, silent) => {
    TEXT.lastIndex = state.pos
    const [found] = TEXT.exec(state.src) ?? []
    if (found === undefined) return false
    const end = Math.min(state.pos + found.length, state.posMax)
    if (!silent) state.pending += state.src.slice(state.pos, end)
    state.pos = end
    return true
  })
}

/** Makes the spoilers of sanitized markup focusable. */
export function focusableSpoilers(markup: string, label: string): string {
  return markup.replaceAll(
    '<span class="spoiler">',
    `<span class="spoiler" tabindex="0" role="group" aria-label="${escapeText(label)}">`,
  )
}
