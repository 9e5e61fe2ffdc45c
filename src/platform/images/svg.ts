// Makes an SVG from a stranger safe to serve: it is read by a strict walk, and rewritten from what an allow-list knows.
// Nothing of the original markup is copied, so that what a browser parses is what was checked.
import { setImmediate } from 'node:timers/promises'
import { invalidInput } from '#lib/errors.ts'
import { ATTRIBUTES, ELEMENTS, TEXT_ELEMENTS } from './svg-allowed.ts'

const NAMESPACE = 'http://www.w3.org/2000/svg'
const MAX_ELEMENTS = 10_000
const MAX_DEPTH = 64
const MAX_ATTRIBUTES = 64
/** How many elements may be drawn once `use`, patterns, masks and markers are followed. */
const MAX_DRAWN = 100_000

/** A few milliseconds of work. */
const STEPS_AT_ONCE = 1000

const NAME = /[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?/y
const SPACE = /[ \t\r\n]*/y
const EQUALS = /[ \t\r\n]*=[ \t\r\n]*/y
const VALUE = /"[^"<]*"|'[^'<]*'/y
// Skipped, or taken as they are: comments, instructions, a document type without a subset of its own, CDATA, text.
const COMMENT = /<!--[\s\S]*?-->/y
const INSTRUCTION = /<\?[\s\S]*?\?>/y
const DOCTYPE = /<!DOCTYPE[^[<>]*>/y
const CDATA = /<!\[CDATA\[([\s\S]*?)\]\]>/y
const TEXT = /[^<]+/y

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** What has an id: the elements in it that belong to no inner part, itself included, and the ids of what these draw. */
type Part = { id: string; name: string; elements: number; draws: string[] }

type Walk = {
  source: string
  at: number
  output: string[]
  /** The elements that are open, whether each is kept, and the part that its contents belong to. */
  open: { name: string; kept: boolean; holder: Part | undefined }[]
  elements: number
  parts: Map<string, Part>
  /** Ids that style sheets refer to. */
  sheetRefs: Set<string>
  refs: string[]
  drawn: number
  fail: (reason: string) => never
}

/**
 * The cleaned document, UTF-8, root in the SVG namespace. What is not on the lists is left out with all it holds.
 * @throws ApiError `invalid_input` naming `field` when the text is not well-formed, is not SVG, defines entities, or is
 * too large or too nested: 10,000 elements, 64 levels, 100,000 elements drawn.
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
  // Characters that XML forbids end many parsers' good will in many ways.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(walk.source) || !walk.source.isWellFormed())
    walk.fail('contains characters that XML forbids')
  for (let steps = 1; walk.at < walk.source.length; steps += 1) {
    step(walk)
    // A large drawing takes tens of milliseconds, which nobody else should wait for.
    if (steps % STEPS_AT_ONCE === 0) await setImmediate()
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
  if (walk.elements > 0 || take(walk, DOCTYPE) === undefined)
    walk.fail('has a document type with definitions of its own')
}

function openElement(walk: Walk): void {
  walk.at += 1
  const name = take(walk, NAME)?.[0] ?? walk.fail(`is not well-formed at character ${walk.at}`)
  const attributes = takeAttributes(walk, name)
  const empty = walk.source.startsWith('/>', walk.at)
  if (!empty && !walk.source.startsWith('>', walk.at)) walk.fail(`is not well-formed in <${name}>`)
  walk.at += empty ? 2 : 1
  walk.elements += 1
  if (walk.elements > MAX_ELEMENTS) walk.fail(`has more than ${MAX_ELEMENTS} elements`)
  if (walk.open.length >= MAX_DEPTH) walk.fail(`is nested deeper than ${MAX_DEPTH} levels`)
  const parent = walk.open.at(-1)
  if (parent === undefined) {
    if (name !== 'svg' || walk.output.length > 0) walk.fail('has no single root element <svg>')
    if ((attributes.get('xmlns') ?? NAMESPACE) !== NAMESPACE) walk.fail('is not in the SVG namespace')
  }
  // Text elements hold text and spans only: markup in a title is read as HTML by a browser that has the SVG in a page.
  const fits = parent === undefined || !TEXT_ELEMENTS.has(parent.name) || name === 'tspan'
  const kept =
    fits && (parent?.kept ?? true) && ELEMENTS.has(name) && (attributes.get('xmlns') ?? NAMESPACE) === NAMESPACE
  const holder = kept ? writeStart(walk, name, attributes, empty) : undefined
  if (!empty) walk.open.push({ name, kept, holder })
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

/** Writes a kept element's start, and counts what it draws. Returns the part that its contents belong to. */
function writeStart(walk: Walk, name: string, attributes: Map<string, string>, empty: boolean): Part | undefined {
  const parent = walk.open.at(-1)
  const written = parent === undefined ? [`xmlns="${NAMESPACE}"`] : []
  const refs: string[] = []
  for (const [attribute, value] of attributes) {
    // The old spelling of the one reference that a drawing needs.
    const plain = attribute === 'xlink:href' && !attributes.has('href') ? 'href' : attribute
    if (!ATTRIBUTES.has(plain) || !(plain === 'href' ? isLocal(value) : isSafeStyle(value))) continue
    refs.push(...referencesIn(plain, value))
    written.push(`${plain}="${escapeText(value)}"`)
  }
  walk.output.push(`<${[name, ...written].join(' ')}${empty ? '/>' : '>'}`)
  walk.drawn += 1
  walk.refs.push(...refs)
  const holder = holderOf(walk, name, attributes.get('id'), parent?.holder)
  if (holder === undefined) return undefined
  holder.elements += 1
  holder.draws.push(...refs)
  return holder
}

function holderOf(walk: Walk, name: string, id: string | undefined, outer: Part | undefined): Part | undefined {
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
  if (element?.kept) walk.output.push(`</${name}>`)
}

function writeText(walk: Walk, text: string): void {
  const element = walk.open.at(-1)
  if (element === undefined) {
    if (text.trim() !== '') walk.fail('has text outside its root element')
    return
  }
  if (!element.kept || !TEXT_ELEMENTS.has(element.name)) return
  // A sheet in two pieces could hide a word across the cut: each piece must stand alone, closed by a line of its own.
  if (element.name !== 'style') walk.output.push(escapeText(text))
  else if (isSafeStyle(text)) {
    walk.output.push(escapeText(text), '\n')
    for (const id of referencesIn('style', text)) walk.sheetRefs.add(id)
  }
}

/** A reference to a part of the same document. */
function isLocal(value: string): boolean {
  return /^#[A-Za-z_][\w.-]*$/.test(value.trim())
}

const LOCAL_URL = /url\(\s*(["']?)#[A-Za-z_][\w.-]*\1\s*\)/gi

/**
 * Whether a style or presentation value can load nothing and run nothing: references to parts of the same document are
 * the only addresses, and no escapes, comments or rules with `@` are left that could spell another.
 */
function isSafeStyle(value: string): boolean {
  const rest = value.replaceAll(LOCAL_URL, ' ')
  return !/[\\@<]|\/\*|(?:url|src|image|image-set|cross-fade|expression|attr|element)\s*\(|:\/\/|javascript|behavior|-moz-binding/i.test(
    rest,
  )
}

function referencesIn(attribute: string, value: string): string[] {
  if (attribute === 'href') return [value.trim().slice(1)]
  return Array.from(value.matchAll(LOCAL_URL), ([url]) => url.replace(/^url\(\s*["']?#|["']?\s*\)$/gi, ''))
}

/** Refuses documents that draw themselves many times over, or endlessly, by references to references. */
function checkDrawn(walk: Walk): void {
  const known = new Map<string, number>()
  const underway = new Set<string>()
  const costOf = (id: string): number => {
    const before = known.get(id)
    if (before !== undefined) return before
    if (underway.has(id) || underway.size > 4 * MAX_DEPTH)
      return walk.fail('refers to itself, or through too many parts')
    const part = walk.parts.get(id)
    if (part === undefined) return 0
    underway.add(id)
    let cost = part.elements
    for (const drawn of part.draws) cost += costOf(drawn)
    underway.delete(id)
    known.set(id, cost)
    return cost
  }
  let total = walk.drawn
  for (const ref of walk.refs) total += costOf(ref)
  // Which elements a style sheet reaches is not known here. At worst each of its targets (gradients draw nothing) is
  // drawn within each other, once for every element it holds; the usual clip path of one shape multiplies nothing.
  for (const id of walk.sheetRefs) {
    if (!walk.parts.get(id)?.name.endsWith('Gradient')) total *= Math.max(1, costOf(id) - 1)
  }
  if (total > MAX_DRAWN) walk.fail(`draws more than ${MAX_DRAWN} elements by its references`)
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
    return isCharacter ? String.fromCodePoint(code) : walk.fail('names a character that XML forbids')
  })
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
