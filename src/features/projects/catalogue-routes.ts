// Routes over several projects: editing many, choosing at random, and what a project depends on.
import Type from 'typebox'
import { DoneAnswers, ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes, sendList } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { joinJson, joinJsonObject } from '#lib/json-bytes.ts'
import { loadersOf } from '#lib/taxonomy.ts'
import type { Deps } from '../../deps.ts'
import { getStatistics } from '../statistics/queries.ts'
import { IncludeChangelog, VersionView } from '../versions/views.ts'
import { ProjectBulkPatch, updateProjects } from './bulk-update.ts'
import { listDependencies } from './dependencies.ts'
import { getProject, listVisibleProjects } from './project-cache.ts'
import { listRandomProjectIds } from './random.ts'
import { ProjectView } from './views.ts'

const tags = ['projects']

export function catalogueRoutes(app: App, deps: Deps): void {
  bulkRoute(app, deps)
  randomRoute(app, deps)
  dependenciesRoute(app, deps)
}

function bulkRoute(app: App, deps: Deps): void {
  app.patch(
    '/v3/projects',
    {
      config: { auth: { scope: ['PROJECT_WRITE'] } },
      schema: {
        operationId: 'updateProjects',
        summary: 'Edit categories and links of many projects, all of them or none',
        tags,
        querystring: IdsQuery,
        body: ProjectBulkPatch,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      await updateProjects(deps, requireViewer(req), { ids, patch: req.body })
      return reply.status(204).send(null)
    },
  )
}

function randomRoute(app: App, deps: Deps): void {
  const RandomQuery = Type.Object({
    count: Type.Integer({ minimum: 1, maximum: 100, description: 'How many; there may be fewer' }),
    project_type: Type.Optional(Type.String({ maxLength: 64, description: 'Only projects of this type' })),
  })
  app.get(
    '/v3/projects_random',
    {
      config: { auth: { read: ['PROJECT_READ'] } },
      schema: {
        operationId: 'listRandomProjects',
        summary: 'Approved and archived projects at random, each as likely as any other',
        tags,
        querystring: RandomQuery,
        response: { 200: Type.Array(ProjectView), ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      const { count, project_type: projectType } = req.query
      if (projectType !== undefined && !deps.taxonomy.projectTypes.includes(projectType)) {
        throw invalidInput(`There is no project type of the name ${projectType}`, 'project_type')
      }
      const loaders = projectType === undefined ? {} : { loaders: loadersOf(deps.taxonomy, projectType) }
      const { projects: total } = await getStatistics(deps.db)
      const ids = await listRandomProjectIds(deps.db, { count, total, ...loaders }, Math.random)
      return sendList(reply, await listVisibleProjects(deps, req.viewer, ids))
    },
  )
}

function dependenciesRoute(app: App, deps: Deps): void {
  app.get(
    '/v3/project/:id/dependencies',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listProjectDependencies',
        summary: 'Projects and versions that the versions of a project depend on, newest first',
        tags,
        params: IdParams,
        querystring: Type.Object({ include_changelog: IncludeChangelog }),
        response: {
          200: Type.Object(
            { projects: Type.Array(ProjectView), versions: Type.Array(VersionView) },
            { title: 'ProjectDependencies' },
          ),
          ...ErrorAnswers,
        },
      },
    },
    async (req, reply) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      const { projects, versions } = await listDependencies(deps, req.viewer, id)
      const shown = req.query.include_changelog === false ? versions.map(({ brief }) => brief) : versions
      const lists = { projects: { bytes: joinJson(projects) }, versions: { bytes: joinJson(shown) } }
      return sendBytes(reply, joinJsonObject(Object.entries(lists)))
    },
  )
}
