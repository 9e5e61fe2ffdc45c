// The moderation queue, for moderators, and each project's place in it, for its members.
import Type from 'typebox'
import { isMember } from '#features/access/project-policy.ts'
import { getProjectAsMember } from '#features/projects/lookup/project-cache.ts'
import { requireViewer } from '#http/auth.ts'
import { mountInternal } from '#http/mounts.ts'
import { IdParams, Offset } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'
import { isModerator } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { countQueue, findPlace, listQueue, type QueueFilter } from './queries.ts'
import { QueuePlaceView, QueueView, toQueuedProjectView } from './views.ts'

type ModerationDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy'>

/** What `project_type` says of projects without a listed version, which have no type. */
const WITHOUT_TYPE = 'none'

const QueueQuery = Type.Object({
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 200, default: 100, description: 'Projects on a page' })),
  offset: Offset,
  sort: Type.Optional(
    Type.Enum(['oldest', 'newest'], { default: 'oldest', description: 'Which come first, by the time of submission' }),
  ),
  query: Type.Optional(Type.String({ maxLength: 256, description: 'A part of the name or slug' })),
  project_type: Type.Optional(Type.String({ maxLength: 64, description: 'A project type, or `none`' })),
})

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
        summary: 'Projects that wait for a review',
        querystring: QueueQuery,
        response: { 200: QueueView },
      },
    },
    async (req) => {
      const { count = 100, offset = 0, sort = 'oldest', query = '', project_type } = req.query
      const filter = { text: query.trim(), loaders: loadersOf(taxonomy, project_type) }
      const total = await countQueue(db, filter)
      const rows = await listQueue(db, { ...filter, sort, count, offset })
      return { total, projects: rows.map((row) => toQueuedProjectView(row, taxonomy)) }
    },
  )
}

/** The loaders that make a project one of this type. @throws ApiError `invalid_input` for an unknown type. */
function loadersOf({ projectTypes, loaders }: Taxonomy, type: string | undefined): QueueFilter['loaders'] {
  if (type === undefined) return undefined
  const named = (fits: (types: readonly string[]) => boolean) =>
    [...loaders.values()].filter((loader) => fits(loader.project_types)).map(({ name }) => name)
  if (type === WITHOUT_TYPE) return { noneOf: named((types) => types.length > 0) }
  if (projectTypes.includes(type)) return { oneOf: named((types) => types.includes(type)) }
  throw invalidInput(`project_type must be one of ${[...projectTypes, WITHOUT_TYPE].join(', ')}`, 'project_type')
}

function placeRoute(app: App, deps: ModerationDeps): void {
  app.get(
    '/v3/project/:id/queue',
    {
      config: { auth: { scope: ['PROJECT_READ'] }, cache: 'private' },
      schema: {
        operationId: 'getQueuePlace',
        summary: "A project's place in the moderation queue",
        description: 'For its members and for moderators.',
        params: IdParams,
        response: { 200: QueuePlaceView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are no member of this project')
      return findPlace(deps.db, project.id)
    },
  )
}
