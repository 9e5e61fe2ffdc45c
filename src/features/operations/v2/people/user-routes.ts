// v2 routes that read users, their projects and the projects that they follow.
import Type from 'typebox'
import { requireFollowReader } from '#features/catalogue/follows/policy.ts'
import { listFollowedIds } from '#features/catalogue/follows/queries.ts'
import { listVisibleByIds, projectViewer } from '#features/catalogue/projects/lookup/visible-lists.ts'
import { canSeePrivateFields } from '#features/people/users/policy.ts'
import { getPrivateView } from '#features/people/users/private-view.ts'
import { getAccount, listProjectIdsOf } from '#features/people/users/queries.ts'
import { getCachedUser, listCachedUsers } from '#features/people/users/user-cache.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { IdsQuery, parseIds, UserParams } from '#platform/http/query-values.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listProjectBytes, ProjectV2 } from '../catalogue/project-views.ts'
import { toUserV2, UserV2, userBytes } from './views.ts'

export function userRoutesV2(app: App, deps: Deps): void {
  users(app, deps)
  userProjects(app, deps)
}

function users(app: App, deps: Deps): void {
  app.get(
    '/user',
    {
      config: { auth: { scope: ['USER_READ'] }, cache: 'private' },
      schema: { operationId: 'getOwnUserV2', summary: 'Get the account of the caller', response: { 200: UserV2 } },
    },
    async (req) => {
      const viewer = requireViewer(req)
      return toUserV2(await getPrivateView(deps, viewer, await getAccount(deps.db, viewer.id)))
    },
  )
  app.get(
    '/user/:id',
    {
      config: { auth: { read: ['USER_READ'] }, cache: 'public' },
      schema: {
        operationId: 'getUserV2',
        summary: 'Get a user by ID or username',
        params: UserParams,
        response: { 200: UserV2 },
      },
    },
    async (req, reply) => {
      const user = await getCachedUser(deps, req.params.id)
      if (canSeePrivateFields(req.viewer)) {
        return toUserV2(await getPrivateView(deps, req.viewer, await getAccount(deps.db, user.id)))
      }
      const { bytes, etag } = userBytes(deps, user)
      return sendBytes(reply, bytes, etag)
    },
  )
  app.get(
    '/users',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'listUsersV2',
        summary: 'List users by ID or username',
        querystring: IdsQuery,
        response: { 200: Type.Array(UserV2) },
      },
    },
    async (req, reply) => {
      const found = await listCachedUsers(deps, parseIds(req.query.ids))
      return sendList(
        reply,
        found.map((user) => userBytes(deps, user)),
      )
    },
  )
}

function userProjects(app: App, deps: Deps): void {
  const list = { params: UserParams, response: { 200: Type.Array(ProjectV2) } }
  app.get(
    '/user/:id/projects',
    {
      config: { auth: { read: ['PROJECT_READ'] }, cache: 'public' },
      schema: {
        operationId: 'listUserProjectsV2',
        summary: 'List the projects whose team a user belongs to, newest first',
        description: 'Other callers see only searchable projects.',
        ...list,
      },
    },
    async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      const projects = await listVisibleByIds(deps, req.viewer, await listProjectIdsOf(deps.db, req.viewer, id))
      return sendList(reply, await listProjectBytes(deps, projects))
    },
  )
  app.get(
    '/user/:id/follows',
    {
      config: { auth: { scope: ['USER_READ'] }, cache: 'private' },
      schema: {
        operationId: 'listUserFollowsV2',
        summary: 'List the projects that a user follows, the last followed project first',
        ...list,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { id } = await getCachedUser(deps, req.params.id)
      requireFollowReader(viewer, id)
      const projects = await listVisibleByIds(deps, projectViewer(viewer), await listFollowedIds(deps.db, id))
      return sendList(reply, await listProjectBytes(deps, projects))
    },
  )
}
