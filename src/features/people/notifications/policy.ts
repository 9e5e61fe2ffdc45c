// Permissions for notifications. Users who can read a notification can also mark and delete it.
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** Returns whether the viewer can read the notifications of an account: their own, or all for admins. */
export function canReadNotificationsOf(viewer: Viewer, accountId: string): boolean {
  return accountId === viewer.id || isAdmin(viewer)
}

export function requireNotificationsReader(viewer: Viewer, accountId: string): void {
  if (!canReadNotificationsOf(viewer, accountId)) throw forbidden('You cannot read the notifications of another user')
}
