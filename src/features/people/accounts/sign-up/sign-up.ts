import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { addressKey } from '#lib/address-key.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { type Client, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { checkCaptcha } from '../sign-in/captcha.ts'
import { type AccountFields, checkNewAccount, createAccount, prepareAccount } from './create-account.ts'
import { checkMaySignUp, takeInvitation } from './policy.ts'

type SignUp = {
  fields: AccountFields
  challenge: string | null | undefined
  honeypot: boolean | undefined
  /** Code of an invitation. */
  invitation: string | undefined
  client: Client
}

/**
 * Creates an account and signs it in. The session contains its secret.
 * @throws ApiError like `checkMaySignUp`, `checkCaptcha` and `prepareAccount`
 */
export async function signUp(
  deps: AccountDeps,
  { fields, challenge, honeypot, invitation, client }: SignUp,
): Promise<SessionView> {
  const { config } = deps
  const invited = { email: fields.email, invitation }
  const { needsInvitation } = await checkMaySignUp(deps, { honeypot, invited })
  await checkCaptcha(config.accounts.captcha, { challenge, address: client.ip })
  const prepared = await prepareAccount({ ...deps, caller: addressKey(client.ip) }, fields)
  const now = deps.now()
  const session = await transaction(deps, async (tx, changed) => {
    const details = needsInvitation ? { invitation: await takeInvitation(tx, invited, now) } : {}
    const emailVerified = !config.accounts.requireVerifiedEmail
    const accountId = await createAccount(tx, { ...prepared, emailVerified, now })
    const actor = ownerAt(accountId, client)
    await recordAudit(tx, { action: 'account.created', actor, subject: { kind: 'user', id: accountId }, details })
    return issueSession(tx, changed, { accountId, client, now })
  })
  recordEvent(deps, 'account.created', { account_id: session.user_id })
  return session
}

/** Validates a sign-up without the captcha. @throws ApiError like `signUp`. */
export async function validateSignUp(
  deps: AccountDeps,
  { fields, honeypot, invitation, caller }: Pick<SignUp, 'fields' | 'honeypot' | 'invitation'> & { caller: string },
): Promise<void> {
  await checkMaySignUp(deps, { honeypot, invited: { email: fields.email, invitation } })
  await checkNewAccount({ ...deps, caller }, fields)
}
