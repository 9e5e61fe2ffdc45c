// Routes to the dependencies and dependents of a project.

import { ProjectParams } from '#features/basics/access/requests.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { JsonEntity } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import { readPosition } from '#platform/db/list-position.ts'
import { sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listVersionJson, V3 } from '../../forms.ts'
import { advisoryRoutes } from '../advisories/routes.ts'
import { impactRoutes } from '../impact/routes.ts'
import { DependenciesQuery, DependentsQuery } from '../lookup/list-requests.ts'
import { DependentsView, dependenciesView } from '../views.ts'
import { listDependents } from './dependents.ts'
import { listDependencies } from './project-dependencies.ts'

export function dependencyRoutes(app: App, deps: Deps): void {
  dependencyRoute(app, deps)
  dependentRoute(app, deps)
  impactRoutes(app, deps)
  advisoryRoutes(app, deps)
}

/** The v2 API has another prefix and other forms. */
export function dependencyRoute(app: App, deps: Deps, api = V3): void {
  const { prefix, project, version } = api
  app.get(`${prefix}/project/:id/dependencies`, {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listProjectDependencies',
      summary: 'List the projects and versions on which a project depends, newest first',
      params: ProjectParams,
      querystring: DependenciesQuery,
      response: { 200: dependenciesView(project.schema, version.schema) },
    },
    handler: async (req, reply) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      const { projects, versions } = await listDependencies(deps, req.viewer, id)
      const lists = {
        projects: await convertInPieces(projects, project.toJson),
        versions: await listVersionJson(versions, api, req.query.include_changelog),
      }
      return sendObject(reply, Object.entries(lists))
    },
  })
}

function dependentRoute(app: App, deps: Deps): void {
  app.get('/v3/project/:id/dependents', {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listProjectDependents',
      summary: 'List the projects whose listed versions depend on a project',
      params: ProjectParams,
      querystring: DependentsQuery,
      response: { 200: DependentsView },
    },
    handler: async (req, reply) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      const { limit = 20, offset = 0, sort = 'downloads', type, scope, cursor } = req.query
      const slice = { limit, offset, sort, type, isLatest: scope === 'latest', after: readPosition(cursor) }
      const { dependents, total, next } = await listDependents(deps, id, slice)
      const entityOf = (value: unknown) => new JsonEntity(Buffer.from(JSON.stringify(value)))
      const projects = dependents.map(({ project: { bytes }, types, versions }) => {
        const added = JSON.stringify({ types, dependent_versions: versions }).slice(1)
        return new JsonEntity(Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,${added}`)]))
      })
      return sendObject(reply, Object.entries({ projects, total: entityOf(total), next: entityOf(next) }))
    },
  })
}
