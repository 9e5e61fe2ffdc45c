// The pages of the operator, such as the terms: their text for everyone, and their versions for operators.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { toView } from '#lib/schema/schema-parts.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { publishPage } from './publish-page.ts'
import { getPage, getPageVersion, listPageVersions } from './queries.ts'
import { NewPageVersion, PageParams, PageVersionParams } from './requests.ts'
import { PageVersionsView, PageView } from './views.ts'

export function pageRoute(app: App, { db }: Pick<Deps, 'db'>): void {
  mountInternal(app, (scope) =>
    scope.get('/page/:kind', {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getInstancePage',
        summary: 'Get the newest version of the rules, terms, privacy policy, imprint or contact of this instance',
        params: PageParams,
        response: { 200: PageView },
      },
      handler: async (req) => toView(PageView, await getPage(db, req.params.kind)),
    }),
  )
}

export function pageVersionRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now'>): void {
  const config = { auth: 'operator' } as const
  mountInternal(app, (scope) => {
    scope.get('/admin/page/:kind', {
      config,
      schema: {
        operationId: 'listInstancePageVersions',
        summary: 'List the versions of a page of this instance, newest first',
        params: PageParams,
        response: { 200: PageVersionsView },
      },
      handler: async (req) => {
        const versions = await listPageVersions(deps.db, req.params.kind)
        return { versions: versions.map((row) => ({ ...row, published: row.published.toISOString() })) }
      },
    })
    scope.get('/admin/page/:kind/version/:version', {
      config,
      schema: {
        operationId: 'getInstancePageVersion',
        summary: 'Get a version of a page of this instance',
        params: PageVersionParams,
        response: { 200: PageView },
      },
      handler: async (req) => toView(PageView, await getPageVersion(deps.db, req.params.kind, req.params.version)),
    })
    scope.put('/admin/page/:kind', {
      config,
      schema: {
        operationId: 'publishInstancePage',
        summary: 'Publish a new version of a page of this instance',
        description:
          'The footer of every page links to the pages that have a text. A blank text removes the page. Earlier versions ' +
          'remain. The newest text again adds no version, unless `asks_again` is true and the newest version does not ask.',
        params: PageParams,
        body: NewPageVersion,
      },
      handler: (req): Promise<void> => publishPage(deps, operatorOf(req), { kind: req.params.kind, ...req.body }),
    })
  })
}
