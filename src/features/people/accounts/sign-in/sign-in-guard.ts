// Limits the guesses of passwords and codes within 15 minutes. Failed attempts count for the place that they come from: an account
// and an IP address at a sign-in, a session at a confirmation. So an attacker cannot block the owner of an account elsewhere.
// Attempts from unknown IP addresses also count together, because an attacker can have many addresses.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { addressKey } from '#lib/address-key.ts'
import { createLimiter, type Limiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { recordEvent, type Telemetry } from '#platform/telemetry/events.ts'
import type { Counters } from '#ports/counters/counters.ts'

const WINDOW_MS = 15 * MINUTE_MS
/** Maximum number of failed attempts from one place. */
const PLACE_MAX = 10
/** Maximum numbers of failed attempts for an account from all IP addresses without a session of the account. */
const UNKNOWN_MAX = { password: 100, code: 10 } as const
/** Maximum number of attempts from one place that wait for each other. */
const WAITING_MAX = 20

/** An attempt. Existing accounts are identified by ID, others by the typed name, so that both behave the same. */
export type Guess = {
  account: string
  /** The counts to which the attempt belongs. The first one is the place that it comes from. */
  counts: readonly { key: string; max: number }[]
}

/** Returns an attempt to sign in. `isKnown`: a session of the account has used the IP address. */
export function signInGuess(of: {
  account: string
  address: string
  isKnown: boolean
  what: keyof typeof UNKNOWN_MAX
}): Guess {
  const { account, address, isKnown, what } = of
  const place = { key: `sign-in:${account}:${addressKey(address)}`, max: PLACE_MAX }
  const unknown = { key: `sign-in-${what}:${account}`, max: UNKNOWN_MAX[what] }
  return { account, counts: isKnown ? [place] : [place, unknown] }
}

/** Returns an attempt to confirm the owner of a session. */
export function confirmationGuess({ id, token }: Viewer): Guess {
  return { account: id, counts: [{ key: `confirmation:${token.kind}:${token.id}`, max: PLACE_MAX }] }
}

export type SignInGuard = {
  /**
   * Runs `check`, which returns undefined if the password or code is wrong. An attempt counts as failed until it
   * succeeds, in all processes that share the counters. A process runs the attempts from one place one after the other.
   * @throws ApiError `invalid_credentials` with the message `refusal`, `ratelimit_error` after too many failed attempts.
   */
  attempt<T>(guess: Guess, refusal: string, check: () => Promise<T | undefined>): Promise<T>
  /** Resets the failed attempts from a place. */
  forgive(guess: Guess): Promise<void>
  /** Resets the failed attempts for an account from an IP address and from all unknown ones, after a sign-in. */
  forgiveSignIns(of: { account: string; address: string }): Promise<void>
}

/** Creates a guard. */
export function createSignInGuard({ counters, ...telemetry }: Telemetry & { counters: Counters }): SignInGuard {
  const lines = new Map<string, { limiter: Limiter; users: number }>()

  async function inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = lines.get(key) ?? {
      limiter: createLimiter({ running: 1, waiting: WAITING_MAX, refuse: () => tooMany(1_000) }),
      users: 0,
    }
    lines.set(key, line)
    line.users += 1
    try {
      return await line.limiter.run(work)
    } finally {
      line.users -= 1
      if (line.users === 0) lines.delete(key)
    }
  }

  return {
    attempt: ({ account, counts }, refusal, check) =>
      inLine(counts[0]?.key ?? account, async () => {
        // Counts before the check, because otherwise concurrent attempts in other processes would pass.
        await hitAll(counters, counts)
        let wrong = false
        try {
          const result = await check()
          if (result !== undefined) return result
          wrong = true
        } finally {
          if (!wrong) await giveBackAll(counters, counts)
        }
        recordEvent(telemetry, 'account.sign_in_refused', isIdForm(account) ? { account_id: account } : {})
        throw invalidCredentials(refusal)
      }),
    forgive: async ({ counts }) => {
      for (const { key } of counts) await counters.reset(key)
    },
    forgiveSignIns: async ({ account, address }) => {
      for (const what of ['password', 'code'] as const) {
        const { counts } = signInGuess({ account, address, isKnown: false, what })
        for (const { key } of counts) await counters.reset(key)
      }
    },
  }
}

/** Counts an attempt everywhere or nowhere. @throws ApiError `ratelimit_error` */
async function hitAll(counters: Counters, counts: Guess['counts']): Promise<void> {
  for (const [index, { key, max }] of counts.entries()) {
    const { counted, retryAfterMs } = await counters.hit(key, { max, windowMs: WINDOW_MS })
    if (counted) continue
    await giveBackAll(counters, counts.slice(0, index))
    throw tooMany(retryAfterMs)
  }
}

async function giveBackAll(counters: Counters, counts: Guess['counts']): Promise<void> {
  for (const { key, max } of counts) await counters.giveBackHit(key, { max, windowMs: WINDOW_MS })
}

export function invalidCredentials(description: string, cause?: unknown): ApiError {
  return new ApiError('invalid_credentials', description, { cause })
}

const tooMany = (retryAfterMs: number): ApiError => retryLater('Too many failed sign-ins', retryAfterMs)

/** Returns seconds, or minutes from two minutes on. */
const waitText = (seconds: number): string =>
  seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`

/** Returns 429 with the time of the next attempt. */
export function retryLater(problem: string, retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new ApiError('ratelimit_error', `${problem}. Try again in ${waitText(seconds)}.`, {
    headers: { 'retry-after': String(seconds) },
  })
}
