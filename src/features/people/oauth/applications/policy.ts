// Who may change an application: pure rules.

import { isAdmin, isModerator, type Viewer } from '#lib/access/viewer.ts'
import { type ApiError, forbidden, notFound } from '#lib/errors.ts'

type Owned = { account_id: string }

/** @throws ApiError 403 unless it is the viewer's own or the viewer is a moderator. */
export function requireEditable<Application extends Owned>(viewer: Viewer, application: Application): Application {
  if (application.account_id !== viewer.id && !isModerator(viewer)) throw notYours()
  return application
}

/**
 * Where its codes go and what it may ask for are the owner's; no moderator changes them.
 * @throws ApiError 403 unless it is the viewer's own or the viewer is an admin.
 */
export function requireCredentialsEditable(viewer: Viewer, application: Owned): void {
  if (application.account_id !== viewer.id && !isAdmin(viewer)) {
    throw forbidden('Redirect addresses and scopes of the applications of others are for admins')
  }
}

/** The secret is for the owner alone: no moderator needs it. @throws ApiError 403. */
export function requireSecretOwner<Application extends Owned>(viewer: Viewer, application: Application): Application {
  if (application.account_id !== viewer.id) throw notYours()
  return application
}

/** On the settings pages of others an application is as good as absent. @throws ApiError 404. */
export function requireOwnApplication<Application extends Owned>(
  viewer: Viewer,
  application: Application,
): Application {
  if (application.account_id !== viewer.id) throw notFound('application')
  return application
}

function notYours(): ApiError {
  return forbidden('This is the application of another account')
}
