// Permissions for notifications. Users who can read a notification can also mark and delete it.
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** Returns whether the viewer can read the notifications of an account: their own, or all for admins. */
export function canReadNotificationsOf(viewer: Viewer, accountId: string): boolean {
  return accountId === viewer.id || isAdmin(viewer)
}

export function requireNotificationsReader(viewer: Viewer, accountId: string): void {
  if (!canReadNotificationsOf(viewer, accountId)) throw forbidden('You cannot read the notifications of another user')
}

/** @throws ApiError 403 unless the settings are the viewer's own */
export function requireOwnSettings(viewer: Viewer, accountId: string): void {
  if (accountId !== viewer.id) throw forbidden('You cannot read or change the notification settings of another user')
}
