// Projects: reading them, creating, editing and deleting one.
import Type from 'typebox'
import { DoneAnswers, ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes, sendList } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '../../deps.ts'
import { requireVerifiedEmail } from '../accounts/verified-email.ts'
import { iconRoutes } from '../pictures/icon-routes.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { receiveProjectForm } from './create-form.ts'
import { createProject, precheckProject } from './create-project.ts'
import { deleteProject } from './delete-project.ts'
import { galleryRoutes } from './gallery/routes.ts'
import { projectIconOwner } from './icon.ts'
import { getProject, getProjectAsMember, listVisibleProjects, peekPublicProject } from './project-cache.ts'
import { ProjectData } from './project-data.ts'
import { ProjectPatch } from './project-patch.ts'
import { updateProject } from './update-project.ts'
import { ProjectView } from './views.ts'

const tags = ['projects']

export function projectRoutes(app: App, deps: Deps): void {
  projectReads(app, deps)
  projectWrites(app, deps)
  catalogueRoutes(app, deps)
  iconRoutes(app, deps, projectIconOwner(deps))
  galleryRoutes(app, deps)
}

function projectReads(app: App, deps: Deps): void {
  const config = { auth: { read: ['PROJECT_READ'] }, cache: 'public' } as const
  app.get(
    '/v3/project/:id',
    {
      config,
      schema: {
        operationId: 'getProject',
        summary: 'A project by ID or slug',
        tags,
        params: IdParams,
        response: { 200: ProjectView, ...ErrorAnswers },
      },
    },
    (req, reply) => {
      // The most frequent request of all: answered without a promise when it is warm and public.
      const warm = peekPublicProject(deps, req.params.id)
      if (warm !== undefined) return sendBytes(reply, warm.bytes, warm.etag)
      return getProject(deps, req.viewer, req.params.id).then(({ bytes, etag }) => sendBytes(reply, bytes, etag))
    },
  )
  app.get(
    '/v3/projects',
    {
      config,
      schema: {
        operationId: 'listProjects',
        summary: 'Projects by ID or slug',
        tags,
        querystring: IdsQuery,
        response: { 200: Type.Array(ProjectView), ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      const projects = await listVisibleProjects(deps, req.viewer, parseIds(req.query.ids))
      return sendList(reply, projects)
    },
  )
  app.get(
    '/v3/project/:id/check',
    {
      config,
      schema: {
        operationId: 'checkProject',
        summary: 'Whether an ID or slug is a project, and its ID',
        tags,
        params: IdParams,
        response: { 200: Type.Object({ id: Type.String() }), ...ErrorAnswers },
      },
    },
    async (req) => {
      const { id } = await getProject(deps, req.viewer, req.params.id)
      return { id }
    },
  )
}

function projectWrites(app: App, deps: Deps): void {
  app.register(async (scope: App) => {
    // The form is read by the handler, part by part, and JSON is taken as well for a draft without files.
    scope.addContentTypeParser('multipart/form-data', (_req, _payload, done) => done(null, undefined))
    scope.post(
      '/v3/project',
      {
        config: { auth: { scope: ['PROJECT_CREATE'] }, formData: { schema: ProjectData } },
        schema: {
          operationId: 'createProject',
          summary: 'Create a project, with versions and their files or as a draft without',
          description:
            'multipart/form-data with the part `data` (JSON) first, or the same object as application/json for a draft without files.',
          tags,
          consumes: ['multipart/form-data', 'application/json'],
          response: { 201: ProjectView, ...ErrorAnswers },
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        requireVerifiedEmail(deps, viewer)
        const form = await receiveProjectForm(deps, req, (project) => precheckProject(deps, viewer, project))
        const id = await createProject(deps, viewer, form)
        const project = await getProject(deps, viewer, id)
        return sendBytes(reply.status(201), project.bytes)
      },
    )
  })
  app.patch(
    '/v3/project/:id',
    {
      config: { auth: { scope: ['PROJECT_WRITE'] } },
      schema: {
        operationId: 'updateProject',
        summary: 'Edit a project',
        tags,
        params: IdParams,
        body: ProjectPatch,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      await updateProject(deps, viewer, { project, membership, patch: req.body })
      return reply.status(204).send(null)
    },
  )
  app.delete(
    '/v3/project/:id',
    {
      config: { auth: { scope: ['PROJECT_DELETE'] } },
      schema: {
        operationId: 'deleteProject',
        summary: 'Delete a project with everything it holds',
        tags,
        params: IdParams,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { project, membership } = await getProjectAsMember(deps, viewer, req.params.id)
      await deleteProject(deps, viewer, { project, membership })
      return reply.status(204).send(null)
    },
  )
}
