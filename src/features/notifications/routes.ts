// Notifications: reading one's own, marking them as read, deleting them (facts/people.md 2.3).
import Type from 'typebox'
import type { Db } from '#db/db.ts'
import { getCachedUser } from '#features/users/user-cache.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { forbidden, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/json-pieces.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import {
  deleteNotifications,
  findNotification,
  listNotifications,
  listNotificationsOf,
  markNotificationsRead,
  type NotificationRow,
} from './queries.ts'
import { NotificationView, toNotificationView } from './views.ts'

const READ = { auth: { scope: ['NOTIFICATION_READ'] }, cache: 'private' } as const
const WRITE = { auth: { scope: ['NOTIFICATION_WRITE'] } } as const

export function notificationRoutes(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  notificationLists(app, deps)
  singleNotifications(app, deps)
}

/** The caller's notification of this ID, for an admin anybody's. @throws ApiError 404 for those of others. */
async function getNotification(db: Db, viewer: Viewer, text: string): Promise<NotificationRow> {
  const row = await findNotification(db, parseId(text, 'id'))
  if (row === undefined || (row.account_id !== viewer.id && !isAdmin(viewer))) throw notFound('notification')
  return row
}

function parseNotificationIds(text: string): string[] {
  return parseIds(text).map((id) => parseId(id, 'ids'))
}

function notificationLists(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  const list = { 200: Type.Array(NotificationView) }
  app.get(
    '/v3/user/:id/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listUserNotifications',
        summary: 'Notifications of a user, newest first',
        description: 'At most the newest 10,000; types that are only mailed are left out.',
        params: IdParams,
        response: list,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { id } = await getCachedUser(deps, req.params.id)
      if (id !== viewer.id && !isAdmin(viewer)) throw forbidden('These are the notifications of another account')
      return sendBytes(reply, await writeJsonArray(await listNotificationsOf(deps.db, id), toNotificationView))
    },
  )
  app.get(
    '/v3/notifications',
    {
      config: READ,
      schema: {
        operationId: 'listNotifications',
        summary: 'Notifications by ID, newest first',
        querystring: IdsQuery,
        response: list,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseNotificationIds(req.query.ids)
      const rows = await listNotifications(deps.db, ids, isAdmin(viewer) ? undefined : viewer.id)
      return sendBytes(reply, await writeJsonArray(rows, toNotificationView))
    },
  )
  app.patch(
    '/v3/notifications',
    {
      config: WRITE,
      schema: {
        operationId: 'markNotificationsRead',
        summary: 'Mark own notifications as read',
        querystring: IdsQuery,
      },
    },
    async (req, reply) => {
      await markNotificationsRead(deps.db, parseNotificationIds(req.query.ids), requireViewer(req).id)
      return done(reply)
    },
  )
  app.delete(
    '/v3/notifications',
    {
      config: WRITE,
      schema: {
        operationId: 'deleteNotifications',
        summary: 'Delete own notifications',
        querystring: IdsQuery,
      },
    },
    async (req, reply) => {
      await deleteNotifications(deps.db, parseNotificationIds(req.query.ids), requireViewer(req).id)
      return done(reply)
    },
  )
}

function singleNotifications(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  app.get(
    '/v3/notification/:id',
    {
      config: READ,
      schema: {
        operationId: 'getNotification',
        summary: 'A notification',
        params: IdParams,
        response: { 200: NotificationView },
      },
    },
    async (req) => toNotificationView(await getNotification(deps.db, requireViewer(req), req.params.id)),
  )
  app.patch(
    '/v3/notification/:id',
    {
      config: WRITE,
      schema: {
        operationId: 'markNotificationRead',
        summary: 'Mark a notification as read',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const { id, account_id } = await getNotification(deps.db, requireViewer(req), req.params.id)
      await markNotificationsRead(deps.db, [id], account_id)
      return done(reply)
    },
  )
  app.delete(
    '/v3/notification/:id',
    {
      config: WRITE,
      schema: {
        operationId: 'deleteNotification',
        summary: 'Delete a notification',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const { id, account_id } = await getNotification(deps.db, requireViewer(req), req.params.id)
      await deleteNotifications(deps.db, [id], account_id)
      return done(reply)
    },
  )
}
