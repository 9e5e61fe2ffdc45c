// Who may do what to a user: pure rules.

import { isPlaceholder } from '#features/access/placeholder.ts'
import { forbidden } from '#lib/errors.ts'
import { isAdmin, isModerator, type Viewer } from '#lib/viewer.ts'

/** @throws ApiError 403 unless it is the viewer himself or the viewer is a moderator. */
export function requireEditableUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (isPlaceholder(user)) throw forbidden('This account stands for deleted ones and cannot be changed')
  if (user.id !== viewer.id && !isModerator(viewer)) throw forbidden('This is another account')
  return user
}

/** @throws ApiError 403 unless it is the viewer himself or the viewer is an admin. */
export function requireOwnUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (user.id !== viewer.id && !isAdmin(viewer)) throw forbidden('This is another account')
  return user
}
