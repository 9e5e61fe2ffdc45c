// Limits the answers that say that an email address has an account, so that nobody can check a list of addresses. After 5 answers
// within an hour to an address range, nobody in the range learns more until the hour has passed.
import { networkOf } from '#lib/address-key.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Counters } from '#ports/counters/counters.ts'

const ANSWERS = { max: 5, windowMs: HOUR_MS } as const
/** Maximum number of emails to an address, because anyone can cause them. */
const EMAILS = { max: 3, windowMs: HOUR_MS } as const

const keyOf = (address: string): string => `taken-email:${networkOf(address)}`

/** Counts an answer to a client. Returns false if the client must not receive it. */
export async function takeAnswer(counters: Counters, address: string): Promise<boolean> {
  return (await counters.hit(keyOf(address), ANSWERS)).counted
}

/** Returns the time until a client can receive another answer; 0 if it can receive one. */
export async function answerDelayMs(counters: Counters, address: string): Promise<number> {
  return (await counters.peek(keyOf(address), ANSWERS)).retryAfterMs
}

/** Counts an email about a sign-up. Returns false above the limit of the email address. */
export async function takeSignUpMail(counters: Counters, email: string): Promise<boolean> {
  return (await counters.hit(`sign-up-mail:${email.toLowerCase()}`, EMAILS)).counted
}
