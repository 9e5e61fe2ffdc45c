// The routes of search, and the operator's request to rebuild the index.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { countFacets } from './facet-counts.ts'
import { loadIndexState } from './index-state.ts'
import { requestRebuild } from './request-rebuild.ts'
import { FacetParameters, parseSearchRequest, SearchBody, SearchParameters, SuggestionParameters } from './requests.ts'
import { searchProjects } from './search-projects.ts'
import { findSuggestions } from './suggestions.ts'
import { FacetCounts, IndexStateView, SearchResult, Suggestions } from './views.ts'

type SearchDeps = Pick<Deps, 'db' | 'dbRead' | 'cache' | 'search' | 'taxonomy' | 'config' | 'now'>

const about =
  'Searches approved and archived projects. Filters are joined by AND. One version must meet all conditions on versions. ' +
  'The result does not depend on the caller.'

export function searchRoutes(app: App, deps: SearchDeps): void {
  app.get('/v3/search', {
    config: { auth: 'public', cache: 'shared', errors: ['500 search_error'] },
    schema: {
      operationId: 'searchProjects',
      summary: 'Search for projects',
      description: about,
      querystring: SearchParameters,
      response: { 200: SearchResult },
    },
    handler: async (req, reply) =>
      sendBytes(reply, (await searchProjects(deps, parseSearchRequest(req.query), callerOf(req))).body),
  })
  app.get('/v3/search/facets', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'countSearchFacets',
      summary: 'Count the hits of a search by category, loader, game version and more',
      description: `${about} Counts each value as an additional condition of the search.`,
      querystring: FacetParameters,
      response: { 200: FacetCounts },
    },
    handler: async (req) => countFacets(deps, parseSearchRequest(req.query), callerOf(req)),
  })
  app.get('/v3/search/suggestions', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'suggestSearch',
      summary: 'Suggest projects, users and tags while a user types',
      description:
        'One inexpensive request for all kinds. Returns only what search and public profiles show; nothing for a query without ' +
        'letters and digits. The response can be 10 seconds old. Wait for a pause of about 150 ms before each request.',
      querystring: SuggestionParameters,
      response: { 200: Suggestions },
    },
    handler: async (req) => findSuggestions(deps, req.query.query, callerOf(req)),
  })
  app.post('/v3/search', {
    config: { auth: 'public', whenReadOnly: 'answers', withoutPage: 'The lists of pages have URLs' },
    schema: {
      operationId: 'searchProjectsByBody',
      summary: 'Search for projects with long filters',
      description: about,
      body: SearchBody,
      response: { 200: SearchResult },
    },
    handler: async (req, reply) =>
      sendBytes(reply, (await searchProjects(deps, parseSearchRequest(req.body), callerOf(req))).body),
  })
}

export function reindexRoutes(app: App, deps: SearchDeps): void {
  mountInternal(app, (scope) => rebuildRoutes(scope, deps), { alsoUnder: ['/v2'] })
}

export function indexStateRoute(app: App, deps: SearchDeps): void {
  mountInternal(app, (scope) =>
    scope.get('/admin/search-index', {
      config: { auth: 'operator' },
      schema: {
        operationId: 'getSearchIndex',
        summary: 'Get the state of the search index, with the progress of a rebuild',
        response: { 200: IndexStateView },
      },
      handler: () => loadIndexState(deps),
    }),
  )
}

function rebuildRoutes(app: App, deps: SearchDeps): void {
  for (const [url, hide] of [
    ['/admin/reindex', false],
    ['/admin/_force_reindex', true],
  ] as const) {
    app.post(url, {
      // A repair, which works also while the instance is read-only.
      config: { auth: 'operator', whenReadOnly: 'answers', errors: ['204'] },
      schema: {
        operationId: 'rebuildSearch',
        summary: 'Rebuild the search index',
        description: 'Searches use the current index until the new one is complete.',
        hide,
      },
      handler: async (req) => {
        await requestRebuild(deps, operatorOf(req))
      },
    })
  }
}
