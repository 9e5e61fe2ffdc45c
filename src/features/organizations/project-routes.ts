// The projects of an organization: the list, and moving them in and out.
import Type from 'typebox'
import { writing } from '#cache/writing.ts'
import { DoneAnswers, ErrorAnswers } from '#http/answers.ts'
import { requireViewer, viewerHas } from '#http/auth.ts'
import { sendList } from '#http/entity-tags.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '../../deps.ts'
import { ProjectView } from '../projects/views.ts'
import { listVisibleByIds } from '../projects/visible-lists.ts'
import { parseBodyId } from '../teams/member-fields.ts'
import { addProject, removeProject } from './move-project.ts'
import { getOrganization } from './organization-cache.ts'
import { listProjectIds } from './queries.ts'

const tags = ['organizations']
const move = { auth: { scope: ['PROJECT_WRITE', 'ORGANIZATION_WRITE'] } } as const

const ProjectParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'Organization ID or slug' }),
  project_id: Type.String({ maxLength: 256, description: 'Project ID or slug' }),
})
const Addition = Type.Object(
  { project_id: Type.String({ maxLength: 256, description: 'Project ID or slug' }) },
  { title: 'OrganizationProjectAddition' },
)
const Removal = Type.Object(
  { new_owner: Type.String({ maxLength: 64, description: "ID of the member who becomes the project's owner" }) },
  { title: 'OrganizationProjectRemoval' },
)

export function organizationProjectRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy'>): void {
  app.get(
    '/v3/organization/:id/projects',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listOrganizationProjects',
        summary: 'The projects of an organization, newest first',
        tags,
        params: IdParams,
        response: { 200: Type.Array(ProjectView), ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      // A member's list takes both scopes (facts/people.md 3.5).
      const viewer = viewerHas(req.viewer, 'ORGANIZATION_READ') ? req.viewer : null
      const { id } = await getOrganization(deps, req.params.id)
      const ids = await listProjectIds(deps.db, id, viewer)
      return sendList(reply, await listVisibleByIds(deps, viewer, ids))
    },
  )
  app.post(
    '/v3/organization/:id/projects',
    {
      config: move,
      schema: {
        operationId: 'addOrganizationProject',
        summary: 'Give a project to an organization',
        tags,
        params: IdParams,
        body: Addition,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const names = { organizationName: req.params.id, projectName: req.body.project_id }
      await writing(deps, (tx, changed) => addProject(tx, changed, viewer, names))
      return reply.status(204).send(null)
    },
  )
  app.delete(
    '/v3/organization/:id/projects/:project_id',
    {
      config: move,
      schema: {
        operationId: 'removeOrganizationProject',
        summary: 'Take a project out of an organization and give it to one of the members',
        tags,
        params: ProjectParams,
        body: Removal,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const newOwnerId = parseBodyId(req.body.new_owner, 'new_owner')
      const names = { organizationName: req.params.id, projectName: req.params.project_id }
      await writing(deps, (tx, changed) => removeProject(tx, changed, viewer, { ...names, newOwnerId }))
      return reply.status(204).send(null)
    },
  )
}
