// What belongs to a user: projects and organizations.
import Type from 'typebox'
import type { ProjectReader } from '#features/projects/lookup/project-cache.ts'
import { listVisibleByIds } from '#features/projects/lookup/visible-lists.ts'
import { ProjectView } from '#features/projects/views.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/users/queries.ts'
import { getCachedUser } from '#features/users/user-cache.ts'
import { sendBytes, sendList } from '#http/entity-tags.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { joinJson } from '#lib/json-bytes.ts'
import { hasScope } from '#lib/scopes.ts'
import type { Viewer } from '#lib/viewer.ts'
import { getCachedOrganizations, toOrganizationViews } from './organization-cache.ts'
import { OrganizationView } from './views.ts'

export function userListRoutes(app: App, deps: ProjectReader): void {
  app.get(
    '/v3/user/:id/projects',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listUserProjects',
        summary: "Projects of which a user is an accepted member, of the project's own team, newest first",
        description: 'Others find those there that search shows.',
        params: IdParams,
        response: { 200: Type.Array(ProjectView) },
      },
    },
    async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      const ids = await listProjectIdsOf(deps.db, req.viewer, id)
      return sendList(reply, await listVisibleByIds(deps, req.viewer, ids))
    },
  )
  app.get(
    '/v3/user/:id/organizations',
    {
      config: { auth: { read: ['ORGANIZATION_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listUserOrganizations',
        summary: 'Organizations of which a user is an accepted member',
        params: IdParams,
        response: { 200: Type.Array(OrganizationView) },
      },
    },
    async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      const organizations = await getCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, id))
      return sendBytes(reply, joinJson(await toOrganizationViews(deps, req.viewer, organizations)))
    },
  )
  app.get(
    '/v3/user/:id/all-projects',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listAllUserProjects',
        summary: "A user's projects, his organizations by ID, and all projects of these",
        params: IdParams,
        response: { 200: AllProjectsView },
      },
    },
    async (req, reply) => sendBytes(reply, await writeAllProjects(deps, req.viewer, req.params.id)),
  )
}

const AllProjectsView = Type.Object(
  { projects: Type.Array(ProjectView), organizations: Type.Record(Type.String(), OrganizationView) },
  { title: 'AllProjects' },
)

async function writeAllProjects(deps: ProjectReader, viewer: Viewer | null, name: string): Promise<Buffer> {
  const { id } = await getCachedUser(deps, name)
  const organizations = await getCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, id))
  const own = await listProjectIdsOf(deps.db, viewer, id)
  const theirs = await listOrganizationProjectIds(
    deps.db,
    viewer,
    organizations.map((organization) => organization.id),
  )
  const projects = await listVisibleByIds(deps, viewer, [...new Set([...own, ...theirs])])
  const views = await toOrganizationViews(deps, organizationViewer(viewer), organizations)
  const entries = views.flatMap(({ bytes }, index) => [
    Buffer.from(`${index === 0 ? '' : ','}"${organizations[index]?.id}":`),
    bytes,
  ])
  return Buffer.concat([
    Buffer.from('{"projects":'),
    joinJson(projects),
    Buffer.from(',"organizations":{'),
    ...entries,
    Buffer.from('}}'),
  ])
}

/** As whom a request for something else sees organizations: a token without ORGANIZATION_READ sees what anybody sees. */
function organizationViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'ORGANIZATION_READ') ? viewer : null
}
