// Decides who can see and change the webhooks of a user and of the instance.

import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { requireOwnUser } from '#features/people/users/policy.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 for another user's webhooks, unless the viewer is an admin with a session, and for limited tokens. */
export function requireUserWebhooks(viewer: Viewer, user: { id: string }): void {
  requireUnlimited(viewer)
  requireOwnUser(viewer, user)
}

/** @throws ApiError 403 unless the viewer is an admin, and for limited tokens. */
export function requireInstanceWebhooks(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only admins can manage the webhooks of the instance')
  requireUnlimited(viewer)
}

function requireUnlimited({ limits }: Viewer): void {
  if (limits !== undefined)
    throw forbidden('The token is limited to projects or organizations, and these webhooks cover more')
}
