// Who may do what to a user: pure rules.

import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import { isAdmin, isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 unless it is the viewer's own account or the viewer is a moderator. */
export function requireEditableUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (isPlaceholder(user)) throw forbidden('This account stands for deleted ones and cannot be changed')
  if (user.id !== viewer.id && !isModerator(viewer)) throw forbidden('This is another account')
  return user
}

/** @throws ApiError 403 unless it is the viewer's own account or the viewer is an admin. */
export function requireOwnUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (user.id !== viewer.id && !isAdmin(viewer)) throw forbidden('This is another account')
  return user
}

/** @throws ApiError 403 as `requireOwnUser`, and for the account that stands for deleted ones. */
export function requireDeletableUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  requireOwnUser(viewer, user)
  requireNoPlaceholder(user)
  return user
}

/** @throws ApiError 403 for the account that stands for deleted ones, whoever wants to delete it. */
export function requireNoPlaceholder(user: { id: string }): void {
  if (isPlaceholder(user)) throw forbidden('This account stands for deleted ones and cannot be deleted')
}

/** @throws ApiError 403 for anybody but admins. */
export function requireRankGiver(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only admins may change roles and badges')
}

/** Whether the viewer sees the private fields of every user, as far as the scopes of the token go. */
export function canSeePrivateFields(viewer: Viewer | null): boolean {
  return isAdmin(viewer)
}
