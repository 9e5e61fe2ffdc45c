// Reads notifications, marks them as read and deletes them.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { cutPage, readPosition } from '#platform/db/list-position.ts'
import { IdParams, IdsQuery } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { LINKED, linkToNext } from '#platform/http/responses/next-page.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteNotifications } from './delete-notifications.ts'
import { emailSettingsRoutes } from './emails/routes.ts'
import { markNotificationsRead } from './mark-notifications-read.ts'
import { writeNotificationList } from './notification-list.ts'
import { requireNotificationsReader } from './policy.ts'
import {
  getReadableNotification,
  listNotificationsOf,
  listReadableNotifications,
  type NotificationRow,
} from './queries.ts'
import { NotificationListQuery, parseNotificationIds } from './requests.ts'
import { NotificationView, toNotificationView } from './views.ts'

const READ = { auth: { scope: ['NOTIFICATION_READ'] }, cache: 'private' } as const
const WRITE = { auth: { scope: ['NOTIFICATION_WRITE'] } } as const

/** Response schema of a notification, and its conversion. */
export type NotificationForm = { schema: Type.TSchema; toView: (row: NotificationRow) => unknown }

const FOR_SEVERAL = 'Does for one item what a page does for several'
const CHANGES = [
  {
    method: 'patch',
    change: markNotificationsRead,
    one: { operationId: 'markNotificationRead', summary: 'Mark a notification as read' },
    many: { operationId: 'markNotificationsRead', summary: 'Mark notifications as read' },
  },
  {
    method: 'delete',
    change: deleteNotifications,
    one: { operationId: 'deleteNotification', summary: 'Delete a notification' },
    many: { operationId: 'deleteNotifications', summary: 'Delete notifications' },
  },
] as const

export function notificationRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'config'>): void {
  notificationReads(app, deps)
  notificationWrites(app, deps)
  emailSettingsRoutes(app, deps)
}

/** Registers the routes that read notifications. The v2 API has another prefix and another form of notifications. */
export function notificationReads(
  app: App,
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  prefix = '/v3',
  { schema, toView }: NotificationForm = { schema: NotificationView, toView: toNotificationView },
): void {
  const list = { 200: Type.Array(schema) }
  app.get(`${prefix}/user/:id/notifications`, {
    config: READ,
    schema: {
      operationId: 'listUserNotifications',
      summary: "List a user's notifications, newest first",
      description: `${LINKED} The whole list has at most the newest 10,000. An event that has two types is listed once: the other type is only sent by email.`,
      params: UserParams,
      querystring: NotificationListQuery,
      response: list,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { id } = await getCachedUser(deps, req.params.id)
      requireNotificationsReader(viewer, id)
      const { cursor, limit = cursor === undefined ? undefined : 100 } = req.query
      if (limit === undefined) return sendBytes(reply, await writeNotificationList(deps.db, id, toView))
      const after = readPosition(cursor)
      const { page, next } = cutPage(await listNotificationsOf(deps.db, id, { limit: limit + 1, after }), limit)
      linkToNext(req, reply, next)
      return sendBytes(reply, await writeJsonArray(page, toView))
    },
  })
  app.get(`${prefix}/notifications`, {
    config: { ...READ, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listNotifications',
      summary: 'Get notifications by ID, newest first',
      querystring: IdsQuery,
      response: list,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseNotificationIds(req.query)
      const rows = await listReadableNotifications(deps.db, viewer, ids)
      return sendBytes(reply, await writeJsonArray(rows, toView))
    },
  })
  app.get(`${prefix}/notification/:id`, {
    config: { ...READ, withoutPage: FOR_SEVERAL },
    schema: {
      operationId: 'getNotification',
      summary: 'Get a notification',
      params: IdParams,
      response: { 200: schema },
    },
    handler: async (req) =>
      toView(await getReadableNotification(deps.db, requireViewer(req), parseId(req.params.id, 'id'))),
  })
}

/** Registers the routes that change one or many notifications, which the v2 API shares under another prefix. */
export function notificationWrites(app: App, deps: Pick<Deps, 'db' | 'cache'>, prefix = '/v3'): void {
  for (const { method, change, one, many } of CHANGES) {
    app[method](
      `${prefix}/notifications`,
      { config: { ...WRITE, errors: ['400 decoding_error'] }, schema: { ...many, querystring: IdsQuery } },
      async (req, reply) => {
        await change(deps, parseNotificationIds(req.query), requireViewer(req).id)
        return done(reply)
      },
    )
    app[method](
      `${prefix}/notification/:id`,
      { config: { ...WRITE, withoutPage: FOR_SEVERAL }, schema: { ...one, params: IdParams } },
      async (req, reply) => {
        const id = parseId(req.params.id, 'id')
        const { account_id } = await getReadableNotification(deps.db, requireViewer(req), id)
        await change(deps, [id], account_id)
        return done(reply)
      },
    )
  }
}
