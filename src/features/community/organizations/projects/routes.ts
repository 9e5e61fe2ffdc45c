// Routes to list, add and remove the projects of an organization.

import Type from 'typebox'
import { OrganizationParams } from '#features/basics/access/requests.ts'
import { requireViewer, viewerHas } from '#features/basics/authentication/access-control.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { parseBodyId } from '#features/community/teams/requests.ts'
import { listOrganizationProjectIds } from '#features/people/users/queries.ts'
import { sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getOrganization } from '../organization-cache.ts'
import { ProjectAddition, ProjectParams, ProjectRemoval } from '../requests.ts'
import { addProject, removeProjects } from './add-project.ts'

const move = { auth: { scope: ['PROJECT_WRITE', 'ORGANIZATION_WRITE'] }, limitedTokens: 'resource' } as const

export function organizationProjectRoutes(
  app: App,
  deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config' | 'now'>,
): void {
  app.get('/v3/organization/:id/projects', {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listOrganizationProjects',
      summary: "List an organization's projects, newest first",
      params: OrganizationParams,
      response: { 200: Type.Array(ProjectView) },
    },
    handler: async (req, reply) => {
      // Hidden projects require both scopes.
      const viewer = viewerHas(req.viewer, 'ORGANIZATION_READ') ? req.viewer : null
      const { id } = await getOrganization(deps, req.params.id)
      const ids = await listOrganizationProjectIds(deps.db, viewer, [id])
      return sendList(reply, await listVisibleProjects(deps, viewer, ids))
    },
  })
  app.post('/v3/organization/:id/projects', {
    config: move,
    schema: {
      operationId: 'addOrganizationProject',
      summary: 'Transfer a project to an organization',
      description: 'Only for the owner of the project, who must be a member of the organization with ADD_PROJECT.',
      params: OrganizationParams,
      body: ProjectAddition,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const names = { organizationName: req.params.id, projectName: req.body.project_id }
      await addProject(deps, viewer, names)
    },
  })
  app.delete('/v3/organization/:id/projects/:project_id', {
    config: move,
    schema: {
      operationId: 'removeOrganizationProject',
      summary: 'Transfer a project from an organization to one of its members',
      params: ProjectParams,
      body: ProjectRemoval,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const newOwnerId = parseBodyId(req.body.new_owner, 'new_owner')
      const names = { organizationName: req.params.id, projectNames: [req.params.project_id] }
      await removeProjects(deps, viewer, { ...names, newOwnerId })
    },
  })
}
