// Routes to read, create, edit and delete organizations.
import Type from 'typebox'
import { OrganizationParams, ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer, viewerHas } from '#features/basics/authentication/access-control.ts'
import { iconRoutes } from '#features/basics/images/icon-routes.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { TeamMemberView } from '#features/community/teams/views.ts'
import { notFound } from '#lib/errors.ts'
import { joinJson } from '#lib/text/json-bytes.ts'
import { expectedRevision, IdsQuery, IfMatch, parseIds } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createOrganization } from './create-organization.ts'
import { deleteOrganization } from './delete-organization.ts'
import {
  getOrganization,
  listCachedOrganizations,
  listOrganizationMembers,
  toOrganizationView,
  toOrganizationViews,
} from './organization-cache.ts'
import { organizationProjectRoutes } from './projects/routes.ts'
import { checkNewOrganization, NewOrganization, OrganizationPatch } from './requests.ts'
import { organizationIconOwner, updateOrganization } from './update-organization.ts'
import { OrganizationView } from './views.ts'

const read = { auth: { read: ['ORGANIZATION_READ'] }, limitedTokens: 'resource', cache: 'public' } as const

export function organizationRoutes(app: App, deps: Deps): void {
  reads(app, deps)
  writes(app, deps)
  organizationProjectRoutes(app, deps)
  iconRoutes(app, deps, organizationIconOwner(deps.db))
}

function reads(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>): void {
  app.get('/v3/organization/:id', {
    config: read,
    schema: {
      operationId: 'getOrganization',
      summary: 'Get an organization by ID or slug',
      params: OrganizationParams,
      response: { 200: OrganizationView },
    },
    handler: async (req, reply) => {
      const organization = await getOrganization(deps, req.params.id)
      return sendBytes(reply, await toOrganizationView(deps, req.viewer, organization))
    },
  })
  app.get('/v3/organizations', {
    config: read,
    schema: {
      operationId: 'listOrganizations',
      summary: 'Get organizations by ID or slug',
      querystring: IdsQuery,
      response: { 200: Type.Array(OrganizationView) },
    },
    handler: async (req, reply) => {
      const organizations = await listCachedOrganizations(deps, parseIds(req.query.ids))
      return sendBytes(reply, joinJson(await toOrganizationViews(deps, req.viewer, organizations, { isLimited: true })))
    },
  })
  app.get('/v3/organization/:id/members', {
    config: read,
    schema: {
      operationId: 'listOrganizationMembers',
      summary: 'List the members of an organization',
      params: OrganizationParams,
      response: { 200: Type.Array(TeamMemberView) },
    },
    handler: async (req, reply) => {
      const organization = await getOrganization(deps, req.params.id)
      const [members = '[]'] = await listOrganizationMembers(deps, req.viewer, [organization])
      return sendBytes(reply, Buffer.from(members))
    },
  })
  app.get('/v3/project/:id/organization', {
    config: { auth: { read: ['PROJECT_READ', 'ORGANIZATION_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'getProjectOrganization',
      summary: 'Get the organization that owns a project',
      params: ProjectParams,
      response: { 200: OrganizationView },
    },
    handler: async (req, reply) => {
      // PROJECT_READ allows hidden projects, ORGANIZATION_READ the view of a member.
      const project = await getProject(deps, viewerHas(req.viewer, 'PROJECT_READ') ? req.viewer : null, req.params.id)
      if (project.organization_id === null) throw notFound('organization')
      const organization = await getOrganization(deps, project.organization_id)
      const viewer = viewerHas(req.viewer, 'ORGANIZATION_READ') ? req.viewer : null
      return sendBytes(reply, await toOrganizationView(deps, viewer, organization))
    },
  })
}

function writes(app: App, deps: Deps): void {
  app.post('/v3/organization', {
    config: { auth: { scope: ['ORGANIZATION_CREATE'] }, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'createOrganization',
      summary: 'Create an organization',
      description: 'The caller becomes its owner.',
      body: NewOrganization,
      response: { 201: OrganizationView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await createOrganization(deps, viewer, checkNewOrganization(req.body))
      const organization = await getOrganization(deps, id)
      return sendBytes(reply.status(201), await toOrganizationView(deps, viewer, organization))
    },
  })
  app.patch('/v3/organization/:id', {
    config: { auth: { scope: ['ORGANIZATION_WRITE'] }, limitedTokens: 'resource' },
    schema: {
      operationId: 'updateOrganization',
      summary: 'Edit an organization',
      params: OrganizationParams,
      headers: IfMatch,
      body: OrganizationPatch,
    },
    handler: async (req) => {
      await updateOrganization(deps, requireViewer(req), {
        name: req.params.id,
        patch: req.body,
        revision: expectedRevision(req),
      })
    },
  })
  app.delete('/v3/organization/:id', {
    config: { auth: { scope: ['ORGANIZATION_DELETE'] }, limitedTokens: 'resource' },
    schema: {
      operationId: 'deleteOrganization',
      summary: 'Delete an organization',
      description: 'The owner of the organization becomes the owner of its projects.',
      params: OrganizationParams,
    },
    handler: (req): Promise<void> => deleteOrganization(deps, requireViewer(req), req.params.id),
  })
}
