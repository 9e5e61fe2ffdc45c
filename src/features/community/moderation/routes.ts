// Routes to the moderation queue, for moderators, and to the position of a project in it, for its members.
import { requireMember } from '#features/basics/access/project-policy.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { ProjectParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { countQueue, getQueuePlace, listQueue } from './queries.ts'
import { parseQueueQuery, QueueQuery } from './requests.ts'
import { QueuePlaceView, QueueView, toQueuedProjectView } from './views.ts'

type ModerationDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy'>

export function moderationRoutes(app: App, deps: ModerationDeps): void {
  mountInternal(app, (scope) => queueRoute(scope, deps))
  placeRoute(app, deps)
}

function queueRoute(app: App, { db, taxonomy }: ModerationDeps): void {
  app.get(
    '/moderation/projects',
    {
      config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
      schema: {
        operationId: 'listModerationQueue',
        summary: 'List the projects under review',
        querystring: QueueQuery,
        response: { 200: QueueView },
      },
    },
    async (req) => {
      const page = parseQueueQuery(req.query, taxonomy)
      const total = await countQueue(db, page)
      const rows = await listQueue(db, page)
      return { total, projects: rows.map((row) => toQueuedProjectView(row, taxonomy)) }
    },
  )
}

function placeRoute(app: App, deps: ModerationDeps): void {
  app.get(
    '/v3/project/:id/queue',
    {
      config: { auth: { scope: ['PROJECT_READ'] }, cache: 'private' },
      schema: {
        operationId: 'getQueuePlace',
        summary: "Get a project's position in the moderation queue",
        description: 'Only for members of the project and moderators.',
        params: ProjectParams,
        response: { 200: QueuePlaceView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      return getQueuePlace(deps.db, project.id)
    },
  )
}
