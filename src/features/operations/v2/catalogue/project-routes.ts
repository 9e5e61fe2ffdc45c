// v2 routes that read projects.
import Type from 'typebox'
import {
  getProject,
  listVisibleProjects,
  peekPublicProject,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { listRandomProjects } from '#features/catalogue/projects/lookup/random.ts'
import { listDependencies } from '#features/catalogue/versions/dependencies/project-dependencies.ts'
import { DependenciesQuery } from '#features/catalogue/versions/lookup/list-requests.ts'
import { IdsQuery, ProjectParams, parseIds } from '#platform/http/query-values.ts'
import { sendBytes, sendList, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { Clamped, clamp } from '../requests.ts'
import { listProjectBytes, ProjectV2, projectBytes } from './project-views.ts'
import { listVersionBytes, VersionV2 } from './version-views.ts'

const config = { auth: { read: ['PROJECT_READ'] }, cache: 'public' } as const

export function projectRoutesV2(app: App, deps: Deps): void {
  singleProjects(app, deps)
  projectLists(app, deps)
}

function singleProjects(app: App, deps: Deps): void {
  const peek = (name: string) => {
    const project = peekPublicProject(deps, name)
    return project === undefined ? undefined : projectBytes(deps, project)
  }
  app.get(
    '/project/:id',
    {
      config: { ...config, ready: peek },
      schema: {
        operationId: 'getProjectV2',
        summary: 'Get a project by ID or slug',
        params: ProjectParams,
        response: { 200: ProjectV2 },
      },
    },
    (req, reply) => {
      const warm = peek(req.params.id)
      if (warm !== undefined) return sendBytes(reply, warm.bytes, warm.etag)
      return getProject(deps, req.viewer, req.params.id).then((project) => {
        const { bytes, etag } = projectBytes(deps, project)
        return sendBytes(reply, bytes, etag)
      })
    },
  )
  app.get(
    '/project/:id/check',
    {
      config,
      schema: {
        operationId: 'checkProjectV2',
        summary: 'Check whether a project exists, and get its ID',
        params: ProjectParams,
        response: { 200: Type.Object({ id: Type.String() }) },
      },
    },
    async (req) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      return { id }
    },
  )
  app.get(
    '/project/:id/dependencies',
    {
      config,
      schema: {
        operationId: 'listProjectDependenciesV2',
        summary: 'List the dependencies of a project, newest first',
        params: ProjectParams,
        querystring: DependenciesQuery,
        response: {
          200: Type.Object(
            { projects: Type.Array(ProjectV2), versions: Type.Array(VersionV2) },
            { title: 'ProjectDependencies' },
          ),
        },
      },
    },
    async (req, reply) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      const { projects, versions } = await listDependencies(deps, req.viewer, id)
      const changelogs = req.query.include_changelog !== false
      const lists = {
        projects: await listProjectBytes(deps, projects),
        versions: await listVersionBytes(deps, versions, { changelogs }),
      }
      return sendObject(reply, Object.entries(lists))
    },
  )
}

function projectLists(app: App, deps: Deps): void {
  app.get(
    '/projects',
    {
      config,
      schema: {
        operationId: 'listProjectsV2',
        summary: 'List projects by ID or slug',
        querystring: IdsQuery,
        response: { 200: Type.Array(ProjectV2) },
      },
    },
    async (req, reply) => {
      const projects = await listVisibleProjects(deps, req.viewer, parseIds(req.query.ids))
      return sendList(reply, await listProjectBytes(deps, projects))
    },
  )
  app.get(
    '/projects_random',
    {
      config: { auth: { read: ['PROJECT_READ'] } },
      schema: {
        operationId: 'listRandomProjectsV2',
        summary: 'List random approved and archived projects',
        querystring: Type.Object({ count: Clamped('Maximum number of projects, 1 to 100') }),
        response: { 200: Type.Array(ProjectV2) },
      },
    },
    async (req, reply) => {
      const count = clamp(req.query.count, { fallback: 1, min: 1, max: 100 })
      return sendList(reply, await listProjectBytes(deps, await listRandomProjects(deps, req.viewer, { count })))
    },
  )
}
