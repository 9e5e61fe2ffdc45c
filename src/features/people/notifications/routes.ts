// Notifications: reading one's own, marking them as read, deleting them.
import Type from 'typebox'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { IdParams, IdsQuery, UserParams } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { requireNotificationsReader } from './policy.ts'
import {
  deleteNotifications,
  getReadableNotification,
  listNotificationsOf,
  listReadableNotifications,
  markNotificationsRead,
} from './queries.ts'
import { parseNotificationIds } from './requests.ts'
import { NotificationView, toNotificationView } from './views.ts'

const READ = { auth: { scope: ['NOTIFICATION_READ'] }, cache: 'private' } as const
const WRITE = { auth: { scope: ['NOTIFICATION_WRITE'] } } as const

export function notificationRoutes(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  notificationReads(app, deps)
  notificationWrites(app, deps)
}

function notificationReads(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  const list = { 200: Type.Array(NotificationView) }
  app.get(
    '/v3/user/:id/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listUserNotifications',
        summary: "List a user's notifications, newest first",
        description: 'At most the newest 10,000, without types that are only sent by mail.',
        params: UserParams,
        response: list,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { id } = await getCachedUser(deps, req.params.id)
      requireNotificationsReader(viewer, id)
      return sendBytes(reply, await writeJsonArray(await listNotificationsOf(deps.db, id), toNotificationView))
    },
  )
  app.get(
    '/v3/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listNotifications',
        summary: 'Get notifications by ID, newest first',
        querystring: IdsQuery,
        response: list,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseNotificationIds(req.query)
      const rows = await listReadableNotifications(deps.db, viewer, ids)
      return sendBytes(reply, await writeJsonArray(rows, toNotificationView))
    },
  )
  app.get(
    '/v3/notification/:id',
    {
      config: READ,
      schema: {
        operationId: 'getNotification',
        summary: 'Get a notification',
        params: IdParams,
        response: { 200: NotificationView },
      },
    },
    async (req) =>
      toNotificationView(await getReadableNotification(deps.db, requireViewer(req), parseId(req.params.id, 'id'))),
  )
}

/** `prefix`: the v2 API has the same routes. */
export function notificationWrites(app: App, deps: Pick<Deps, 'db' | 'cache'>, prefix = '/v3'): void {
  app.patch(
    `${prefix}/notifications`,
    {
      config: WRITE,
      schema: {
        operationId: 'markNotificationsRead',
        summary: 'Mark notifications as read',
        querystring: IdsQuery,
      },
    },
    async (req, reply) => {
      await markNotificationsRead(deps.db, parseNotificationIds(req.query), requireViewer(req).id)
      return done(reply)
    },
  )
  app.delete(
    `${prefix}/notifications`,
    {
      config: WRITE,
      schema: {
        operationId: 'deleteNotifications',
        summary: 'Delete notifications',
        querystring: IdsQuery,
      },
    },
    async (req, reply) => {
      await deleteNotifications(deps.db, parseNotificationIds(req.query), requireViewer(req).id)
      return done(reply)
    },
  )
  app.patch(
    `${prefix}/notification/:id`,
    {
      config: WRITE,
      schema: {
        operationId: 'markNotificationRead',
        summary: 'Mark a notification as read',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const { id, account_id } = await getReadableNotification(
        deps.db,
        requireViewer(req),
        parseId(req.params.id, 'id'),
      )
      await markNotificationsRead(deps.db, [id], account_id)
      return done(reply)
    },
  )
  app.delete(
    `${prefix}/notification/:id`,
    {
      config: WRITE,
      schema: {
        operationId: 'deleteNotification',
        summary: 'Delete a notification',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const { id, account_id } = await getReadableNotification(
        deps.db,
        requireViewer(req),
        parseId(req.params.id, 'id'),
      )
      await deleteNotifications(deps.db, [id], account_id)
      return done(reply)
    },
  )
}
