// Routes to follow a project, and to list the projects that a user follows.
import Type from 'typebox'
import { ProjectParams, UserParams } from '#features/basics/access/requests.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import {
  getProject,
  listVisibleProjects,
  type ProjectReader,
  projectViewer,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import { sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { V3 } from '../forms.ts'
import { deleteFollowFeed, renewFollowFeed } from './follow-feed.ts'
import { followProject, unfollowProject } from './follow-project.ts'
import { requireFeedOwner, requireFollowReader } from './policy.ts'
import { listFollowedIds } from './queries.ts'
import { FollowFeedView, toFollowFeedView } from './views.ts'

const WRITE = { auth: { scope: ['USER_WRITE'] } } as const

export function followRoutes(app: App, deps: ProjectReader & Pick<Deps, 'config'>): void {
  followWrites(app, deps)
  followedRoute(app, deps)
  feedRoutes(app, deps)
}

/** The v2 API has another prefix and another form of projects. */
export function followedRoute(app: App, deps: ProjectReader, { prefix, project: { schema, toJson } } = V3): void {
  app.get(`${prefix}/user/:id/follows`, {
    config: { auth: { scope: ['USER_READ'] }, cache: 'private' },
    schema: {
      operationId: 'listUserFollows',
      summary: 'List the projects that a user follows, most recently followed first',
      params: UserParams,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { id } = await getCachedUser(deps, req.params.id)
      requireFollowReader(viewer, id)
      const projects = await listVisibleProjects(deps, projectViewer(viewer), await listFollowedIds(deps.db, id))
      return sendList(reply, await convertInPieces(projects, toJson))
    },
  })
}

/** `prefix`: the v2 API has the same routes. */
export function followWrites(app: App, deps: ProjectReader & Pick<Deps, 'config'>, prefix = '/v3'): void {
  app.post(`${prefix}/project/:id/follow`, {
    config: WRITE,
    schema: { operationId: 'followProject', summary: 'Follow a project', params: ProjectParams },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const project = await getProject(deps, viewer, req.params.id)
      await followProject(deps, viewer, project.id)
    },
  })
  app.delete(`${prefix}/project/:id/follow`, {
    config: WRITE,
    schema: { operationId: 'unfollowProject', summary: 'Unfollow a project', params: ProjectParams },
    handler: (req): Promise<void> => unfollowProject(deps, requireViewer(req), req.params.id),
  })
}

function feedRoutes(app: App, deps: ProjectReader & Pick<Deps, 'config'>): void {
  const path = '/v3/user/:id/feed'
  app.post(path, {
    config: WRITE,
    schema: {
      operationId: 'createFollowFeed',
      summary: 'Create the secret address of a feed with the releases of followed projects',
      description: 'Everyone who knows the address can read the feed. A new address replaces the previous one.',
      params: UserParams,
      response: { 201: FollowFeedView },
    },
    handler: async (req, reply) => {
      const account = await getOwnAccount(deps, requireViewer(req), req.params.id)
      return reply.status(201).send(toFollowFeedView(deps.config, await renewFollowFeed(deps.db, account)))
    },
  })
  app.delete(path, {
    config: WRITE,
    schema: {
      operationId: 'deleteFollowFeed',
      summary: 'Delete the address of the feed with the releases of followed projects',
      params: UserParams,
    },
    handler: async (req) => {
      await deleteFollowFeed(deps.db, await getOwnAccount(deps, requireViewer(req), req.params.id))
    },
  })
}

/** Returns the ID of the account. @throws ApiError 404, 403 for the account of another user. */
async function getOwnAccount(deps: ProjectReader, viewer: Viewer, name: string): Promise<string> {
  const { id } = await getCachedUser(deps, name)
  requireFeedOwner(viewer, id)
  return id
}
