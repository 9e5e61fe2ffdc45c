// Editing and deleting users.
import { DoneAnswers } from '#http/answers.ts'
import { requireScope, requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '../../deps.ts'
import { deleteAccount } from './delete-account.ts'
import { updateUser } from './update-user.ts'
import { UserPatch } from './views.ts'

const tags = ['users']

export function userWriteRoutes(app: App, deps: Deps): void {
  app.patch(
    '/v3/user/:id',
    {
      config: { auth: { scope: ['USER_WRITE'] } },
      schema: {
        operationId: 'updateUser',
        summary: 'Edit a user',
        description:
          'The own account, any for moderators; roles and badges are for admins, the payout handle needs PAYOUTS_WRITE.',
        tags,
        params: IdParams,
        body: UserPatch,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      if (req.body.payout_handle !== undefined) requireScope(viewer, 'PAYOUTS_WRITE')
      await updateUser(deps, viewer, { name: req.params.id, patch: req.body })
      return reply.status(204).send(null)
    },
  )
  app.delete(
    '/v3/user/:id',
    {
      config: { auth: { scope: ['USER_DELETE'] } },
      schema: {
        operationId: 'deleteUser',
        summary: 'Delete an account',
        description:
          'The own account, any for admins. What it owns goes to a placeholder account; nothing else remains.',
        tags,
        params: IdParams,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      await deleteAccount(deps, requireViewer(req), req.params.id)
      return reply.status(204).send(null)
    },
  )
}
