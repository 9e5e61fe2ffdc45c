import type { Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * For what only accounts with a verified address may do: create projects, organizations, collections.
 * @throws ApiError 403, unless the operator does not ask for verified addresses.
 */
export function requireVerifiedEmail({ config }: Pick<Deps, 'config'>, viewer: Pick<Viewer, 'emailVerified'>): void {
  if (!config.accounts.requireVerifiedEmail || viewer.emailVerified) return
  throw forbidden(
    'Verify your e-mail address first: open the link in the message that was sent to it, or ask for another one',
  )
}
