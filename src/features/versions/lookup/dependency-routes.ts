// What a project depends on, over HTTP.
import Type from 'typebox'
import { getProject } from '#features/projects/lookup/project-cache.ts'
import { ProjectView } from '#features/projects/views.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { joinJson, joinJsonObject } from '#lib/json-bytes.ts'
import type { Deps } from '#main/deps.ts'
import { IncludeChangelog, VersionView } from '../views.ts'
import { listDependencies } from './project-dependencies.ts'

export function dependencyRoutes(app: App, deps: Deps): void {
  app.get(
    '/v3/project/:id/dependencies',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listProjectDependencies',
        summary: 'Projects and versions that the versions of a project depend on, newest first',
        params: IdParams,
        querystring: Type.Object({ include_changelog: IncludeChangelog }),
        response: {
          200: Type.Object(
            { projects: Type.Array(ProjectView), versions: Type.Array(VersionView) },
            { title: 'ProjectDependencies' },
          ),
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
