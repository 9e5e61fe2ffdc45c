// v2 routes that read notifications.
import Type from 'typebox'
import { requireNotificationsReader } from '#features/people/notifications/policy.ts'
import {
  getReadableNotification,
  listNotificationsOf,
  listReadableNotifications,
} from '#features/people/notifications/queries.ts'
import { parseNotificationIds } from '#features/people/notifications/requests.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { IdParams, IdsQuery, UserParams } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { NotificationV2, toNotificationV2 } from './views.ts'

const READ = { auth: { scope: ['NOTIFICATION_READ'] }, cache: 'private' } as const

export function notificationRoutesV2(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  const list = { 200: Type.Array(NotificationV2) }
  app.get(
    '/user/:id/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listUserNotificationsV2',
        summary: 'List the notifications of a user, newest first',
        description: 'Returns at most the newest 10,000 notifications. Omits types that are only sent by email.',
        params: UserParams,
        response: list,
      },
    },
    async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      requireNotificationsReader(requireViewer(req), id)
      return sendBytes(reply, await writeJsonArray(await listNotificationsOf(deps.db, id), toNotificationV2))
    },
  )
  app.get(
    '/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listNotificationsV2',
        summary: 'List notifications by ID, newest first',
        querystring: IdsQuery,
        response: list,
      },
    },
    async (req, reply) => {
      const rows = await listReadableNotifications(deps.db, requireViewer(req), parseNotificationIds(req.query))
      return sendBytes(reply, await writeJsonArray(rows, toNotificationV2))
    },
  )
  app.get(
    '/notification/:id',
    {
      config: READ,
      schema: {
        operationId: 'getNotificationV2',
        summary: 'Get a notification',
        params: IdParams,
        response: { 200: NotificationV2 },
      },
    },
    async (req) =>
      toNotificationV2(await getReadableNotification(deps.db, requireViewer(req), parseId(req.params.id, 'id'))),
  )
}
