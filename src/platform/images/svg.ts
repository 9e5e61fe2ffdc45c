// Sanitises an untrusted SVG: parses it strictly and writes it again with only the elements and attributes on an
// allow-list. No markup is copied, so a browser parses exactly what was checked.
import { setImmediate } from 'node:timers/promises'
import { invalidInput } from '#lib/errors.ts'
import { escapeText } from '#lib/text/xml.ts'
import { ATTRIBUTES, ELEMENTS, TEXT_ELEMENTS } from './svg-allowed.ts'

const NAMESPACE = 'http://www.w3.org/2000/svg'
const MAX_ELEMENTS = 10_000
const MAX_DEPTH = 64
const MAX_ATTRIBUTES = 64
/** Maximum number of drawn elements, including those drawn through `use`, patterns, masks and markers. */
const MAX_DRAWN = 100_000

/** Number of steps between turns of the event loop: a few milliseconds. */
const STEPS_PER_TURN = 1000

const NAME = /[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?/y
const SPACE = /[ \t\r\n]*/y
const EQUALS = /[ \t\r\n]*=[ \t\r\n]*/y
const VALUE = /"[^"<]*"|'[^'<]*'/y
// Comments, instructions and document types without definitions are skipped; CDATA and text are copied.
const COMMENT = /<!--[\s\S]*?-->/y
const INSTRUCTION = /<\?[\s\S]*?\?>/y
const DOCTYPE = /<!DOCTYPE[^[<>]*>/y
const CDATA = /<!\[CDATA\[([\s\S]*?)\]\]>/y
const TEXT = /[^<]+/y

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Element with an ID: the number of its elements outside inner parts, and the IDs of the parts that these draw. */
type Part = { id: string; name: string; elements: number; draws: string[] }

type Walk = {
  source: string
  at: number
  output: string[]
  /** Open elements, whether each is copied, and the part to which its content belongs. */
  open: { name: string; isCopied: boolean; part: Part | undefined }[]
  elements: number
  parts: Map<string, Part>
  /** Ids that style sheets refer to. */
  sheetRefs: Set<string>
  refs: string[]
  drawn: number
  fail: (reason: string) => never
}

/**
 * Returns the sanitised document. Elements that are not on the lists are removed with their content.
 * @throws ApiError `invalid_input` if the text is not well-formed, is not an SVG, defines entities, or exceeds the limits:
 * 10,000 elements, 64 levels, 100,000 drawn elements.
 */
export async function cleanSvg(source: string, field: string): Promise<string> {
  const walk: Walk = {
    source: source.replace(/^\uFEFF/, ''),
    at: 0,
    output: [],
    open: [],
    elements: 0,
    parts: new Map(),
    sheetRefs: new Set(),
    refs: [],
    drawn: 0,
    fail: (reason) => {
      throw invalidInput(`The SVG ${reason}`, field)
    },
  }
  // Parsers treat characters that XML forbids in different ways.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern detects them
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(walk.source) || !walk.source.isWellFormed())
    walk.fail('contains characters that XML forbids')
  for (let steps = 1; walk.at < walk.source.length; steps += 1) {
    step(walk)
    // A large SVG takes tens of milliseconds, which must not delay other requests.
    if (steps % STEPS_PER_TURN === 0) await setImmediate()
  }
  if (walk.open.length > 0) walk.fail(`does not close <${walk.open.at(-1)?.name}>`)
  if (walk.output.length === 0) walk.fail('has no root element <svg>')
  checkDrawn(walk)
  return walk.output.join('')
}

function take(walk: Walk, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = walk.at
  const match = pattern.exec(walk.source)
  if (match === null) return undefined
  walk.at = pattern.lastIndex
  return match
}

function step(walk: Walk): void {
  const text = take(walk, TEXT)
  const data = text === undefined ? take(walk, CDATA) : undefined
  if (text !== undefined) writeText(walk, decode(walk, text[0]))
  else if (data !== undefined) writeText(walk, data[1] ?? '')
  else if (take(walk, COMMENT) !== undefined || take(walk, INSTRUCTION) !== undefined) return
  else if (walk.source.startsWith('<!DOCTYPE', walk.at)) skipDocumentType(walk)
  else if (walk.source.startsWith('</', walk.at)) closeElement(walk)
  else openElement(walk)
}

function skipDocumentType(walk: Walk): void {
  if (walk.elements > 0 || take(walk, DOCTYPE) === undefined) walk.fail('has a document type with definitions')
}

function openElement(walk: Walk): void {
  const { name, attributes, isEmpty } = takeStartTag(walk)
  walk.elements += 1
  if (walk.elements > MAX_ELEMENTS) walk.fail(`has more than ${MAX_ELEMENTS} elements`)
  if (walk.open.length >= MAX_DEPTH) walk.fail(`is nested deeper than ${MAX_DEPTH} levels`)
  const isSvg = (attributes.get('xmlns') ?? NAMESPACE) === NAMESPACE
  const parent = walk.open.at(-1)
  if (parent === undefined) {
    if (name !== 'svg' || walk.output.length > 0) walk.fail('has no single root element <svg>')
    if (!isSvg) walk.fail('is not in the SVG namespace')
  }
  const isCopied = isSvg && ELEMENTS.has(name) && canContain(parent, name)
  const part = isCopied ? writeStart(walk, name, attributes, isEmpty) : undefined
  if (!isEmpty) walk.open.push({ name, isCopied, part })
}

function takeStartTag(walk: Walk): { name: string; attributes: Map<string, string>; isEmpty: boolean } {
  walk.at += 1
  const name = take(walk, NAME)?.[0] ?? walk.fail(`is not well-formed at character ${walk.at}`)
  const attributes = takeAttributes(walk, name)
  const isEmpty = walk.source.startsWith('/>', walk.at)
  if (!isEmpty && !walk.source.startsWith('>', walk.at)) walk.fail(`is not well-formed in <${name}>`)
  walk.at += isEmpty ? 2 : 1
  return { name, attributes, isEmpty }
}

/** Text elements can contain only text and spans, because a browser parses markup in the title of an inline SVG as HTML. */
function canContain(parent: Walk['open'][number] | undefined, name: string): boolean {
  return parent === undefined || (parent.isCopied && (!TEXT_ELEMENTS.has(parent.name) || name === 'tspan'))
}

function takeAttributes(walk: Walk, element: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (;;) {
    const before = walk.at
    take(walk, SPACE)
    const name = walk.at > before ? take(walk, NAME)?.[0] : undefined
    if (name === undefined) return attributes
    const value = take(walk, EQUALS) === undefined ? undefined : take(walk, VALUE)?.[0]
    if (value === undefined || attributes.has(name)) return walk.fail(`is not well-formed in <${element}>`)
    attributes.set(name, decode(walk, value.slice(1, -1)))
    if (attributes.size > MAX_ATTRIBUTES) walk.fail(`has more than ${MAX_ATTRIBUTES} attributes in <${element}>`)
  }
}

/** Writes a start tag and counts the elements that it draws. Returns the part to which the content belongs. */
function writeStart(walk: Walk, name: string, attributes: Map<string, string>, empty: boolean): Part | undefined {
  const parent = walk.open.at(-1)
  const written = parent === undefined ? [`xmlns="${NAMESPACE}"`] : []
  const refs: string[] = []
  for (const [attribute, value] of attributes) {
    // `xlink:href` is the old name of `href`.
    const plain = attribute === 'xlink:href' && !attributes.has('href') ? 'href' : attribute
    if (!ATTRIBUTES.has(plain) || !(plain === 'href' ? isLocal(value) : isSafeStyle(value))) continue
    refs.push(...referencesIn(plain, value))
    written.push(`${plain}="${escapeText(value)}"`)
  }
  walk.output.push(`<${[name, ...written].join(' ')}${empty ? '/>' : '>'}`)
  walk.drawn += 1
  walk.refs.push(...refs)
  const part = partOf(walk, name, attributes.get('id'), parent?.part)
  if (part === undefined) return undefined
  part.elements += 1
  part.draws.push(...refs)
  return part
}

function partOf(walk: Walk, name: string, id: string | undefined, outer: Part | undefined): Part | undefined {
  if (id === undefined || id === outer?.id) return outer
  const part = walk.parts.get(id) ?? { id, name, elements: 0, draws: [] }
  walk.parts.set(id, part)
  outer?.draws.push(id)
  return part
}

function closeElement(walk: Walk): void {
  walk.at += 2
  const name = take(walk, NAME)?.[0]
  take(walk, SPACE)
  const element = walk.open.pop()
  const closes = name !== undefined && element?.name === name && walk.source.startsWith('>', walk.at)
  if (!closes)
    walk.fail(`closes <${name ?? '?'}> where ${element === undefined ? 'nothing' : `<${element.name}>`} is open`)
  walk.at += 1
  if (element?.isCopied) walk.output.push(`</${name}>`)
}

function writeText(walk: Walk, text: string): void {
  const element = walk.open.at(-1)
  if (element === undefined) {
    if (text.trim() !== '') walk.fail('has text outside its root element')
    return
  }
  if (!element.isCopied || !TEXT_ELEMENTS.has(element.name)) return
  // A forbidden word could be split over two pieces of text, so each piece is checked alone and ends with a line break.
  if (element.name !== 'style') walk.output.push(escapeText(text))
  else if (isSafeStyle(text)) {
    walk.output.push(escapeText(text), '\n')
    for (const id of referencesIn('style', text)) walk.sheetRefs.add(id)
  }
}

/** Returns whether a value is a reference to a part of the same document. */
function isLocal(value: string): boolean {
  return /^#[A-Za-z_][\w.-]*$/.test(value.trim())
}

const LOCAL_URL = /url\(\s*(["']?)#([A-Za-z_][\w.-]*)\1\s*\)/gi

/**
 * Returns whether a style cannot load or run anything: it contains only URLs of parts of the same document, and no escapes,
 * comments or `@` rules, which could hide another URL.
 */
function isSafeStyle(value: string): boolean {
  const rest = value.replaceAll(LOCAL_URL, ' ')
  return !/[\\@<]|\/\*|(?:url|src|image|image-set|cross-fade|expression|attr|element)\s*\(|:\/\/|javascript|behavior|-moz-binding/i.test(
    rest,
  )
}

function referencesIn(attribute: string, value: string): string[] {
  if (attribute === 'href') return [value.trim().slice(1)]
  return Array.from(value.matchAll(LOCAL_URL), ([, , id = '']) => id)
}

/** Rejects documents that draw too many elements, or endlessly, through nested references. */
function checkDrawn(walk: Walk): void {
  const costs = new Map<string, number>()
  const ancestors = new Set<string>()
  const costOf = (id: string): number => {
    const knownCost = costs.get(id)
    if (knownCost !== undefined) return knownCost
    if (ancestors.has(id) || ancestors.size > 4 * MAX_DEPTH)
      return walk.fail('refers to itself, or has too many nested references')
    const part = walk.parts.get(id)
    if (part === undefined) return 0
    ancestors.add(id)
    let cost = part.elements
    for (const drawn of part.draws) cost += costOf(drawn)
    ancestors.delete(id)
    costs.set(id, cost)
    return cost
  }
  let total = walk.drawn
  for (const ref of walk.refs) total += costOf(ref)
  // The elements that a style sheet selects are unknown. In the worst case, each referenced part is drawn inside each
  // other, once per element. Gradients draw nothing, and the usual clip path of one shape multiplies nothing.
  for (const id of walk.sheetRefs) {
    if (!walk.parts.get(id)?.name.endsWith('Gradient')) total *= Math.max(1, costOf(id) - 1)
  }
  if (total > MAX_DRAWN) walk.fail(`draws more than ${MAX_DRAWN} elements through references`)
}

function decode(walk: Walk, text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([A-Za-z]+));?/g, (entity, decimal, hex, name) => {
    if (!entity.endsWith(';')) return walk.fail('has an unfinished entity')
    if (name !== undefined) return ENTITIES[name] ?? walk.fail('uses an entity that XML does not define')
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    const isCharacter =
      code === 9 ||
      code === 10 ||
      code === 13 ||
      (code >= 32 && code < 0xd800) ||
      (code > 0xdfff && code < 0xfffe) ||
      (code > 0xffff && code <= 0x10ffff)
    return isCharacter ? String.fromCodePoint(code) : walk.fail('refers to a character that XML forbids')
  })
}
