import type { Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/** Whether the user must verify their email address before they can create something. */
export function mustVerifyEmail({ config }: Pick<Deps, 'config'>, viewer: Pick<Viewer, 'emailVerified'>): boolean {
  return config.accounts.requireVerifiedEmail && !viewer.emailVerified
}

/**
 * Requires a verified email address, which users need to create projects, organizations and collections.
 * @throws ApiError 403, unless the operator does not require verified email addresses.
 */
export function requireVerifiedEmail(deps: Pick<Deps, 'config'>, viewer: Pick<Viewer, 'emailVerified'>): void {
  if (!mustVerifyEmail(deps, viewer)) return
  throw forbidden('Verify your email address first. Open its link, or request another one.')
}

/** Whether the account waits for the approval of a moderator. Moderators and admins do not wait. */
export function mustAwaitApproval(viewer: Pick<Viewer, 'awaitsApproval' | 'role'> | null): boolean {
  return viewer?.awaitsApproval === true && viewer.role === 'developer'
}

/** Requires an approved account. @throws ApiError 403 for an account that waits for a moderator */
export function requireApproved(viewer: Pick<Viewer, 'awaitsApproval' | 'role'>): void {
  if (mustAwaitApproval(viewer)) throw forbidden('A moderator must approve your account before you can publish')
}
