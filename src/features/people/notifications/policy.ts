// Permissions for notifications. Users who can read a notification can also mark and delete it.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

/** Returns whether the viewer can read the notifications of an account: their own, or all for admins. */
export function canReadNotificationsOf(viewer: Viewer, accountId: string): boolean {
  return accountId === viewer.id || isAdmin(viewer)
}

/** Returns `canReadNotificationsOf` as an SQL condition. */
export function notificationVisibleTo(
  viewer: Viewer,
): (eb: ExpressionBuilder<DB, 'notification'>) => Expression<SqlBool> {
  return (eb) => (isAdmin(viewer) ? sql<SqlBool>`true` : eb('notification.account_id', '=', viewer.id))
}

export function requireNotificationsReader(viewer: Viewer, accountId: string): void {
  if (!canReadNotificationsOf(viewer, accountId)) throw forbidden('You cannot read the notifications of another user')
}
