// Search over HTTP, and the operator's order to build the index anew.
import { writing } from '#cache/writing.ts'
import { DoneAnswers, ErrorAnswers } from '#http/answers.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { mountInternal } from '#http/mounts.ts'
import type { App } from '#http/server.ts'
import { parseSearchRequest } from '#search-index/request.ts'
import type { Deps } from '../../deps.ts'
import { requestRebuild } from './changes.ts'
import { SearchBody, SearchQuery, SearchResult } from './views.ts'

type SearchDeps = Pick<Deps, 'db' | 'cache' | 'search'>

const tags = ['search']
const about =
  'Approved and archived projects. Several filters are joined by AND; predicates on versions hold on one and the same ' +
  'version. The answer does not depend on who asks.'

export function searchRoutes(app: App, deps: SearchDeps): void {
  app.get(
    '/v3/search',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'searchProjects',
        summary: 'Search for projects',
        description: about,
        tags,
        querystring: SearchQuery,
        response: { 200: SearchResult, ...ErrorAnswers },
      },
    },
    async (req, reply) => sendBytes(reply, (await deps.search.search(parseSearchRequest(req.query))).body),
  )
  app.post(
    '/v3/search',
    {
      config: { auth: 'public' },
      schema: {
        operationId: 'searchProjectsByBody',
        summary: 'Search for projects with filters too long for an address',
        description: about,
        tags,
        body: SearchBody,
        response: { 200: SearchResult, ...ErrorAnswers },
      },
    },
    async (req, reply) => sendBytes(reply, (await deps.search.search(parseSearchRequest(req.body))).body),
  )
  mountInternal(app, (scope) => rebuildRoutes(scope, deps))
}

function rebuildRoutes(app: App, deps: SearchDeps): void {
  for (const [url, hide] of [
    ['/admin/reindex', false],
    ['/admin/_force_reindex', true],
  ] as const) {
    app.post(
      url,
      {
        config: { auth: 'operator' },
        schema: {
          operationId: 'rebuildSearch',
          summary: 'Build the search index anew, in every process; the old one answers meanwhile',
          tags: ['operator'],
          hide,
          response: DoneAnswers,
        },
      },
      async (_req, reply) => {
        await writing(deps, requestRebuild)
        return reply.status(204).send(null)
      },
    )
  }
}
