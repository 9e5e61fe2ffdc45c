// How many messages one account can cause: a mailbox must not be flooded through us, least of all a stranger's.

import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Counters } from '#ports/counters/counters.ts'

const WINDOW = { max: 10, windowMs: HOUR_MS } as const

type Purpose = 'reset-password' | 'verify-email'

/** Counts a message; false when there were ten of this purpose within the hour. `account` is its ID. */
export async function takeMail(counters: Counters, purpose: Purpose, account: string): Promise<boolean> {
  return (await counters.hit(keyOf(purpose, account), WINDOW)).counted
}

/** The same for those who may know. @throws ApiError `ratelimit_error` */
export async function requireMail(counters: Counters, purpose: Purpose, account: string): Promise<void> {
  const { counted, retryAfterMs } = await counters.hit(keyOf(purpose, account), WINDOW)
  if (counted) return
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  throw new ApiError('ratelimit_error', `Too many messages were asked for. Please wait ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

function keyOf(purpose: Purpose, account: string): string {
  return `account-mail:${purpose}:${account}`
}
