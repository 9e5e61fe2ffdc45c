// The template tag that pages are written with: markup is a type of its own, and everything else is escaped.

/** Markup that is safe to send as it is. Only `html`, `attributes` and `trusted` make it. */
export class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** What a template may hold. Objects, dates, promises and `true` are not in it, so that the compiler refuses them. */
export type Part = Markup | string | number | bigint | false | null | undefined | readonly Part[]

/** Where a value stands: in text or a quoted attribute, in one that holds an address, or between attributes. */
type Place = 'text' | 'address' | 'tag'

const places = new WeakMap<TemplateStringsArray, readonly Place[]>()

/**
 * Makes markup of a template. Text is escaped, markup and lists of parts are put in as they are, and `null`,
 * `undefined` and `false` are left out. Addresses in `href`, `src`, `action` and their like lead nowhere when a browser
 * would run them.
 * @throws Error for a value outside quotes in a tag, or inside a script, a style or a comment
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let found = places.get(strings)
  if (found === undefined) {
    found = placesIn(strings)
    places.set(strings, found)
  }
  let text = strings[0] ?? ''
  for (let index = 0; index < parts.length; index += 1) {
    text += textAt(found[index], parts[index]) + (strings[index + 1] ?? '')
  }
  return new Markup(text)
}

/** Text that is markup already. For the output of the sanitizer and of our own drawing code, and for nothing else. */
export function trusted(text: string): Markup {
  return new Markup(text)
}

export type AttributeValue = string | number | boolean | null | undefined

const ADDRESSES = new Set(['href', 'src', 'action', 'formaction', 'poster', 'cite', 'ping', 'data', 'xlink:href'])

/**
 * Attributes with a space before each. `true` gives a name alone; `false`, `null` and `undefined` give nothing.
 * @throws Error for a name that is none, and for `style` and `on…`, which the content policy forbids
 */
export function attributes(values: Readonly<Record<string, AttributeValue>>): Markup {
  let text = ''
  for (const [name, value] of Object.entries(values)) {
    if (!/^[a-z][a-z0-9:_-]*$/i.test(name) || /^(on|style$|srcdoc$)/i.test(name))
      throw new Error(`${name} is no attribute of our pages`)
    if (value === false || value === null || value === undefined) continue
    const escaped = escapeText(String(value))
    if (value === true) text += ` ${name}`
    else text += ` ${name}="${ADDRESSES.has(name.toLowerCase()) ? safeAddress(escaped) : escaped}"`
  }
  return new Markup(text)
}

function textAt(place: Place | undefined, part: Part): string {
  if (place === 'address') return safeAddress(textOf(part))
  if (place === 'tag' && part !== null && part !== undefined && part !== false && !(part instanceof Markup))
    throw new Error('Between attributes a template takes what `attributes` makes, and nothing else')
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
  throw new TypeError(`A template was given ${typeof part}, which is neither text nor markup`)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for element content and quoted attributes. */
export function escapeText(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character) : text
}

const SCHEMES = new Set(['http', 'https', 'mailto', 'otpauth'])

/** An address as it is, or one that leads nowhere when its scheme is not one that pages lead to. */
function safeAddress(escaped: string): string {
  // Browsers leave out control characters and spaces before they look for the scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be left out
  const scheme = /^([^/?#]*?):/.exec(escaped.replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029]/g, ''))?.[1]
  return scheme === undefined || SCHEMES.has(scheme.toLowerCase()) ? escaped : '#'
}

/** Reads the fixed text of a template once and says where its values stand. */
function placesIn(strings: TemplateStringsArray): Place[] {
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
        attribute = /([^\s"'<>/=]+)\s*=\s*$/.exec(string.slice(0, index))?.[1]?.toLowerCase() ?? ''
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

/** Where what is no markup ends. @throws Error when a value comes before that */
function endOf(end: string, string: string, from: number): number {
  const index = string.indexOf(end, from)
  if (index === -1) throw new Error(`A template has a value before ${end}: ${string.slice(from)}`)
  return index
}
