// Searching in the older API.

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

const { query, index, new_filters, facets, filters, version } = SearchParameters.properties
const SearchQueryV2 = Type.Object({
  query,
  index,
  new_filters,
  facets,
  filters,
  version,
  limit: Clamped('Hits on a page, 1 to 100; 10 unless given'),
  offset: Clamped('Hits skipped, exactly'),
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
          'Approved and archived projects. Several filters are joined by AND. Types, categories, licences and sides are ' +
          'found in any letter case.',
        querystring: SearchQueryV2,
        response: { 200: SearchResultV2 },
      },
    },
    async (req, reply) => {
      const asked = parseSearchRequest(cut(req.query), foldCase)
      return sendBytes(reply, writeResult(asked, await deps.search.search(asked, callerOf(req)), memory))
    },
  )
}

function cut({ limit, offset, ...rest }: Static<typeof SearchQueryV2>) {
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
