// Decides who can see which projects a user follows.

import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 for the followed projects of another user, unless the viewer is an admin. */
export function requireFollowReader(viewer: Viewer, accountId: string): void {
  if (accountId !== viewer.id && !isAdmin(viewer))
    throw forbidden('Only admins can see which projects another user follows')
}

/** @throws ApiError 403 for the feed of another user. */
export function requireFeedOwner(viewer: Viewer, accountId: string): void {
  if (accountId !== viewer.id) throw forbidden('Only users themselves can create and delete the address of their feed')
}
