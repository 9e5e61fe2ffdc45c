// Routes to read, edit and delete projects.

import Type, { type TSchema } from 'typebox'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { iconRoutes } from '#features/basics/images/icon-routes.ts'
import { BulkQuery } from '#features/catalogue/projects/edit/requests.ts'
import { isDryRun } from '#lib/dry-run-request.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import { withBody } from '#platform/http/edit-body.ts'
import { expectedRevision, IdsQuery, IfMatch, parseIdList, parseIds } from '#platform/http/query-values.ts'
import { done, Empty } from '#platform/http/responses/declared-responses.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { sendDone, sendDryRun } from '../dry-run/dry-run.ts'
import { lookAtProject } from '../dry-run/look.ts'
import { DryRunQuery, DryRunView } from '../dry-run/views.ts'
import { type CatalogueForms, V3 } from '../forms.ts'
import { checklistRoute } from './checklist/routes.ts'
import { deleteProject } from './edit/delete-project.ts'
import { projectIconOwner } from './edit/icon.ts'
import { ProjectBulkPatch, ProjectPatch } from './edit/requests.ts'
import { updateProject } from './edit/update-project.ts'
import { updateProjects } from './edit/update-projects.ts'
import { galleryRoutes } from './gallery/routes.ts'
import { getProject, getProjectAsMember, listVisibleProjects, peekPublicProject } from './lookup/project-cache.ts'
import { listRandomProjects, RandomQuery } from './lookup/random.ts'
import { similarRoute } from './similar/routes.ts'
import { ProjectCheckView } from './views.ts'

export function projectRoutes(app: App, deps: Deps): void {
  projectReads(app, deps)
  projectEdits(app, deps)
  bulkRoute(app, deps)
  similarRoute(app, deps)
  checklistRoute(app, deps)
  sharedProjectRoutes(app, deps)
}

/** The v2 API has another prefix, another form of projects, and ignores the type of random projects. */
export function projectReads(app: App, deps: Deps, api = V3, randomQuery: TSchema = RandomQuery): void {
  readsByName(app, deps, api)
  randomRoute(app, deps, api, randomQuery)
}

function readsByName(app: App, deps: Deps, { prefix, project: { schema, toJson } }: CatalogueForms): void {
  const config = { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' } as const
  app.get(`${prefix}/project/:id`, {
    config: {
      ...config,
      ready: (name) => {
        const project = peekPublicProject(deps, name)
        return project === undefined ? undefined : toJson(project)
      },
    },
    schema: {
      operationId: 'getProject',
      summary: 'Get a project by ID or slug',
      params: ProjectParams,
      response: { 200: schema },
    },
    handler: async (req, reply) => {
      const { bytes, etag } = toJson(await getProject(deps, req.viewer, req.params.id))
      return sendBytes(reply, bytes, etag)
    },
  })
  app.get(`${prefix}/projects`, {
    config,
    schema: {
      operationId: 'listProjects',
      summary: 'Get projects by ID or slug',
      querystring: IdsQuery,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) => {
      const projects = await listVisibleProjects(deps, req.viewer, parseIds(req.query.ids))
      return sendList(reply, await convertInPieces(projects, toJson))
    },
  })
  app.get(`${prefix}/project/:id/check`, {
    config,
    schema: {
      operationId: 'checkProject',
      summary: 'Check whether a project with an ID or slug exists',
      description: 'Returns the ID of the project.',
      params: ProjectParams,
      response: { 200: ProjectCheckView },
    },
    handler: async (req) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      return { id }
    },
  })
}

function projectEdits(app: App, deps: Deps): void {
  app.patch('/v3/project/:id', {
    attachValidation: true,
    config: { auth: { scope: ['PROJECT_WRITE'] }, limitedTokens: 'resource' },
    schema: {
      operationId: 'updateProject',
      summary: 'Edit a project',
      params: ProjectParams,
      querystring: DryRunQuery,
      headers: IfMatch,
      body: ProjectPatch,
      response: { 200: DryRunView, 204: Empty },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      let id = ''
      return withBody(req, ProjectPatch, async (patch: ProjectPatch, found) => {
        const run = async (using: Deps): Promise<void> => {
          const { project, membership } = await getProjectAsMember(using, viewer, req.params.id)
          id = project.id
          const revision = found === undefined ? expectedRevision(req) : undefined
          await updateProject(using, viewer, { project, membership, patch, found, revision })
        }
        if (isDryRun(req)) {
          const look = lookAtProject(() => id)
          return sendDryRun(reply, deps, run, look)
        }
        await run(deps)
        return done(reply)
      })
    },
  })
}

/** The routes that the v2 API has too, with another `prefix`. */
export function sharedProjectRoutes(app: App, deps: Deps, prefix = '/v3'): void {
  iconRoutes(app, deps, projectIconOwner(deps), prefix)
  galleryRoutes(app, deps, prefix)
  app.delete(`${prefix}/project/:id`, {
    config: { auth: { scope: ['PROJECT_DELETE'] }, limitedTokens: 'resource' },
    schema: {
      operationId: 'deleteProject',
      summary: 'Delete a project with its versions, files and images',
      params: ProjectParams,
      querystring: DryRunQuery,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      return sendDone(reply, deps, (using) => deleteProject(using, viewer, { project, membership }))
    },
  })
}

function bulkRoute(app: App, deps: Deps): void {
  app.patch('/v3/projects', {
    config: {
      auth: { scope: ['PROJECT_WRITE'] },
      limitedTokens: 'resource',
      errors: ['400 decoding_error', '404 not_found'],
    },
    schema: {
      operationId: 'updateProjects',
      summary: 'Edit the categories and links of several projects in one transaction',
      querystring: BulkQuery,
      body: ProjectBulkPatch,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseIdList(req.query.ids)
      return sendDone(reply, deps, (using) => updateProjects(using, viewer, { ids, patch: req.body }))
    },
  })
}

function randomRoute(app: App, deps: Deps, api: CatalogueForms, querystring: TSchema): void {
  const { prefix, project } = api
  app.get(`${prefix}/projects_random`, {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', withoutPage: 'For other web sites' },
    schema: {
      operationId: 'listRandomProjects',
      summary: 'Get random approved and archived projects, each with the same probability',
      querystring,
      response: { 200: Type.Array(project.schema) },
    },
    handler: async (req, reply) => {
      const query = { count: 1, ...(req.query as Partial<RandomQuery>) }
      return sendList(reply, await convertInPieces(await listRandomProjects(deps, req.viewer, query), project.toJson))
    },
  })
}
