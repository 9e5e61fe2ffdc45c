import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { takeResetMail } from '../mail/mail-allowance.ts'
import { findAccountByAnyName } from '../queries.ts'
import { checkCaptcha } from '../sign-in/captcha.ts'

type Request = { name: string; challenge: string | null | undefined; address: string }

/**
 * Sends a password reset link. Neither the response nor its time reveals whether the account exists.
 * @throws ApiError `captcha_error`
 */
export async function requestPasswordReset(deps: AccountDeps, { name, challenge, address }: Request): Promise<void> {
  await checkCaptcha(deps.config.accounts.captcha, { challenge, address })
  const account = await findAccountByAnyName(deps.db, name)
  if (!(await takeResetMail(deps.counters, account?.id ?? `name:${name.toLowerCase()}`))) return
  // Adds a job even without an account, so that the response time is the same.
  const account_id = account?.id ?? null
  await transaction(deps, (tx) => enqueue(tx, 'accounts.send-mail', { kind: 'reset-password', account_id }))
}
