// Converts the parameters of a search request, from the URL or a JSON body, to a query in normal form.
import Type, { type Static, type TSchema } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { characterCount } from '#lib/text/text-rules.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { parseFilter } from '#ports/search-index/filter/parse.ts'
import type { Expression, Predicate } from '#ports/search-index/filter/tree.ts'
import type { SearchQuery, Sort } from '#ports/search-index/search-index.ts'
import { parseFacets } from './facets.ts'

/** Length of the longest body. The parser enforces the limit of a filter and names the position in its error. */
const FILTER_LENGTH_MAX = 2_097_152
/** In characters; longer than any name with its summary. */
const QUERY_LENGTH_MAX = 1024
const FACETS_MAX = 1024
const LIMIT = { min: 1, max: 100, fallback: 10 }
const OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 }

/** Values of `index`, including two of v2 clients. */
const INDEXES: Readonly<Record<string, Sort>> = {
  relevance: 'relevance',
  downloads: 'downloads',
  follows: 'follows',
  newest: 'newest',
  updated: 'updated',
  date_created: 'newest',
  date_modified: 'updated',
}
const INDEX_NAMES = Object.keys(INDEXES)

const about = {
  query: 'Words to find in names, summaries, slugs and authors; empty matches everything',
  limit: `Maximum number of hits, default ${LIMIT.fallback}`,
  offset: 'Number of hits to skip',
  index: `Sort order, default relevance: ${INDEX_NAMES.join(', ')}`,
  new_filters: 'Filter expression, such as `categories IN [magic, mobs] AND downloads > 1000`',
  facets:
    'Older filter syntax: JSON array of arrays of `field:value`, as a string. The outer array is AND, the inner ones OR: ' +
    '`[["project_types:mod"],["categories:magic","categories:mobs"]]`',
  filters: 'Older name of `new_filters`',
  version: 'Another filter expression, joined by AND',
}

const Filter = (description: string) => Type.Optional(Type.String({ maxLength: FILTER_LENGTH_MAX, description }))
const Limit = Type.Integer({ minimum: LIMIT.min, maximum: LIMIT.max, description: about.limit })
const Offset = Type.Integer({ minimum: OFFSET.min, maximum: OFFSET.max, description: about.offset })

export const SearchParameters = Type.Object({
  query: Type.Optional(Type.String({ maxLength: QUERY_LENGTH_MAX, description: about.query })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
  index: Type.Optional(
    Type.String({ maxLength: 64, describedAs: { enum: ['', ...INDEX_NAMES] }, description: about.index }),
  ),
  new_filters: Filter(about.new_filters),
  facets: Filter(about.facets),
  filters: Filter(about.filters),
  version: Filter(about.version),
})

/** Maximum length of filters in a count, because they are evaluated again for each value. */
const COUNTED_FILTER_LENGTH_MAX = 8192
const CountedFilter = (description: string) =>
  Type.Optional(Type.String({ maxLength: COUNTED_FILTER_LENGTH_MAX, description }))

export const FacetParameters = Type.Object({
  query: Type.Optional(Type.String({ maxLength: QUERY_LENGTH_MAX, description: about.query })),
  new_filters: CountedFilter(about.new_filters),
  facets: CountedFilter(about.facets),
  filters: CountedFilter(about.filters),
  version: CountedFilter(about.version),
})

const SUGGESTION_TEXT_MAX = 256

export const SuggestionParameters = Type.Object({
  query: Type.String({ maxLength: SUGGESTION_TEXT_MAX, description: 'Text that the user has typed' }),
})

const NumberText = Type.String({ maxLength: 20 })
const Text = (maxLength: number, description: string) =>
  Type.Optional(Nullable(Type.String({ maxLength, description })))
/** Accepts all types, and describes the first one only: generators of clients cannot express a choice of simple types. */
const orNull = (types: [TSchema, ...TSchema[]]) =>
  Type.Union([...types, Type.Null()], { describedAs: { anyOf: types.slice(0, 1) } })

export const SearchBody = NamedObject('SearchRequest', {
  query: Text(QUERY_LENGTH_MAX, about.query),
  limit: Type.Optional(orNull([Limit, NumberText])),
  offset: Type.Optional(orNull([Offset, NumberText])),
  index: Type.Optional(Nullable(Type.Enum(['', ...INDEX_NAMES], { description: about.index }))),
  new_filters: Text(FILTER_LENGTH_MAX, about.new_filters),
  facets: Type.Optional(
    orNull([
      Type.String({ maxLength: FILTER_LENGTH_MAX, description: `${about.facets}. The array itself is also accepted` }),
      Type.Array(Type.Unknown(), { maxItems: FACETS_MAX }),
    ]),
  ),
  filters: Text(FILTER_LENGTH_MAX, about.filters),
  version: Text(FILTER_LENGTH_MAX, about.version),
})

/** The parameters as received: numbers as string or number, facets as string or array. Other types are rejected. */
export type SearchRequest = Readonly<Partial<Record<keyof Static<typeof SearchParameters>, unknown>>>

/**
 * Parses a request. `rewrite` can replace each predicate of the filters.
 * @throws ApiError `invalid_input` that names the parameter and, for a filter, the position and the expected token
 */
export function parseSearchRequest(
  request: SearchRequest,
  rewrite: (predicate: Predicate) => Predicate = (predicate) => predicate,
): SearchQuery {
  const query = text(request.query, 'query')
  // Characters beyond U+FFFF count twice in `length`.
  if (query.length > QUERY_LENGTH_MAX && characterCount(query) > QUERY_LENGTH_MAX)
    throw invalidInput(`query must be at most ${QUERY_LENGTH_MAX} characters`, 'query')
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
    offset: integer(request.offset, { name: 'offset', ...OFFSET }),
    limit: integer(request.limit, { name: 'limit', ...LIMIT }),
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
  if (sort === undefined) throw invalidInput(`index must be one of ${INDEX_NAMES.join(', ')}`, 'index')
  return sort
}

function text(value: unknown, name: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw invalidInput(`${name} must be a string`, name)
}

function integer(value: unknown, rule: { name: string; fallback: number; min: number; max: number }): number {
  if (value === undefined || value === null) return rule.fallback
  const isNumeric = typeof value === 'string' && /^[+-]?\d{1,20}$/u.test(value)
  const number = typeof value === 'number' || isNumeric ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number) && number >= rule.min && number <= rule.max) return number
  const range = rule.max === Number.MAX_SAFE_INTEGER ? `of ${rule.min} or more` : `from ${rule.min} to ${rule.max}`
  throw invalidInput(`${rule.name} must be an integer ${range}`, rule.name)
}
