import { done } from '#http/answers.ts'
// Editing users.
import { requireScope, requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { updateUser } from './update-user.ts'
import { UserPatch } from './views.ts'

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
        params: IdParams,
        body: UserPatch,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      if (req.body.payout_handle !== undefined) requireScope(viewer, 'PAYOUTS_WRITE')
      await updateUser(deps, viewer, { name: req.params.id, patch: req.body })
      return done(reply)
    },
  )
}
