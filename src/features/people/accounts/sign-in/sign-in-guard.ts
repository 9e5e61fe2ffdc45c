// Limits the guesses of passwords and codes: 10 failed attempts for an account within 15 minutes.

import { createLimiter, type Limiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { recordEvent, type Telemetry } from '#platform/telemetry/events.ts'
import type { Counters } from '#ports/counters/counters.ts'

const WINDOW = { max: 10, windowMs: 15 * MINUTE_MS } as const
/** Maximum number of attempts for an account that wait for each other. */
const WAITING_MAX = 20

export type SignInGuard = {
  /**
   * Runs `check`, which returns undefined if the password or code is wrong. An attempt counts as failed until it
   * succeeds, in all processes that share the counters. A process runs the attempts of an account one after the other.
   * @throws ApiError `invalid_credentials` with the message `refusal`, `ratelimit_error` after 10 failed attempts.
   */
  attempt<T>(account: string, refusal: string, check: () => Promise<T | undefined>): Promise<T>
  /** Resets the failed attempts after a sign-in. */
  forgive(account: string): Promise<void>
}

/** Creates a guard. Known accounts are identified by ID, unknown ones by the typed name, so that both behave the same. */
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
    attempt: (account, refusal, check) => {
      const key = keyOf(account)
      return inLine(key, async () => {
        // Counts before the check, because otherwise concurrent attempts in other processes would pass.
        const { counted, retryAfterMs } = await counters.hit(key, WINDOW)
        if (!counted) throw tooMany(retryAfterMs)
        let wrong = false
        try {
          const result = await check()
          if (result !== undefined) return result
          wrong = true
        } finally {
          if (!wrong) await counters.giveBackHit(key, WINDOW)
        }
        recordEvent(telemetry, 'account.sign_in_refused', isIdForm(account) ? { account_id: account } : {})
        throw invalidCredentials(refusal)
      })
    },
    forgive: async (account) => {
      await counters.reset(keyOf(account))
    },
  }
}

export function invalidCredentials(description: string): ApiError {
  return new ApiError('invalid_credentials', description)
}

const tooMany = (retryAfterMs: number): ApiError => retryLater('Too many failed sign-ins', retryAfterMs)

/** Returns 429 with the time of the next attempt. */
export function retryLater(problem: string, retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new ApiError('ratelimit_error', `${problem}. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

const keyOf = (account: string): string => `sign-in:${account}`
