// Response schema of a notification.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import { notificationText } from './notification-types.ts'
import type { NotificationRow } from './queries.ts'

export const NotificationView = NamedObject('Notification', {
  id: Type.String(),
  user_id: Type.String(),
  read: Type.Boolean(),
  created: Timestamp,
  body: Type.Object(
    { type: Type.String() },
    { additionalProperties: Type.Unknown(), description: 'Details of the event; the fields depend on `type`' },
  ),
  name: Type.String(),
  text: Type.String(),
  link: Type.String({ description: 'Path of the page; `#` without a page' }),
  actions: Type.Array(
    Type.Object({
      name: Type.String(),
      action_route: Type.Array(Type.String(), {
        minItems: 2,
        maxItems: 2,
        description: 'HTTP method and path, relative to the version prefix',
      }),
    }),
  ),
})
export type NotificationView = Static<typeof NotificationView>

export function toNotificationView(row: NotificationRow): NotificationView {
  const { id, account_id, read, created, body } = row
  return { id, user_id: account_id, read, created: created.toISOString(), body, ...notificationText(body, account_id) }
}
