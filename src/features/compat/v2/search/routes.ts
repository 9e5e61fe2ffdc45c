// The v2 search route.
import { parseSearchRequest, SearchParameters } from '#features/reading/search/requests.ts'
import { searchProjects } from '#features/reading/search/search-projects.ts'
import { joinedLength, joinJson } from '#lib/text/json-bytes.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { hitsOf } from '#ports/search-index/hit.ts'
import type { SearchAnswer, SearchQuery } from '#ports/search-index/search-index.ts'
import { caseFolder } from './fold-case.ts'
import { createHitMemory, type HitMemory } from './hit-memory.ts'
import { SearchResultV2 } from './views.ts'

export function searchRoutesV2(app: App, deps: Pick<Deps, 'search' | 'cache' | 'config'>): void {
  const foldCase = caseFolder()
  const memory = createHitMemory(deps.cache)
  app.get('/search', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'searchProjectsV2',
      summary: 'Search for projects',
      description:
        'Returns approved and archived projects that match all filters. Types, categories, licences and sides are not ' +
        'case-sensitive.',
      querystring: SearchParameters,
      response: { 200: SearchResultV2 },
    },
    handler: async (req, reply) => {
      const query = parseSearchRequest(req.query, foldCase)
      return sendBytes(reply, writeResult(query, await searchProjects(deps, query, callerOf(req)), memory))
    },
  })
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
