// Routes for several projects: bulk edit and random choice.
import Type from 'typebox'
import { parseId } from '#lib/ids.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { IdsQuery, parseIds } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { ProjectBulkPatch } from './edit/requests.ts'
import { updateProjects } from './edit/update-projects.ts'
import { listRandomProjects, RandomQuery } from './lookup/random.ts'
import { ProjectView } from './views.ts'

export function catalogueRoutes(app: App, deps: Deps): void {
  bulkRoute(app, deps)
  randomRoute(app, deps)
}

function bulkRoute(app: App, deps: Deps): void {
  app.patch(
    '/v3/projects',
    {
      config: { auth: { scope: ['PROJECT_WRITE'] } },
      schema: {
        operationId: 'updateProjects',
        summary: 'Edit the categories and links of several projects in one transaction',
        querystring: IdsQuery,
        body: ProjectBulkPatch,
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      await updateProjects(deps, requireViewer(req), { ids, patch: req.body })
      return done(reply)
    },
  )
}

function randomRoute(app: App, deps: Deps): void {
  app.get(
    '/v3/projects_random',
    {
      config: { auth: { read: ['PROJECT_READ'] } },
      schema: {
        operationId: 'listRandomProjects',
        summary: 'Get random approved and archived projects, each with the same probability',
        querystring: RandomQuery,
        response: { 200: Type.Array(ProjectView) },
      },
    },
    async (req, reply) => sendList(reply, await listRandomProjects(deps, req.viewer, req.query)),
  )
}
