// From the parameters of a search request, as query text or as the keys of a JSON body, to a query in normal form.
import { invalidInput } from '#lib/errors.ts'
import { normalize } from '#search-index/filter/normalize.ts'
import { parseFilter } from '#search-index/filter/parse.ts'
import type { Expression, Predicate } from '#search-index/filter/tree.ts'
import type { SearchQuery, Sort } from '#search-index/search-index.ts'
import { parseFacets } from './facets.ts'

/**
 * The parameters as they arrive; numbers may be written as text or number, facets as text or array. Other types are
 * refused.
 */
export type SearchRequest = {
  readonly query?: unknown
  readonly limit?: unknown
  readonly offset?: unknown
  readonly index?: unknown
  readonly new_filters?: unknown
  readonly facets?: unknown
  readonly filters?: unknown
  readonly version?: unknown
}

const INDEXES: Readonly<Record<string, Sort>> = {
  relevance: 'relevance',
  downloads: 'downloads',
  follows: 'follows',
  newest: 'newest',
  date_created: 'newest',
  updated: 'updated',
  date_modified: 'updated',
}

/** Longer than any name with its summary. */
const MAX_QUERY_LENGTH = 1024
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 10

/**
 * `rewrite` gets each predicate of the filters as it was written, and gives what is to stand for it.
 * @throws ApiError `invalid_input` naming the parameter; for a filter with the position and what was expected.
 */
export function parseSearchRequest(
  request: SearchRequest,
  rewrite: (predicate: Predicate) => Predicate = (predicate) => predicate,
): SearchQuery {
  const query = text(request.query, 'query')
  // Characters beyond the first 65,536 take two units each.
  if (query.length > MAX_QUERY_LENGTH && [...query.slice(0, 2 * MAX_QUERY_LENGTH + 1)].length > MAX_QUERY_LENGTH)
    throw invalidInput(`query is longer than ${MAX_QUERY_LENGTH} characters`, 'query')
  const filters = [
    parseFilter(text(request.new_filters, 'new_filters'), { parameter: 'new_filters', legacy: false }),
    parseFilter(text(request.filters, 'filters'), { parameter: 'filters', legacy: true }),
    parseFilter(text(request.version, 'version'), { parameter: 'version', legacy: true }),
    parseFacets(Array.isArray(request.facets) ? request.facets : text(request.facets, 'facets')),
  ]
  return {
    text: query,
    filter: normalize(filters.filter((filter) => filter !== undefined).map((filter) => rewriteEach(filter, rewrite))),
    sort: sortOf(text(request.index, 'index')),
    offset: integer(request.offset, { name: 'offset', fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
    limit: integer(request.limit, { name: 'limit', fallback: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT }),
  }
}

function rewriteEach(expression: Expression, rewrite: (predicate: Predicate) => Predicate): Expression {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { ...expression, children: expression.children.map((child) => rewriteEach(child, rewrite)) }
    case 'not':
      return { ...expression, child: rewriteEach(expression.child, rewrite) }
    default:
      return rewrite(expression)
  }
}

function sortOf(index: string): Sort {
  if (index === '') return 'relevance'
  const sort = Object.hasOwn(INDEXES, index) ? INDEXES[index] : undefined
  if (sort === undefined) throw invalidInput(`index must be one of ${Object.keys(INDEXES).join(', ')}`, 'index')
  return sort
}

function text(value: unknown, name: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw invalidInput(`${name} must be a text`, name)
}

function integer(value: unknown, rule: { name: string; fallback: number; min: number; max: number }): number {
  if (value === undefined || value === null) return rule.fallback
  const isWritten = typeof value === 'string' && /^[+-]?\d{1,20}$/u.test(value)
  const number = typeof value === 'number' || isWritten ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number) && number >= rule.min && number <= rule.max) return number
  const range = rule.max === Number.MAX_SAFE_INTEGER ? `of ${rule.min} or more` : `from ${rule.min} to ${rule.max}`
  throw invalidInput(`${rule.name} must be an integer ${range}`, rule.name)
}
