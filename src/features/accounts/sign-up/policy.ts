// Who may sign up.
import { getSettings } from '#features/settings/settings-cache.ts'
import { forbidden, validationError } from '#lib/errors.ts'
import type { AccountDeps } from '../account-deps.ts'

/**
 * People do not see the field behind `honeypot`; programs that fill in everything do.
 * @throws ApiError `validation_error` naming `account_consent`, 403 where registration is closed
 */
export async function checkMaySignUp(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'config'>,
  honeypot: boolean | undefined,
): Promise<void> {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  if ((await getSettings(deps)).registration === 'closed') throw forbidden('This service takes no new accounts')
}
