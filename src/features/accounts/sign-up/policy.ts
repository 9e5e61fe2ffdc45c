// Who may sign up.
import { forbidden, validationError } from '#lib/errors.ts'
import type { AccountDeps } from '../account-deps.ts'

/**
 * People do not see the field behind `honeypot`; programs that fill in everything do.
 * @throws ApiError `validation_error` naming `account_consent`, 403 where registration is closed
 */
export function checkMaySignUp({ config }: Pick<AccountDeps, 'config'>, honeypot: boolean | undefined): void {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  if (config.accounts.registration === 'closed') throw forbidden('This service takes no new accounts')
}
