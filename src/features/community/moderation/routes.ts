// Routes to the moderation queue, for moderators, and to the position of a project in it, for its members.

import { requireMember } from '#features/basics/access/project-policy.ts'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProject, getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { ClaimView, toClaimView } from '#features/catalogue/reviews/claim-view.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import { accountListRoutes } from './accounts/routes.ts'
import { appealAnswerRoute, appealRoutes } from './appeals/routes.ts'
import { changesRoutes } from './changes-routes.ts'
import { claimNext, claimProject, releaseClaim } from './claim-project.ts'
import { cleanupRoutes } from './cleanup/routes.ts'
import { entryRoutes } from './entries/routes.ts'
import { countQueue, getQueuePlace, listQueue } from './queries.ts'
import { replyRoutes } from './replies/routes.ts'
import { NextProjectRequest, parseFilter, parseQueueQuery, QueueQuery } from './requests.ts'
import { queueStatisticsRoute } from './statistics/routes.ts'
import { takedownRoutes } from './takedown/routes.ts'
import type { TakedownDeps } from './takedown/take-down.ts'
import { listOwnerRecords } from './users/queries.ts'
import { userRecordRoutes } from './users/routes.ts'
import { NextProjectView, QueuePlaceView, type QueueRow, QueueView, toQueuedProjectView } from './views.ts'

type ModerationDeps = TakedownDeps

export function moderationRoutes(app: App, deps: ModerationDeps): void {
  mountInternal(app, (scope) => {
    queueRoute(scope, deps)
    claimRoutes(scope, deps)
    replyRoutes(scope, deps)
    accountListRoutes(scope, deps)
    userRecordRoutes(scope, deps)
    changesRoutes(scope, deps)
    entryRoutes(scope, deps)
    queueStatisticsRoute(scope, deps)
    takedownRoutes(scope, deps)
    appealAnswerRoute(scope, deps)
    cleanupRoutes(scope, deps)
  })
  placeRoute(app, deps)
  appealRoutes(app, deps)
}

function queueRoute(app: App, deps: ModerationDeps): void {
  const { db, taxonomy } = deps
  app.get('/moderation/projects', {
    config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listModerationQueue',
      summary: 'List the projects under review, and those with an open appeal',
      querystring: QueueQuery,
      response: { 200: QueueView },
    },
    handler: async (req) => {
      const { id: viewerId } = requireViewer(req)
      const page = parseQueueQuery(req.query, taxonomy)
      const total = await countQueue(db, page, viewerId)
      const rows = await listQueue(db, page, viewerId)
      return { total, projects: await toViews(deps, rows) }
    },
  })
}

/** Returns the views of rows of the queue, with the records of the owners. */
async function toViews(deps: ModerationDeps, rows: readonly QueueRow[]) {
  const records = await listOwnerRecords(
    deps.db,
    rows.flatMap(({ owner }) => owner ?? []),
  )
  return rows.map((row) => toQueuedProjectView(row, records, deps))
}

function claimRoutes(app: App, deps: ModerationDeps): void {
  const config = { auth: { scope: ['PROJECT_WRITE'] }, role: 'moderator' } as const
  app.put('/moderation/projects/:id/claim', {
    config,
    schema: {
      operationId: 'claimProject',
      summary: 'Claim a project under review',
      description:
        'For 30 minutes. A repeated request extends the claim. A decision ends it. Moderators cannot claim an appeal against their own decision.',
      params: ProjectParams,
      response: { 200: ClaimView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { id } = await getProject(deps, viewer, req.params.id)
      return toClaimView(await claimProject(deps, viewer, id))
    },
  })
  app.delete('/moderation/projects/:id/claim', {
    config,
    schema: { operationId: 'releaseClaim', summary: 'Release a claimed project', params: ProjectParams },
    handler: async (req) => {
      const viewer = requireViewer(req)
      await releaseClaim(deps, viewer, (await getProject(deps, viewer, req.params.id)).id)
    },
  })
  app.post('/moderation/projects/next', {
    config,
    schema: {
      operationId: 'claimNextProject',
      summary: 'Claim the next unclaimed project under review',
      description: 'Concurrent requests claim different projects. Skips appeals against decisions of the caller.',
      body: NextProjectRequest,
      response: { 200: NextProjectView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { sort, ...filter } = parseFilter(req.body, deps.taxonomy)
      const id = await claimNext(deps, viewer, filter, sort)
      if (id === undefined) return { project: null }
      const one = { text: '', loaders: undefined, sort, count: 1, offset: 0, ids: [id] }
      const [project = null] = await toViews(deps, await listQueue(deps.db, one, viewer.id))
      return { project }
    },
  })
}

function placeRoute(app: App, deps: ModerationDeps): void {
  app.get('/v3/project/:id/queue', {
    config: { auth: { scope: ['PROJECT_READ'] }, cache: 'private' },
    schema: {
      operationId: 'getQueuePlace',
      summary: "Get a project's position in the moderation queue",
      description: 'Only for members of the project and moderators.',
      params: ProjectParams,
      response: { 200: QueuePlaceView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      requireMember(viewer, membership)
      return getQueuePlace(deps.db, project.id)
    },
  })
}
