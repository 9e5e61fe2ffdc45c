// The legacy `facets` parameter: a JSON array that is a conjunction, of arrays that are disjunctions, of texts or arrays
// of texts that are conjunctions. A text is `field:value`, or a field with any other operator of the filter language.
import {
  checkFilterSize,
  type FilterSource,
  filterError,
  MAX_FILTER_BYTES,
  MAX_FILTER_NODES,
  MAX_FILTER_VALUES,
  quoted,
} from '#ports/search-index/filter/filter-error.ts'
import { parseFilter } from '#ports/search-index/filter/parse.ts'
import { makePredicate, resolveField } from '#ports/search-index/filter/predicate.ts'
import { readQuoted } from '#ports/search-index/filter/tokenize.ts'
import type { Expression } from '#ports/search-index/filter/tree.ts'

const SOURCE: FilterSource = { parameter: 'facets', legacy: true }
const ENTRY = /^\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([A-Za-z_.][A-Za-z0-9_.]*))\s*(:|!=|<=|>=|=|<|>)\s*/u

/**
 * Parses `facets`, as JSON text or as the array itself; blank text and empty arrays are no filter (`undefined`).
 * @throws ApiError `invalid_input`; the position counts entries, in the order written.
 */
export function parseFacets(facets: string | readonly unknown[]): Expression | undefined {
  const json = typeof facets === 'string' ? parseJson(facets) : facets
  if (!Array.isArray(json)) throw filterError(SOURCE, 0, 'Not an array', 'an array of arrays of texts')
  return parseLevel(json, ['and', 'or', 'and'], { entries: 0, bytes: 0 })
}

function parseJson(text: string): unknown {
  checkFilterSize(text, SOURCE)
  if (text.trim() === '') return []
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw filterError(SOURCE, jsonErrorPosition(cause), 'Not JSON', 'an array of arrays of texts')
  }
}

/** Entries read so far, and their bytes. */
type Counter = { entries: number; bytes: number }

function parseLevel(
  items: readonly unknown[],
  kinds: readonly ('and' | 'or')[],
  counter: Counter,
): Expression | undefined {
  const [kind, ...inner] = kinds
  const children: Expression[] = []
  for (const item of items) {
    const isNested = Array.isArray(item) && inner.length > 0
    if (!isNested && typeof item !== 'string') {
      throw filterError(
        SOURCE,
        counter.entries,
        'Entry is not a text',
        inner.length > 0 ? 'a text or an array' : 'a text',
      )
    }
    const child = isNested ? parseLevel(item, inner, counter) : parseEntry(String(item), counter)
    if (child !== undefined) children.push(child)
  }
  return children.length === 0 || kind === undefined ? undefined : { kind, children }
}

function parseEntry(text: string, counter: Counter): Expression {
  const position = counter.entries
  counter.entries += 1
  if (counter.entries > Math.min(MAX_FILTER_NODES, MAX_FILTER_VALUES)) {
    throw filterError(SOURCE, position, `More than ${MAX_FILTER_NODES} entries`, 'fewer entries')
  }
  counter.bytes += Buffer.byteLength(text)
  if (counter.bytes > MAX_FILTER_BYTES) {
    throw filterError(SOURCE, position, `Entries of more than ${MAX_FILTER_BYTES} bytes in all`, 'fewer entries')
  }
  const match = ENTRY.exec(text)
  const rest = match === null ? '' : text.slice(match[0].length).trimEnd()
  if (match === null || rest.startsWith('[')) return parseWords(text, position)
  const name = match[1] ?? match[2] ?? match[3] ?? match[4] ?? ''
  const field = resolveField(name, position, SOURCE)
  const operator = { text: match[5] === ':' ? '=' : (match[5] ?? '='), position }
  return makePredicate(field, operator, [entryValue(rest, position)], SOURCE)
}

/** Unquoted, an entry's value is all of the rest, spaces and brackets included. */
function entryValue(rest: string, position: number): { text: string; quoted: boolean; position: number } {
  if (rest === '') throw filterError(SOURCE, position, 'Entry without a value', 'a value')
  if (/^["'`]/u.test(rest)) {
    const { token, end } = readQuoted(rest, 0, SOURCE)
    if (end === rest.length) return { text: token.text, quoted: true, position }
  }
  return { text: rest, quoted: false, position }
}

/** The forms that are words or lists (`IN`, `EXISTS`): one predicate of the filter language. */
function parseWords(text: string, position: number): Expression {
  const listForm = text.replace(/^(\s*[\w.]+\s*):/u, '$1=')
  try {
    const expression = parseFilter(listForm, SOURCE)
    if (expression !== undefined) return expression
  } catch {
    // The inner position would count characters of one entry; the entry itself is what the client can find.
  }
  throw filterError(SOURCE, position, `Cannot read ${quoted(text)}`, 'field:value')
}

function jsonErrorPosition(cause: unknown): number {
  const position = cause instanceof Error ? /position (\d+)/u.exec(cause.message)?.[1] : undefined
  return Number(position ?? 0)
}
