// The direction of each block in texts with right-to-left scripts. `dir="auto"` in markup does not work for nested blocks: an
// element ignores children that have the attribute.

const RIGHT_TO_LEFT = '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const HAS_RIGHT_TO_LEFT = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u')
/** Tags and entities before the first letter, which decides the direction. */
const FIRST_LETTER = new RegExp(`(?:<[^<>]*>|&[a-z#0-9]+;|[^\\p{L}<&])*(?:([${RIGHT_TO_LEFT}])|\\p{L})`, 'uy')
const BLOCKS = /<(p|ul|ol|li|h[2-6]|table|td|th|blockquote|summary|dt|dd)(?=[\s>])(?![^<>]* dir=)([^<>]*)>/g
/** Maximum number of characters before the first letter. */
const SEARCHED_MAX = 512

/** Adds the direction of its first letter to each block of sanitized markup. Returns texts without such scripts unchanged. */
export function withDirections(markup: string): string {
  if (!HAS_RIGHT_TO_LEFT.test(markup)) return markup
  return markup.replace(BLOCKS, (tag, name: string, attributes: string, at: number) => {
    const start = at + tag.length
    FIRST_LETTER.lastIndex = 0
    const first = FIRST_LETTER.exec(markup.slice(start, start + SEARCHED_MAX))
    if (first === null) return tag
    return `<${name}${attributes} dir="${first[1] === undefined ? 'ltr' : 'rtl'}">`
  })
}
