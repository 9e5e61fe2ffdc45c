// Permissions for changes of applications.

import { isAdmin, isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { type ApiError, forbidden, notFound } from '#lib/errors.ts'

type Owned = { account_id: string }

/** Requires the owner or a moderator. @throws ApiError 403 */
export function requireEditable<Application extends Owned>(viewer: Viewer, application: Application): Application {
  if (application.account_id !== viewer.id && !isModerator(viewer)) throw notOwner()
  return application
}

/** Requires the owner or an admin for changes of redirect URIs and scopes. @throws ApiError 403 */
export function requireCredentialsEditable(viewer: Viewer, application: Owned): void {
  if (application.account_id !== viewer.id && !isAdmin(viewer))
    throw forbidden('Only admins can change the redirect URIs and scopes of the applications of others')
}

/** Requires the owner, because no one else needs the secret. @throws ApiError 403 */
export function requireSecretOwner<Application extends Owned>(viewer: Viewer, application: Application): Application {
  if (application.account_id !== viewer.id) throw notOwner()
  return application
}

/** Requires the owner, and hides the application from others. @throws ApiError 404 */
export function requireOwnApplication<App extends Owned>(viewer: Viewer, application: App): App {
  if (application.account_id !== viewer.id) throw notFound('application')
  return application
}

const notOwner = (): ApiError => forbidden('This application belongs to another user')
