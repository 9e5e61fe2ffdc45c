// How often a password or code may be guessed: ten wrong ones for an account within 15 minutes, then no more until the
// window has passed.

import { createLimiter, type Limiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { recordEvent, type Telemetry } from '#platform/telemetry/events.ts'
import type { Counters } from '#ports/counters/counters.ts'

const WINDOW = { max: 10, windowMs: 15 * MINUTE_MS } as const
/** Tries of one account that may wait for each other. */
const WAITING_MAX = 20

export type SignInGuard = {
  /**
   * Runs `check`, which answers undefined when the password or code is wrong. A try counts as wrong until it has proved
   * right, in every process that shares the counters; in one process tries of an account run one after the other.
   * @throws ApiError `invalid_credentials` saying `refusal` when it is wrong, `ratelimit_error` after ten wrong ones.
   */
  attempt<T>(account: string, refusal: string, check: () => Promise<T | undefined>): Promise<T>
  /** Forgets wrong tries, once the owner has signed in. */
  forgive(account: string): Promise<void>
}

/** An account is named by its ID, an unknown one by the name typed, so that both are answered alike. */
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
        // Counted before it is known to be wrong: between a look and a count, other processes would let theirs through.
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

function tooMany(retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new ApiError('ratelimit_error', `Too many failed sign-ins. Please wait ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

function keyOf(account: string): string {
  return `sign-in:${account}`
}
