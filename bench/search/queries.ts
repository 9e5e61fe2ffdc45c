// The queries for the engines, and the catalogue.
import MiniSearch, { type SearchResult } from 'minisearch'
import { parseSearchRequest, type SearchRequest } from '#features/operations/search/requests.ts'
import type { SearchDocument } from '#ports/search-index/document.ts'
import type { SearchQuery } from '#ports/search-index/search-index.ts'
import {
  SAMPLE_CATEGORIES,
  SAMPLE_LOADERS,
  sampleDocuments,
  sampleWords,
} from '#test/support/factories/search-catalogue.ts'

export const SEED = 1
export const VERSIONS = 5

/** The same query for each engine. */
export type Query = {
  readonly name: string
  readonly request: SearchRequest
  readonly sql: string
  readonly values: readonly unknown[]
  readonly mini: MiniQuery
}
export type MiniQuery = {
  readonly text: string
  readonly fuzzy?: number
  readonly keep?: (result: SearchResult) => boolean
  readonly offset?: number
  readonly sort?: 'created'
}

/** The catalogue that all engines are given, perhaps several times. */
export function* batches(projects: number, size: number, rounds = 1): Generator<SearchDocument[]> {
  for (let round = 0; round < rounds; round += 1) {
    let batch: SearchDocument[] = []
    for (const document of sampleDocuments({ seed: SEED, projects, versions: VERSIONS, isSteady: true })) {
      if (batch.push(document) < size) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }
}

/** Returns the fields of a project for the other engines, fewer than the index contains. */
export function flat(document: SearchDocument) {
  const { id, name, slug, author, summary, downloads } = document
  const list = (of: (version: SearchDocument['versions'][number]) => readonly string[]) => [
    ...new Set(document.versions.flatMap(of)),
  ]
  const loaders = list((version) => version.loaders)
  const types = list((version) => version.project_types)
  const created = Date.parse(document.date_created)
  return {
    id,
    name,
    slug,
    author,
    summary,
    downloads,
    created,
    loaders,
    types,
    categories: [...document.categories, ...loaders],
  }
}

/** Returns typical queries: counts, sorts, words, prefixes, typos, deep pages, exclusion. */
export function mixedQueries(): Query[] {
  const words = sampleWords(SEED)
  const [common, middling, second] = [words[3] ?? '', words[60] ?? '', words[150] ?? '']
  const long = words.filter((word) => word.length > 8)[9] ?? ''
  const typo = `${long.slice(0, 4)}x${long.slice(5)}`
  const count = 'select count(*) over (), id from bench_search where '
  const byRank = (tsquery: string) =>
    `${count} text @@ ${tsquery} order by ts_rank(text, ${tsquery}) desc, downloads desc limit 10`
  const has = (column: 'categories' | 'loaders', value: string) => (result: SearchResult) =>
    result[column].includes(value)
  const all = MiniSearch.wildcard as unknown as string
  return [
    {
      name: 'facet count',
      request: { new_filters: 'categories=magic' },
      sql: `${count} facets @> $1 order by downloads desc limit 10`,
      values: [['c=magic']],
      mini: { text: all, keep: has('categories', 'magic') },
    },
    {
      name: 'facet and sort',
      request: { new_filters: 'project_types=mod AND loaders=drift', index: 'newest' },
      sql: `${count} facets @> $1 order by created desc limit 10`,
      values: [['t=mod', 'l=drift']],
      mini: { text: all, keep: (r) => r['types'].includes('mod') && r['loaders'].includes('drift'), sort: 'created' },
    },
    {
      name: 'one common word',
      request: { query: common },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${common}:*`],
      mini: { text: common },
    },
    {
      name: 'one word',
      request: { query: middling },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${middling}:*`],
      mini: { text: middling },
    },
    {
      name: 'two words',
      request: { query: `${middling} ${second}` },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${middling}:* & ${second}:*`],
      mini: { text: `${middling} ${second}` },
    },
    {
      name: 'two letters',
      request: { query: common.slice(0, 2) },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${common.slice(0, 2)}:*`],
      mini: { text: common.slice(0, 2) },
    },
    // PostgreSQL full text does not correct typos, so it searches for the correct word, which is the easier query.
    {
      name: 'typo',
      request: { query: typo },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${long}:*`],
      mini: { text: typo, fuzzy: 2 },
    },
    {
      name: 'deep offset',
      request: { offset: 50_000, index: 'newest' },
      sql: `${count} true order by created desc offset 50000 limit 10`,
      values: [],
      mini: { text: all, offset: 50_000, sort: 'created' },
    },
    {
      name: 'exclusion',
      request: { new_filters: 'categories != magic AND loaders != drift' },
      sql: `${count} not facets && $1 order by downloads desc limit 10`,
      values: [['c=magic', 'l=drift']],
      mini: { text: all, keep: (r) => !r['categories'].includes('magic') && !r['loaders'].includes('drift') },
    },
    {
      name: 'word and facets',
      request: { query: middling, new_filters: 'project_types=mod AND loaders=drift' },
      sql: `${count} text @@ to_tsquery('simple', $1) and facets @> $2 order by downloads desc limit 10`,
      values: [`${middling}:*`, ['t=mod', 'l=drift']],
      mini: { text: middling, keep: (r) => r['types'].includes('mod') && r['loaders'].includes('drift') },
    },
  ]
}

/** The mixed set with other words, categories, loaders and depths. */
export function variation(i: number): SearchQuery[] {
  const words = sampleWords(SEED)
  const word = (rank: number) => words[(rank + i * 7) % words.length] ?? ''
  const long = words.filter((each) => each.length > 8)[i] ?? ''
  const category = SAMPLE_CATEGORIES[i % SAMPLE_CATEGORIES.length]
  const loader = SAMPLE_LOADERS[i % SAMPLE_LOADERS.length]
  const requests: SearchRequest[] = [
    { new_filters: `categories=${category}` },
    { new_filters: `project_types=mod AND loaders=${loader}`, index: 'newest' },
    { query: word(3) },
    { query: word(60) },
    { query: `${word(60)} ${word(150)}` },
    { query: word(3).slice(0, 2) },
    { query: `${long.slice(0, 4)}x${long.slice(5)}` },
    { offset: 1000 * i, index: 'newest' },
    { new_filters: `categories != ${category} AND loaders != ${loader}` },
    { query: word(60), new_filters: `project_types=mod AND loaders=${loader}` },
  ]
  return requests.map((request) => parseSearchRequest(request))
}
