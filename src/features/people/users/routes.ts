// Public profiles of users, and the caller's own account.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { iconRoutes } from '#features/basics/images/icon-routes.ts'
import { notFound } from '#lib/errors.ts'
import type { EntityForm } from '#lib/text/json-bytes.ts'
import { expectedRevision, IdsQuery, IfMatch, parseIds } from '#platform/http/query-values.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { avatarOwner } from './avatar.ts'
import { emptyRoutes } from './empty-routes.ts'
import { canSeePrivateFields } from './policy.ts'
import { getPrivateView, ownForm, peekOwn, readOwn } from './private-view.ts'
import { findAccountByEmail, getAccount, listUsersByPrefix } from './queries.ts'
import { EmailQuery, UserPatch, UserSearchQuery } from './requests.ts'
import { type UpdatingDeps, updateUser } from './update-user.ts'
import { type CachedUser, getCachedUser, listCachedUsers, peekUser } from './user-cache.ts'
import { FoundUserView, UserView } from './views.ts'

export function userRoutes(app: App, deps: Deps & Pick<UpdatingDeps, 'confirmOwner' | 'endLostAccess'>): void {
  userReads(app, deps)
  foundUsers(app, deps)
  userWrites(app, deps)
  emptyRoutes(app, deps)
}

/** `prefix`: the v2 API has the same routes. */
export function userWrites(
  app: App,
  deps: Deps & Pick<UpdatingDeps, 'confirmOwner' | 'endLostAccess'>,
  prefix = '/v3',
): void {
  updateRoute(app, deps, prefix)
  iconRoutes(app, deps, avatarOwner(deps), prefix)
}

type UserDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/** Response schema of a user, and the forms of a private and a public user. */
export type UserForm = EntityForm<CachedUser> & { toView: (user: UserView) => unknown }

const V3: UserForm = { schema: UserView, toJson: (user) => user, toView: (user) => user }

/** The v2 API has another prefix and another form of users. */
export function userReads(app: App, deps: UserDeps, prefix = '/v3', { schema, toJson, toView } = V3): void {
  const own = ownForm(toView)
  app.get(`${prefix}/user`, {
    config: {
      auth: { scope: ['USER_READ'] },
      limitedTokens: 'own',
      cache: 'private',
      ready: (_, viewer) => (viewer === null ? undefined : peekOwn(deps, viewer, own)),
      errors: ['424 auth_error'],
    },
    schema: { operationId: 'getOwnUser', summary: "Get the caller's account", response: { 200: schema } },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const response = await readOwn(deps, viewer, own)
      if (response !== undefined) return sendBytes(reply, response.bytes, response.etag)
      return toView(await getPrivateView(deps, viewer, await getAccount(deps.db, viewer.id)))
    },
  })
  app.get(`${prefix}/user/:id`, {
    config: {
      auth: { read: ['USER_READ'] },
      limitedTokens: 'anonymous',
      cache: 'public',
      ready: (name, viewer) => {
        const user = canSeePrivateFields(viewer) ? undefined : peekUser(deps, name)
        return user === undefined ? undefined : toJson(user)
      },
    },
    schema: {
      operationId: 'getUser',
      summary: 'Get a user by ID or username',
      params: UserParams,
      response: { 200: schema },
    },
    handler: async (req, reply) => {
      const user = await getCachedUser(deps, req.params.id)
      if (canSeePrivateFields(req.viewer))
        return toView(await getPrivateView(deps, req.viewer, await getAccount(deps.db, user.id)))
      const { bytes, etag } = toJson(user)
      return sendBytes(reply, bytes, etag)
    },
  })
  app.get(`${prefix}/users`, {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'listUsers',
      summary: 'Get users by ID or username',
      querystring: IdsQuery,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) => sendList(reply, (await listCachedUsers(deps, parseIds(req.query.ids))).map(toJson)),
  })
}

function foundUsers(app: App, deps: UserDeps): void {
  app.get('/v3/users/search', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'searchUsers',
      summary: 'Search users by a prefix of their username',
      description: 'Returns at most 25 users, in alphabetical order. Returns no users for a blank query.',
      querystring: UserSearchQuery,
      response: { 200: Type.Array(FoundUserView) },
    },
    handler: async (req) => {
      const prefix = req.query.query.trim()
      const users = prefix === '' ? [] : await listUsersByPrefix(deps.db, prefix)
      return users.map((user) => ({ ...user, avatar_url: imageUrl(deps.config, user.avatar_url) }))
    },
  })
  app.get('/v3/user_email', {
    config: { auth: { scope: ['USER_READ_EMAIL'] }, role: 'admin', cache: 'private', errors: ['404 not_found'] },
    schema: {
      operationId: 'getUserByEmail',
      summary: 'Get a user by email address',
      querystring: EmailQuery,
      response: { 200: UserView },
    },
    handler: async (req) => {
      const account = await findAccountByEmail(deps.db, req.query.email)
      if (account === undefined) throw notFound('user')
      return getPrivateView(deps, req.viewer, account)
    },
  })
}

function updateRoute(app: App, deps: UpdatingDeps, prefix: string): void {
  app.patch(`${prefix}/user/:id`, {
    config: { auth: { scope: ['USER_WRITE'] }, errors: ['400 LimitReached', '401 invalid_credentials'] },
    schema: {
      operationId: 'updateUser',
      summary: 'Edit a user',
      description:
        'Users can edit themselves. Moderators can edit the bio and avatar of every user, and the username of users who are neither admins nor moderators. Only the session of an admin with a confirmed password can change roles, badges and the payout handles of others. Only the former owner can use a username again within 30 days after a change.',
      params: UserParams,
      headers: IfMatch,
      body: UserPatch,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      if (req.body.payout_handle !== undefined) requireScope(viewer, 'PAYOUTS_WRITE')
      const { password, code, ...patch } = req.body
      await updateUser(deps, viewer, {
        name: req.params.id,
        patch,
        proof: { password, code },
        revision: expectedRevision(req),
      })
    },
  })
}
