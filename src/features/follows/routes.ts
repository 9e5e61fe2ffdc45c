// Following projects, and the list of those one follows.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { findProject, getProject, type ProjectReader } from '#features/projects/lookup/project-cache.ts'
import { ProjectView } from '#features/projects/views.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendList } from '#http/entity-tags.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { listFollowedProjects } from './followed-projects.ts'
import { addToFollowers, deleteFollow, insertFollow } from './queries.ts'

const WRITE = { auth: { scope: ['USER_WRITE'] } } as const

export function followRoutes(app: App, deps: ProjectReader & Pick<Deps, 'config'>): void {
  app.post(
    '/v3/project/:id/follow',
    {
      config: WRITE,
      schema: {
        operationId: 'followProject',
        summary: 'Follow a project',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const project = await getProject(deps, viewer, req.params.id)
      await transaction(deps, async (tx, changed) => {
        if (!(await insertFollow(tx, viewer.id, project.id))) throw invalidInput('You follow this project already')
        await addToFollowers(tx, project.id, 1)
        changed.add('project', project.id)
      })
      return done(reply)
    },
  )
  app.delete(
    '/v3/project/:id/follow',
    {
      config: WRITE,
      schema: {
        operationId: 'unfollowProject',
        summary: 'Stop following a project',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      // One may leave a project that was hidden since one followed it.
      const project = await findProject(deps, req.params.id)
      if (project === undefined) throw notFound('project')
      const followed = await transaction(deps, async (tx, changed) => {
        const wasThere = await deleteFollow(tx, viewer.id, project.id)
        if (wasThere) {
          await addToFollowers(tx, project.id, -1)
          changed.add('project', project.id)
        }
        return wasThere
      })
      if (!followed) {
        await getProject(deps, viewer, req.params.id)
        throw invalidInput('You do not follow this project')
      }
      return done(reply)
    },
  )
  app.get(
    '/v3/user/:id/follows',
    {
      config: { auth: { scope: ['USER_READ'] }, cache: 'private' },
      schema: {
        operationId: 'listUserFollows',
        summary: 'Projects that a user follows, the last followed first',
        params: IdParams,
        response: { 200: Type.Array(ProjectView) },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      return sendList(reply, await listFollowedProjects(deps, viewer, req.params.id))
    },
  )
}
