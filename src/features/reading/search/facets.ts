// Parses the legacy parameter `facets`: a JSON array (AND) of arrays (OR) of strings or arrays of strings (AND). A string
// is `field:value`, or a predicate with another operator of the filter language.
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
import { createPredicate, resolveField } from '#ports/search-index/filter/predicate.ts'
import { readQuoted } from '#ports/search-index/filter/tokenize.ts'
import type { Expression } from '#ports/search-index/filter/tree.ts'

const SOURCE: FilterSource = { parameter: 'facets', legacy: true }
const ENTRY = /^\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([A-Za-z_.][A-Za-z0-9_.]*))\s*(:|!=|<=|>=|=|<|>)\s*/u

/**
 * Parses `facets`, a JSON string or an array. Returns undefined for a blank string and for empty arrays.
 * @throws ApiError `invalid_input`; the position counts the entries
 */
export function parseFacets(facets: string | readonly unknown[]): Expression | undefined {
  const json = typeof facets === 'string' ? parseJson(facets) : facets
  if (!Array.isArray(json)) throw filterError(SOURCE, 0, 'Not an array', 'an array of arrays of strings')
  return parseLevel(json, ['and', 'or', 'and'], { entries: 0, bytes: 0 })
}

function parseJson(text: string): unknown {
  checkFilterSize(text, SOURCE)
  if (text.trim() === '') return []
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw filterError(SOURCE, jsonErrorPosition(cause), 'Not JSON', 'an array of arrays of strings')
  }
}

/** Number of entries so far, and their size in bytes. */
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
        'Entry is not a string',
        inner.length > 0 ? 'a string or an array' : 'a string',
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
  if (counter.entries > Math.min(MAX_FILTER_NODES, MAX_FILTER_VALUES))
    throw filterError(SOURCE, position, `More than ${MAX_FILTER_NODES} entries`, 'fewer entries')
  counter.bytes += Buffer.byteLength(text)
  if (counter.bytes > MAX_FILTER_BYTES)
    throw filterError(SOURCE, position, `Entries of more than ${MAX_FILTER_BYTES} bytes in total`, 'fewer entries')
  const match = ENTRY.exec(text)
  const rest = match === null ? '' : text.slice(match[0].length).trimEnd()
  if (match === null || rest.startsWith('[')) return parsePredicate(text, position)
  const name = match[1] ?? match[2] ?? match[3] ?? match[4] ?? ''
  const field = resolveField(name, position, SOURCE)
  const operator = { text: match[5] === ':' ? '=' : (match[5] ?? '='), position }
  return createPredicate(field, operator, [entryValue(rest, position)], SOURCE)
}

/** Without quotes, the value is the rest of the entry, including spaces and brackets. */
function entryValue(rest: string, position: number): { text: string; quoted: boolean; position: number } {
  if (rest === '') throw filterError(SOURCE, position, 'Entry without a value', 'a value')
  if (/^["'`]/u.test(rest)) {
    const token = readQuoted(rest, 0, SOURCE)
    if (token.end === rest.length) return { text: token.text, quoted: true, position }
  }
  return { text: rest, quoted: false, position }
}

/** Parses other predicates of the filter language (`IN`, `EXISTS`). */
function parsePredicate(text: string, position: number): Expression {
  const listForm = text.replace(/^(\s*[\w.]+\s*):/u, '$1=')
  try {
    const expression = parseFilter(listForm, SOURCE)
    if (expression !== undefined) return expression
  } catch {
    // The position in the error would count characters of the entry, but clients expect the position of the entry.
  }
  throw filterError(SOURCE, position, `Invalid entry ${quoted(text)}`, 'field:value')
}

function jsonErrorPosition(cause: unknown): number {
  const position = cause instanceof Error ? /position (\d+)/u.exec(cause.message)?.[1] : undefined
  return Number(position ?? 0)
}
