// The v2 search route.

import Type, { type Static } from 'typebox'
import { parseSearchRequest, SearchParameters } from '#features/operations/search/requests.ts'
import { joinedLength, joinJson } from '#lib/text/json-bytes.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { hitsOf } from '#ports/search-index/hit.ts'
import type { SearchAnswer, SearchQuery } from '#ports/search-index/search-index.ts'
import { Clamped, clamp } from '../requests.ts'
import { caseFolder } from './fold-case.ts'
import { createHitMemory, type HitMemory } from './hit-memory.ts'
import { SearchResultV2 } from './views.ts'

const { query: text, index, new_filters, facets, filters, version } = SearchParameters.properties
const SearchQueryV2 = Type.Object({
  query: text,
  index,
  new_filters,
  facets,
  filters,
  version,
  limit: Clamped('Maximum number of hits, 1 to 100. Default: 10'),
  offset: Clamped('Number of hits to skip. Default: 0'),
})

export function searchRoutesV2(app: App, deps: Pick<Deps, 'search' | 'cache'>): void {
  const foldCase = caseFolder()
  const memory = createHitMemory(deps.cache)
  app.get(
    '/search',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'searchProjectsV2',
        summary: 'Search for projects',
        description:
          'Returns approved and archived projects that match all filters. Types, categories, licences and sides are not ' +
          'case-sensitive.',
        querystring: SearchQueryV2,
        response: { 200: SearchResultV2 },
      },
    },
    async (req, reply) => {
      const query = parseSearchRequest(clampPage(req.query), foldCase)
      return sendBytes(reply, writeResult(query, await deps.search.search(query, callerOf(req)), memory))
    },
  )
}

function clampPage({ limit, offset, ...rest }: Static<typeof SearchQueryV2>) {
  return {
    ...rest,
    limit: clamp(limit, { fallback: 10, min: 1, max: 100 }),
    offset: clamp(offset, { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
  }
}

function writeResult({ offset, limit }: SearchQuery, { body, totalHits }: SearchAnswer, memory: HitMemory): Buffer {
  const hits = hitsOf(body).map((hit) => ({ bytes: memory(hit) }))
  const [before, after] = ['{"hits":', `,"offset":${offset},"limit":${limit},"total_hits":${totalHits}}`]
  const length = joinedLength(hits)
  const whole = Buffer.allocUnsafe(before.length + length + after.length)
  whole.write(before, 'latin1')
  joinJson(hits, whole.subarray(before.length))
  whole.write(after, before.length + length, 'latin1')
  return whole
}
