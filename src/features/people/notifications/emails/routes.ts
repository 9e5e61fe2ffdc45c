// The settings which notifications are emailed.

import { UserParams } from '#features/basics/access/requests.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { requireOwnSettings } from '../policy.ts'
import { readEmailSettings } from './queries.ts'
import { NotificationSettings, NotificationSettingsPatch } from './requests.ts'
import { updateEmailSettings } from './update-email-settings.ts'

export function emailSettingsRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'config'>): void {
  const requireSelf = async (viewer: Viewer, name: string): Promise<void> =>
    requireOwnSettings(viewer, (await getCachedUser(deps, name)).id)
  const path = '/v3/user/:id/notification-settings'
  app.get(path, {
    config: { auth: { scope: ['NOTIFICATION_READ'] }, cache: 'private' },
    schema: {
      operationId: 'getNotificationSettings',
      summary: 'Get the settings which notifications are emailed',
      description: 'Only for the user themselves.',
      params: UserParams,
      response: { 200: NotificationSettings },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      await requireSelf(viewer, req.params.id)
      return { email: await readEmailSettings(deps.db, viewer.id) }
    },
  })
  app.patch(path, {
    config: { auth: { scope: ['NOTIFICATION_WRITE'] } },
    schema: {
      operationId: 'updateNotificationSettings',
      summary: 'Change which notifications are emailed',
      description:
        'Only for the user themselves. Receipts and status changes of reports and transfers of projects exist only as emails; the list of notifications contains all other kinds.',
      params: UserParams,
      body: NotificationSettingsPatch,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      await requireSelf(viewer, req.params.id)
      await updateEmailSettings(deps.db, viewer.id, req.body.email)
      return done(reply)
    },
  })
}
