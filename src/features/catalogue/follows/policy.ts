// Who sees what an account follows: a pure rule.

import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 for the follows of another account, unless the viewer is an admin. */
export function requireFollowReader(viewer: Viewer, accountId: string): void {
  if (accountId !== viewer.id && !isAdmin(viewer)) throw forbidden('These are the follows of another account')
}
