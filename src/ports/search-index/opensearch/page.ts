// Builds the request for a page of hits, and the response body of Depot from the response of OpenSearch.
import type { SearchAnswer, SearchQuery, Sort } from '../search-index.ts'
import { branchName, type FilterQuery } from './filter-query.ts'
import type { Query } from './text-query.ts'

type Hit = {
  readonly fields: { readonly hit: readonly [string]; readonly usual_version: readonly [string] }
  readonly matched_queries?: readonly string[]
  readonly inner_hits?: Readonly<
    Record<string, { readonly hits: { readonly hits: readonly { readonly sort: readonly [number, string | null] }[] } }>
  >
}

export type SearchResponse = {
  readonly timed_out: boolean
  readonly hits: { readonly total: { readonly value: number }; readonly hits: readonly Hit[] }
  readonly aggregations?: { readonly counts: { readonly buckets: readonly { readonly doc_count: number }[] } }
}

const SORT_FIELDS: Readonly<Record<Sort, string>> = {
  relevance: 'downloads',
  downloads: 'downloads',
  follows: 'follows',
  newest: 'created',
  updated: 'modified',
}

const IS_LIVE: Query = { term: { is_live: true } }

/** Requests a page of the projects that match the text (undefined: all) and the filter. */
export function pageBody(
  text: Query | undefined,
  filter: FilterQuery,
  { sort, offset, limit }: Pick<SearchQuery, 'sort' | 'offset' | 'limit'>,
): object {
  const byClass = sort === 'relevance' && text !== undefined
  return {
    ...matchBody(text, filter),
    from: offset,
    size: limit,
    sort: [
      ...(byClass ? [{ _score: 'desc' }] : []),
      { [SORT_FIELDS[sort]]: 'desc' },
      { freshness: 'desc' },
      { project_id: 'asc' },
    ],
    _source: false,
    stored_fields: ['hit', 'usual_version'],
  }
}

function matchBody(text: Query | undefined, filter: FilterQuery) {
  const query = { bool: { must: text === undefined ? [] : [text], filter: [IS_LIVE, filter.query] } }
  // The score counts the typos, also in other orders.
  return { query, track_scores: text !== undefined, track_total_hits: true }
}

/** Requests the number of hits. */
export function countBody(text: Query | undefined, filter: FilterQuery): object {
  const { query, ...options } = matchBody(text, filter)
  return { query: withoutInnerHits(query), ...options, size: 0 }
}

/** Requests, for each filter, the number of projects that match the text and the filter. */
export function countsBody(text: Query | undefined, filters: readonly FilterQuery[]): object {
  const matches = { bool: { must: text === undefined ? [] : [text], filter: [IS_LIVE] } }
  return {
    query: matches,
    size: 0,
    track_scores: text !== undefined,
    track_total_hits: 1,
    aggs: { counts: { filters: { filters: filters.map(({ query }) => withoutInnerHits(query)) } } },
  }
}

/** Requests whether any project matches the text. */
export function existsBody(text: Query): object {
  return { query: { bool: { filter: [IS_LIVE, text] } }, size: 0, track_total_hits: 1, terminate_after: 1 }
}

function withoutInnerHits(query: unknown): unknown {
  return JSON.parse(JSON.stringify(query, (key, value) => (key === 'inner_hits' ? undefined : value)))
}

/** Converts the response to the result of the port. */
export function toSearchAnswer(
  response: SearchResponse,
  filter: FilterQuery,
  { offset, limit }: SearchQuery,
): SearchAnswer {
  const totalHits = response.hits.total.value
  const hits = response.hits.hits.map((hit) => {
    const version = filter.branches === 0 ? hit.fields.usual_version[0] : versionOf(hit, filter.branches)
    return `{"version_id":${version},"latest_version":${version}${hit.fields.hit[0]}`
  })
  const page = Math.floor(offset / limit) + 1
  const text = `{"hits":[${hits.join(',')}],"page":${page},"hits_per_page":${limit},"total_hits":${totalHits}}`
  return { body: Buffer.from(text), totalHits }
}

/** Returns the first of the versions that match a branch, as JSON. Of several branches, the project must match too. */
function versionOf(hit: Hit, branches: number): string {
  let best: readonly [number, string | null] | undefined
  for (let i = 0; i < branches; i += 1) {
    const name = branchName(i)
    if (branches > 1 && hit.matched_queries?.includes(name) !== true) continue
    const sort = hit.inner_hits?.[name]?.hits.hits[0]?.sort
    if (sort !== undefined && (best === undefined || sort[0] < best[0])) best = sort
  }
  return JSON.stringify(best?.[1] ?? null)
}
