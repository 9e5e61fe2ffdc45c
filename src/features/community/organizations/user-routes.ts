// Routes to the projects and organizations of a user. They are here because users is a lower layer than projects.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { V3 } from '#features/catalogue/forms.ts'
import { listVisibleProjects, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { JsonEntity, joinJson } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import { sendBytes, sendList, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import { listCachedOrganizations, toOrganizationViews } from './organization-cache.ts'
import { AllProjectsView, OrganizationView } from './views.ts'

/** The v2 API has another prefix and another form of projects. */
export function userProjectRoute(app: App, deps: ProjectReader, { prefix, project: { schema, toJson } } = V3): void {
  app.get(`${prefix}/user/:id/projects`, {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listUserProjects',
      summary: 'List the projects of which a user is a team member, newest first',
      description: 'Other users see only projects that search can show.',
      params: UserParams,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      const projects = await listVisibleProjects(deps, req.viewer, await listProjectIdsOf(deps.db, req.viewer, id))
      return sendList(reply, await convertInPieces(projects, toJson))
    },
  })
}

export function userListRoutes(app: App, deps: ProjectReader): void {
  userProjectRoute(app, deps)
  app.get('/v3/user/:id/organizations', {
    config: { auth: { read: ['ORGANIZATION_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listUserOrganizations',
      summary: 'List the organizations of which a user is an accepted member',
      params: UserParams,
      response: { 200: Type.Array(OrganizationView) },
    },
    handler: async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      const organizations = await listCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, id))
      return sendBytes(reply, joinJson(await toOrganizationViews(deps, req.viewer, organizations)))
    },
  })
  app.get('/v3/user/:id/all-projects', {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' },
    schema: {
      operationId: 'listAllUserProjects',
      summary: "List a user's projects, their organizations, and the projects of these organizations",
      params: UserParams,
      response: { 200: AllProjectsView },
    },
    handler: async (req, reply) => sendObject(reply, await readAllProjectsOf(deps, req.viewer, req.params.id)),
  })
}

/** Returns the projects of a user and of their organizations, and these organizations by ID. @throws ApiError 404. */
async function readAllProjectsOf(deps: ProjectReader, viewer: Viewer | null, name: string) {
  const { id } = await getCachedUser(deps, name)
  const organizations = await listCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, id))
  const own = await listProjectIdsOf(deps.db, viewer, id)
  const organizationIds = organizations.map((organization) => organization.id)
  const ofOrganizations = await listOrganizationProjectIds(deps.db, viewer, organizationIds)
  const projects = await listVisibleProjects(deps, viewer, [...new Set([...own, ...ofOrganizations])])
  const views = await toOrganizationViews(deps, organizationViewer(viewer), organizations)
  const entries = views.flatMap(({ bytes }, index) => [
    Buffer.from(`${index === 0 ? '' : ','}"${organizations[index]?.id}":`),
    bytes,
  ])
  const byId = new JsonEntity(Buffer.concat([Buffer.from('{'), ...entries, Buffer.from('}')]))
  return Object.entries({ projects, organizations: byId })
}

/** Returns the viewer if their token includes ORGANIZATION_READ, otherwise null, for the view of the public. */
function organizationViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'ORGANIZATION_READ') ? viewer : null
}
