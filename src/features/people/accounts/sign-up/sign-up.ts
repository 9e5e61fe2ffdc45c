import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { addressKey } from '#lib/address-key.ts'
import { ApiError } from '#lib/errors.ts'
import type { OfferedTag } from '#lib/languages.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { getSignUpIdentity, takeIdentity } from '../providers/sign-up-identity.ts'
import { recordOrigin } from '../sessions/origins.ts'
import { type Client, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { checkCaptcha } from '../sign-in/captcha.ts'
import { checkTermsVersion } from '../terms/check-terms-version.ts'
import { insertConsent } from '../terms/queries.ts'
import { type AccountFields, checkNewAccount, createAccount, prepareAccount, prepareOther } from './create-account.ts'
import { isEmailKey } from './email-key.ts'
import { checkMaySignUp, countSignUp, takeInvitation } from './policy.ts'
import { answerDelayMs, takeAnswer, takeSignUpMail } from './taken-answers.ts'

type SignUp = {
  fields: AccountFields
  challenge: string | null | undefined
  honeypot: boolean | undefined
  /** Code of an invitation. */
  invitation: string | undefined
  /** Key of an emailed link (`makeEmailKey`). */
  emailKey: string | undefined
  /** Version of the Terms that the user agrees to. */
  termsVersion: number | undefined
  language: OfferedTag | undefined
  /** Secret of a sign-in at a provider, in place of a password. */
  providerFlow?: string | undefined
  client: Client
}

/**
 * Creates an account and signs it in. The session contains its secret. After several sign-ups with email addresses of other
 * accounts, clients in the same address range get the same response for every address: undefined. An email then tells the reader
 * of the address how to continue.
 * @throws ApiError like `checkMaySignUp`, `checkTermsVersion`, `checkCaptcha` and `prepareAccount`
 */
export async function signUp(deps: AccountDeps, of: SignUp): Promise<SessionView | undefined> {
  const { fields, challenge, honeypot, invitation, emailKey, termsVersion, language, providerFlow, client } = of
  const { config } = deps
  const invited = { email: fields.email, invitation }
  const { needsInvitation } = await checkMaySignUp(deps, { honeypot, invited, address: client.ip })
  const agreed = await checkTermsVersion(deps, termsVersion)
  await checkCaptcha(config.accounts.captcha, { challenge, address: client.ip })
  const now = deps.now()
  const identity = providerFlow === undefined ? undefined : await getSignUpIdentity(deps, providerFlow)
  const hasKey =
    identity?.email?.toLowerCase() === fields.email.toLowerCase() ||
    (emailKey !== undefined && (await isEmailKey(deps.db, emailKey, { email: fields.email, now })))
  const checks = hasKey ? { ...deps, caller: addressKey(client.ip) } : checksOf(deps, client.ip)
  const prepared = identity === undefined ? await prepareAccount(checks, fields) : await prepareOther(checks, fields)
  if (!hasKey && (await answerDelayMs(deps.counters, client.ip)) > 0) {
    await requestEmailKey(deps, fields.email)
    return undefined
  }
  // Somebody who has given out invitations knows how many users will come.
  const giveBack = needsInvitation ? undefined : await countSignUp(deps, client.ip)
  const { approve_accounts } = await getSettings(deps)
  const awaitsApproval = approve_accounts && !needsInvitation
  const session = await transaction(deps, async (tx, changed) => {
    const details = needsInvitation ? { invitation: await takeInvitation(tx, invited, now) } : {}
    const emailVerified = hasKey || !config.accounts.requireVerifiedEmail
    const accountId = await createAccount(tx, { ...prepared, emailVerified, awaitsApproval, language, now })
    if (identity !== undefined)
      await takeIdentity(tx, changed, { accountId, secret: providerFlow ?? '', identity, now })
    if (agreed !== undefined) await insertConsent(tx, { accountId, version: agreed, now })
    const actor = ownerAt(accountId, client)
    await recordAudit(tx, { action: 'account.created', actor, subject: { kind: 'user', id: accountId }, details })
    await recordOrigin(tx, { accountId, event: 'sign_up', client, now })
    return issueSession(tx, changed, { accountId, client, now })
  }).catch(async (error: unknown) => {
    await giveBack?.()
    throw error
  })
  recordEvent(deps, 'account.created', { account_id: session.user_id })
  return session
}

/** The response of the API if an email must confirm the address first: the same for every address. */
export function emailKeyRequired(): ApiError {
  const message = 'An email was sent to this address. Its link contains the key with which the sign-up continues'
  const details = { field: 'email_key', message: 'is required for this request' }
  return new ApiError('unauthorized', message, { details })
}

/** The checks of a new account for a client, which does not learn without limit who has an account. */
export function checksOf(deps: AccountDeps, address: string) {
  return { ...deps, caller: addressKey(address), mayAnswer: () => takeAnswer(deps.counters, address) }
}

/** Sends an email without looking at the account, so that the time of the response reveals nothing. */
async function requestEmailKey(deps: AccountDeps, email: string): Promise<void> {
  if (!(await takeSignUpMail(deps.counters, email))) return
  await transaction(deps, (tx) => enqueue(tx, 'accounts.send-sign-up-mail', { email }))
}

/** Validates a sign-up without the captcha. @throws ApiError like `signUp`. */
export async function validateSignUp(
  deps: AccountDeps,
  {
    fields,
    honeypot,
    invitation,
    termsVersion,
    address,
  }: Pick<SignUp, 'fields' | 'honeypot' | 'invitation' | 'termsVersion'> & { address: string },
): Promise<void> {
  await checkMaySignUp(deps, { honeypot, invited: { email: fields.email, invitation }, address })
  await checkTermsVersion(deps, termsVersion)
  await checkNewAccount(checksOf(deps, address), fields)
}
