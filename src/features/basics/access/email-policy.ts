import type { Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Requires a verified email address, which users need to create projects, organizations and collections.
 * @throws ApiError 403, unless the operator does not require verified email addresses.
 */
export function requireVerifiedEmail({ config }: Pick<Deps, 'config'>, viewer: Pick<Viewer, 'emailVerified'>): void {
  if (!config.accounts.requireVerifiedEmail || viewer.emailVerified) return
  throw forbidden(
    'Verify your email address first. Open the link in the email that was sent to you, or request another one.',
  )
}
