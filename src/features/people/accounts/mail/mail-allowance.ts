// Limits the emails that requests for an account can cause, so that no one can flood a mailbox.
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Counters } from '#ports/counters/counters.ts'

const WINDOW = { max: 10, windowMs: HOUR_MS } as const

type Purpose = 'reset-password' | 'verify-email'

/** Counts an email. Returns false if 10 emails with this purpose were counted within an hour. `account` is an ID. */
export async function takeMail(counters: Counters, purpose: Purpose, account: string): Promise<boolean> {
  return (await counters.hit(keyOf(purpose, account), WINDOW)).counted
}

/** Counts an email. @throws ApiError `ratelimit_error` above the limit. */
export async function requireMail(counters: Counters, purpose: Purpose, account: string): Promise<void> {
  const { counted, retryAfterMs } = await counters.hit(keyOf(purpose, account), WINDOW)
  if (counted) return
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  throw new ApiError('ratelimit_error', `Too many emails requested. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

function keyOf(purpose: Purpose, account: string): string {
  return `account-mail:${purpose}:${account}`
}
