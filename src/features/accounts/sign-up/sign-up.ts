import { transaction } from '#cache/transaction.ts'
import { forbidden, validationError } from '#lib/errors.ts'
import { recordEvent } from '#telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { type Client, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { checkCaptcha } from '../sign-in/captcha.ts'
import { type AccountFields, createAccount, prepareAccount } from './create-account.ts'

type SignUp = {
  fields: AccountFields
  challenge: string | null | undefined
  honeypot: boolean | undefined
  client: Client
}

/**
 * Makes an account for somebody and signs him in; the session holds its secret.
 * @throws ApiError as `checkMaySignUp`, `checkCaptcha` and `prepareAccount`
 */
export async function signUp(deps: AccountDeps, { fields, challenge, honeypot, client }: SignUp): Promise<SessionView> {
  const { config } = deps
  checkMaySignUp(deps, honeypot)
  await checkCaptcha(config.accounts.captcha, { challenge, address: client.ip })
  const prepared = await prepareAccount(deps, fields)
  const now = deps.now()
  const session = await transaction(deps, async (tx, changed) => {
    const emailVerified = !config.accounts.requireVerifiedEmail
    const accountId = await createAccount(tx, { ...prepared, emailVerified, now })
    return issueSession(tx, changed, { accountId, client, now })
  })
  recordEvent(deps, 'account.created', { account_id: session.user_id })
  return session
}

/**
 * People do not see the field behind `honeypot`; programs that fill in everything do.
 * @throws ApiError `validation_error` naming `account_consent`, 403 where registration is closed
 */
export function checkMaySignUp({ config }: Pick<AccountDeps, 'config'>, honeypot: boolean | undefined): void {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  if (config.accounts.registration === 'closed') throw forbidden('This service takes no new accounts')
}
