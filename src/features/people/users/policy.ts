// Permissions for changes of users.
import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import { isAdmin, isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'

/** Requires the user themselves or a moderator. @throws ApiError 403 */
export function requireEditableUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (isPlaceholder(user)) throw forbidden('The placeholder account for deleted users cannot be changed')
  if (user.id !== viewer.id && !isModerator(viewer)) throw forbidden('You cannot change the account of another user')
  return user
}

/** Requires the user themselves or the session of an admin. @throws ApiError 403 */
export function requireOwnUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  if (user.id === viewer.id) return user
  if (!isAdmin(viewer)) throw forbidden('You cannot change the account of another user')
  requireSession(viewer)
  return user
}

/** Requires the user themselves or a moderator. @throws ApiError 403 */
export function requirePreferenceReader(viewer: Viewer, user: { id: string }): void {
  if (user.id !== viewer.id && !isModerator(viewer)) throw forbidden('You cannot read the preferences of another user')
}

/** Requires the user themselves or the session of an admin, and not the placeholder account. @throws ApiError 403 */
export function requireDeletableUser<User extends { id: string }>(viewer: Viewer, user: User): User {
  requireOwnUser(viewer, user)
  requireNoPlaceholder(user)
  return user
}

/** @throws ApiError 403 for the placeholder account, which no one can delete. */
export function requireNoPlaceholder(user: { id: string }): void {
  if (isPlaceholder(user)) throw forbidden('The placeholder account for deleted users cannot be deleted')
}

/** @throws ApiError `invalid_input` for a service account, which has no password, no sign-in and no role. */
export function requirePerson<Account extends { service_of: string | null }>(account: Account): Account {
  if (account.service_of !== null) throw invalidInput('A service account has no sign-in and no role')
  return account
}

/** Requires the user themselves, an admin, or, for a user without a higher role, a moderator. @throws ApiError 403 */
export function requireNameGiver(viewer: Viewer, user: { id: string; role: string }): void {
  if (user.id === viewer.id || user.role === 'developer' || isAdmin(viewer)) return
  throw forbidden('Only admins can change the usernames of admins and moderators')
}

/** Requires the session of an admin. @throws ApiError 403 */
export function requireRankGiver(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only admins can change roles and badges')
  requireSession(viewer)
}

/** A stolen token must not be able to make its holder an admin. @throws ApiError 403 */
function requireSession({ token }: Viewer): void {
  if (token.kind !== 'session')
    throw forbidden('Tokens cannot change roles and badges, or the accounts of other users. Use a session.')
}

/** Returns whether the viewer sees the private fields of all users, subject to the scopes of the token. */
export function canSeePrivateFields(viewer: Viewer | null): boolean {
  return isAdmin(viewer)
}
