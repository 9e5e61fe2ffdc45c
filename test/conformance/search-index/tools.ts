// Helpers of the conformance suite: small documents, and short functions to index and search them.

import assert from 'node:assert/strict'
import { ApiError } from '#lib/errors.ts'
import type { SearchDocument, SearchVersion } from '#ports/search-index/document.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { parseFilter } from '#ports/search-index/filter/parse.ts'
import { EVERYTHING, type Filter } from '#ports/search-index/filter/tree.ts'
import type { SearchChange, SearchIndex, SearchQuery } from '#ports/search-index/search-index.ts'

type Hit = Record<string, unknown> & { slug: string; version_id: string | null }
type Body = { hits: Hit[]; page: number; hits_per_page: number; total_hits: number }

/** A project with one version; `id` follows from the slug, the name too where none is given. */
export function makeDocument(slug: string, values: Partial<SearchDocument> = {}): SearchDocument {
  return {
    id: slug
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .padEnd(8, '0')
      .slice(0, 8),
    slug,
    name: slug,
    other_names: [],
    summary: 'Nothing said.',
    author: 'somebody',
    author_id: 'AAAAAAAA',
    organization: null,
    organization_id: null,
    license: 'MIT',
    open_source: true,
    downloads: 0,
    follows: 0,
    icon_url: null,
    color: null,
    gallery: [],
    featured_gallery: null,
    date_created: '2024-01-01T00:00:00.000Z',
    date_modified: '2024-01-01T00:00:00.000Z',
    categories: [],
    display_categories: [],
    disclosure_types: [],
    dependencies: [],
    fields: { game_versions: [], environment: [] },
    versions: [makeVersion(`${slug.slice(0, 8)}V1`)],
    ...values,
  }
}

type VersionValues = {
  date?: string
  ordering?: number
  status?: 'listed' | 'archived'
  types?: string[]
  loaders?: string[]
  games?: string[]
}

export function makeVersion(id: string, values: VersionValues = {}): SearchVersion {
  const loaders = values.loaders ?? []
  return {
    id: id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 11),
    date_published: values.date ?? '2024-01-01T00:00:00.000Z',
    ordering: values.ordering ?? null,
    status: values.status ?? 'listed',
    project_types: values.types ?? ['mod'],
    loaders,
    categories: loaders,
    fields: {
      game_versions: values.games ?? [],
      environment: ['unknown'],
      client_side: ['unknown'],
      server_side: ['unknown'],
    },
  }
}

/** A query of which only what matters to a test is given. */
export type Asked = Partial<SearchQuery>

export function toQuery({
  text = '',
  filter = EVERYTHING,
  sort = 'relevance',
  offset = 0,
  limit = 10,
}: Asked): SearchQuery {
  return { text, filter, sort, offset, limit }
}

/** The normal form of a filter, written in the filter language because that is easier to read. */
export function where(filter: string): Filter {
  const expression = parseFilter(filter, { parameter: 'filter', legacy: false })
  return normalize(expression === undefined ? [] : [expression])
}

export type Tools = {
  readonly index: SearchIndex
  readonly put: (...documents: SearchDocument[]) => Promise<void>
  readonly ask: (asked: Asked) => Promise<Body>
  readonly slugs: (asked: Asked) => Promise<string[]>
}
export type Each = (sentence: string, run: (tools: Tools) => Promise<void>) => void

export function toolsFor(index: SearchIndex): Tools {
  let sequence = 0
  const ask = async (asked: Asked): Promise<Body> => {
    const answer = await index.search(toQuery(asked))
    const body = JSON.parse(Buffer.from(answer.body).toString()) as Body
    assert.equal(body.total_hits, answer.totalHits)
    return body
  }
  const put = (...documents: SearchDocument[]) =>
    index.apply(
      documents.map((document): SearchChange => {
        sequence += 1
        return { kind: 'upsert', sequence, document }
      }),
    )
  const slugs = async (asked: Asked) => (await ask(asked)).hits.map((hit) => hit.slug)
  return { index, put, ask, slugs }
}

export function isSearchError(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'search_error'
}
