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

/** Requires an approved account. @throws ApiError 403 for an account that waits for a moderator */
export function requireApproved(account: { awaits_approval: boolean } | undefined): void {
  if (account?.awaits_approval === true)
    throw forbidden('A moderator must approve your account before you can create this')
}
