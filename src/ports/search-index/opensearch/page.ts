// One page of hits: what is asked of OpenSearch, and the response body out of its answer.
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

export type Found = {
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

/** The page from `offset` on of all that fits `text` (undefined: everything) and the filter. */
export function pageBody(
  text: Query | undefined,
  filter: FilterQuery,
  { sort, offset, limit }: Pick<SearchQuery, 'sort' | 'offset' | 'limit'>,
): object {
  const byClass = sort === 'relevance' && text !== undefined
  return {
    query: { bool: { must: text === undefined ? [] : [text], filter: [IS_LIVE, filter.query] } },
    from: offset,
    size: limit,
    sort: [
      ...(byClass ? [{ _score: 'desc' }] : []),
      { [SORT_FIELDS[sort]]: 'desc' },
      { freshness: 'desc' },
      { project_id: 'asc' },
    ],
    // The typos of a query are counted by its score, whatever the order.
    track_scores: text !== undefined,
    track_total_hits: true,
    _source: false,
    stored_fields: ['hit', 'usual_version'],
  }
}

/** How many fit, and nothing else. */
export function countBody(text: Query | undefined, filter: FilterQuery): object {
  const { query, track_scores } = pageBody(text, filter, { sort: 'relevance', offset: 0, limit: 0 }) as Record<
    string,
    unknown
  >
  return { query: withoutInnerHits(query), track_scores, track_total_hits: true, size: 0 }
}

/** How many of what fits the text fit each of the filters, in their order. */
export function countsBody(text: Query | undefined, filters: readonly FilterQuery[]): object {
  const fitting = { bool: { must: text === undefined ? [] : [text], filter: [IS_LIVE] } }
  return {
    query: fitting,
    size: 0,
    track_scores: text !== undefined,
    track_total_hits: 1,
    aggs: { counts: { filters: { filters: filters.map(({ query }) => withoutInnerHits(query)) } } },
  }
}

/** Whether any project at all fits the text. */
export function existsBody(text: Query): object {
  return { query: { bool: { filter: [IS_LIVE, text] } }, size: 0, track_total_hits: 1, terminate_after: 1 }
}

function withoutInnerHits(query: unknown): unknown {
  return JSON.parse(JSON.stringify(query, (key, value) => (key === 'inner_hits' ? undefined : value)))
}

/** The answer of the port. */
export function toAnswer(found: Found, filter: FilterQuery, { offset, limit }: SearchQuery): SearchAnswer {
  const totalHits = found.hits.total.value
  const hits = found.hits.hits.map((hit) => {
    const version = filter.branches === 0 ? hit.fields.usual_version[0] : versionOf(hit, filter.branches)
    return `{"version_id":${version},"latest_version":${version}${hit.fields.hit[0]}`
  })
  const page = Math.floor(offset / limit) + 1
  const text = `{"hits":[${hits.join(',')}],"page":${page},"hits_per_page":${limit},"total_hits":${totalHits}}`
  return { body: Buffer.from(text), totalHits }
}

/** As JSON, the newest of the versions that the branches found; of several branches those count that hold as a whole. */
function versionOf(hit: Hit, branches: number): string {
  let best: readonly [number, string | null] | undefined
  for (let i = 0; i < branches; i += 1) {
    const name = branchName(i)
    if (branches > 1 && hit.matched_queries?.includes(name) !== true) continue
    const sort = hit.inner_hits?.[name]?.hits.hits[0]?.sort
    if (sort !== undefined && (best === undefined || isBefore(sort, best))) best = sort
  }
  return JSON.stringify(best?.[1] ?? null)
}

/** Newest first, ties by ID. */
function isBefore([at, id]: readonly [number, string | null], other: readonly [number, string | null]): boolean {
  return at > other[0] || (at === other[0] && (id ?? '') < (other[1] ?? ''))
}
