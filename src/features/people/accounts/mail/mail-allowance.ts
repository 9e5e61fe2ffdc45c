// Limits the emails that requests for an account can cause, so that no one can flood a mailbox.
import { HOUR_MS } from '#lib/time.ts'
import type { Counters } from '#ports/counters/counters.ts'
import { retryLater } from '../sign-in/sign-in-guard.ts'

const WINDOW = { max: 10, windowMs: HOUR_MS } as const

/** Counts an email. Returns false if 10 password reset links were counted for an account (an ID) within an hour. */
export async function takeResetMail(counters: Counters, account: string): Promise<boolean> {
  return (await counters.hit(`account-mail:reset-password:${account}`, WINDOW)).counted
}

/** Counts a verification email for an account (an ID). @throws ApiError `ratelimit_error` above 10 within an hour. */
export async function requireVerificationMail(counters: Counters, account: string): Promise<void> {
  const { counted, retryAfterMs } = await counters.hit(`account-mail:verify-email:${account}`, WINDOW)
  if (!counted) throw retryLater('Too many emails requested', retryAfterMs)
}
