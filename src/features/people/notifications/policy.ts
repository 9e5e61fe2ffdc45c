// Who reads notifications: their account, and admins. Marking and deleting follow from reading.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

/** Whether the viewer reads the notifications of this account. */
export function canReadNotificationsOf(viewer: Viewer, accountId: string): boolean {
  return accountId === viewer.id || isAdmin(viewer)
}

/** The same in SQL. */
export function notificationVisibleTo(
  viewer: Viewer,
): (eb: ExpressionBuilder<DB, 'notification'>) => Expression<SqlBool> {
  return (eb) => (isAdmin(viewer) ? sql<SqlBool>`true` : eb('notification.account_id', '=', viewer.id))
}

/** @throws ApiError 403 */
export function requireNotificationsReader(viewer: Viewer, accountId: string): void {
  if (!canReadNotificationsOf(viewer, accountId)) throw forbidden('These are the notifications of another account')
}
