// The template tag of the pages. Markup is a separate type; everything else is escaped.
import { escapeText } from '#lib/text/xml.ts'

/** Markup that is safe to send. Only `html`, `attributes` and `trusted` create it. */
export class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Value in a template. The compiler rejects objects, dates, promises and `true`. */
export type Part = Markup | string | number | bigint | false | null | undefined | readonly Part[]

/** Position of a value: in text or a quoted attribute, in an attribute with a URL, or between attributes. */
type Position = 'text' | 'address' | 'tag'

const positionsByTemplate = new WeakMap<TemplateStringsArray, readonly Position[]>()

/**
 * Creates markup from a template. Escapes text, inserts markup and lists of parts unchanged, and omits `null`,
 * `undefined` and `false`. Replaces URLs in `href`, `src`, `action` and similar attributes by `#` if a browser would run
 * them.
 * @throws Error for a value outside quotes in a tag, or inside a script, a style or a comment.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let positions = positionsByTemplate.get(strings)
  if (positions === undefined) {
    positions = positionsIn(strings)
    positionsByTemplate.set(strings, positions)
  }
  let text = strings[0] ?? ''
  for (let index = 0; index < parts.length; index += 1)
    text += textAt(positions[index], parts[index]) + (strings[index + 1] ?? '')
  return new Markup(text)
}

/** Marks text as markup. Use it only for the output of the sanitizer and of Depot's drawing code. */
export function trusted(text: string): Markup {
  return new Markup(text)
}

export type AttributeValue = string | number | boolean | null | undefined

const ADDRESSES = new Set(['href', 'src', 'action', 'formaction', 'poster', 'cite', 'ping', 'data', 'xlink:href'])

/**
 * Returns attributes, each after a space. `true` writes only the name; `false`, `null` and `undefined` write nothing.
 * @throws Error for an invalid name, and for `style` and `on…`, which the content policy forbids.
 */
export function attributes(values: Readonly<Record<string, AttributeValue>>): Markup {
  let text = ''
  for (const [name, value] of Object.entries(values)) {
    if (!/^[a-z][a-z0-9:_-]*$/i.test(name) || /^(on|style$|srcdoc$)/i.test(name))
      throw new Error(`Attribute ${name} is not allowed in pages`)
    if (value === false || value === null || value === undefined) continue
    const escaped = escapeText(String(value))
    if (value === true) text += ` ${name}`
    else text += ` ${name}="${ADDRESSES.has(name.toLowerCase()) ? safeAddress(escaped) : escaped}"`
  }
  return new Markup(text)
}

function textAt(position: Position | undefined, part: Part): string {
  if (position === 'address') return safeAddress(textOf(part))
  if (position === 'tag' && part !== null && part !== undefined && part !== false && !(part instanceof Markup))
    throw new Error('Between attributes, a template accepts only the result of `attributes`')
  return textOf(part)
}

function textOf(part: Part): string {
  if (typeof part === 'string') return escapeText(part)
  if (part instanceof Markup) return part.toString()
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'number' || typeof part === 'bigint') return String(part)
  if (Array.isArray(part)) {
    let text = ''
    for (const one of part as readonly Part[]) text += textOf(one)
    return text
  }
  throw new TypeError(`A template cannot contain a value of type ${typeof part}`)
}

const SCHEMES = new Set(['http', 'https', 'mailto', 'otpauth'])

/** Returns the URL, or `#` if its scheme is not allowed in pages. */
function safeAddress(escaped: string): string {
  // Browsers remove control characters and spaces before they parse the scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes control characters
  const scheme = /^([^/?#]*?):/.exec(escaped.replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029]/g, ''))?.[1]
  return scheme === undefined || SCHEMES.has(scheme.toLowerCase()) ? escaped : '#'
}

/** Returns the name of the attribute whose `=` ends a text. */
function attributeBefore(text: string): string {
  if (!text.endsWith('=')) return ''
  const [name = ''] = text
    .slice(0, -1)
    .trimEnd()
    .split(/[\s"'<>/=]/)
    .slice(-1)
  return name.toLowerCase()
}

/** Parses the fixed text of a template and returns the position of each value. */
function positionsIn(strings: TemplateStringsArray): Position[] {
  let isInTag = false
  let element = ''
  let quote = ''
  let attribute = ''
  return strings.slice(0, -1).map((string) => {
    for (let index = 0; index < string.length; index += 1) {
      const character = string[index] ?? ''
      if (quote !== '') {
        if (character === quote) quote = ''
      } else if (isInTag && character === '>') {
        isInTag = false
        if (element === 'script' || element === 'style') index = endOf(`</${element}`, string, index) - 1
      } else if (isInTag && (character === '"' || character === "'")) {
        quote = character
        attribute = attributeBefore(string.slice(0, index).trimEnd())
      } else if (!isInTag && string.startsWith('<!--', index)) {
        index = endOf('-->', string, index)
      } else if (!isInTag && character === '<') {
        element = /^<([/!a-z][a-z0-9-]*)/i.exec(string.slice(index))?.[1]?.toLowerCase() ?? ''
        isInTag = element !== ''
      }
    }
    if (quote !== '') return ADDRESSES.has(attribute) && string.endsWith(quote) ? 'address' : 'text'
    if (isInTag && /=\s*$/.test(string)) throw new Error(`A template has a value without quotes: ${string}`)
    return isInTag ? 'tag' : 'text'
  })
}

/** Returns the index of `end`, the closing delimiter of a script, style or comment. @throws Error if a value comes before it. */
function endOf(end: string, string: string, from: number): number {
  const index = string.indexOf(end, from)
  if (index === -1) throw new Error(`A template has a value before ${end}: ${string.slice(from)}`)
  return index
}
