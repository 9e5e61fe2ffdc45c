// Reads of organizations: one, several, the one that owns a project, and their members.
import Type from 'typebox'
import { getProject } from '#features/projects/lookup/project-cache.ts'
import { TeamMemberView } from '#features/teams/views.ts'
import { viewerHas } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { notFound } from '#lib/errors.ts'
import { joinJson } from '#lib/json-bytes.ts'
import type { Deps } from '#main/deps.ts'
import {
  getCachedOrganizations,
  getOrganization,
  listOrganizationMembers,
  toOrganizationView,
  toOrganizationViews,
} from './organization-cache.ts'
import { OrganizationView } from './views.ts'

const config = { auth: { read: ['ORGANIZATION_READ'] }, cache: 'public' } as const

export function organizationReads(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy'>): void {
  app.get(
    '/v3/organization/:id',
    {
      config,
      schema: {
        operationId: 'getOrganization',
        summary: 'An organization by ID or slug',
        params: IdParams,
        response: { 200: OrganizationView },
      },
    },
    async (req, reply) => {
      const organization = await getOrganization(deps, req.params.id)
      return sendBytes(reply, await toOrganizationView(deps, req.viewer, organization))
    },
  )
  app.get(
    '/v3/organizations',
    {
      config,
      schema: {
        operationId: 'listOrganizations',
        summary: 'Organizations by ID or slug',
        querystring: IdsQuery,
        response: { 200: Type.Array(OrganizationView) },
      },
    },
    async (req, reply) => {
      const organizations = await getCachedOrganizations(deps, parseIds(req.query.ids))
      return sendBytes(reply, joinJson(await toOrganizationViews(deps, req.viewer, organizations, { named: true })))
    },
  )
  app.get(
    '/v3/organization/:id/members',
    {
      config,
      schema: {
        operationId: 'listOrganizationMembers',
        summary: 'The members of an organization',
        params: IdParams,
        response: { 200: Type.Array(TeamMemberView) },
      },
    },
    async (req, reply) => {
      const organization = await getOrganization(deps, req.params.id)
      const [members = '[]'] = await listOrganizationMembers(deps, req.viewer, [organization])
      return sendBytes(reply, Buffer.from(members))
    },
  )
  app.get(
    '/v3/project/:id/organization',
    {
      config: { auth: { read: ['PROJECT_READ', 'ORGANIZATION_READ'] }, cache: 'public' },
      schema: {
        operationId: 'getProjectOrganization',
        summary: 'The organization that owns a project',
        params: IdParams,
        response: { 200: OrganizationView },
      },
    },
    async (req, reply) => {
      // Each scope opens its own half: PROJECT_READ hidden projects, ORGANIZATION_READ the member's view.
      const project = await getProject(deps, viewerHas(req.viewer, 'PROJECT_READ') ? req.viewer : null, req.params.id)
      if (project.organization_id === null) throw notFound('organization')
      const organization = await getOrganization(deps, project.organization_id)
      const viewer = viewerHas(req.viewer, 'ORGANIZATION_READ') ? req.viewer : null
      return sendBytes(reply, await toOrganizationView(deps, viewer, organization))
    },
  )
}
