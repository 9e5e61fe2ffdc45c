// Counts in this process, at a reduced rate, while the counter store is unavailable.
import type { MaybePromise, Rate } from '#lib/concurrency/rate.ts'
import { withinTime } from '#lib/concurrency/within-time.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Counters } from './counters.ts'

/** The reduced rate if a rate does not specify one. */
const LOST_PER_MINUTE = 60

/** Pause after a failure before one call tries the store again. */
const REST_MS = 1000

/** Maximum wait for the store, because every request waits for the limiter. */
const WAIT_MS = 500

type Options = {
  now: () => number
  /** Called once when the store becomes unavailable, and once when it responds again. */
  onLost: (failure: unknown) => void
  onBack: () => void
}

/**
 * Returns counters that use `primary` while it responds. If a call fails or takes longer than 500 ms, it and the next calls
 * use `fallback` at `lostPerMinute` (default: 60 per minute), and one call per second tries `primary` again. The two do not
 * share their counts. `check` checks `primary`.
 */
export function withFallback(primary: Counters, fallback: Counters, options: Options): Counters {
  const call = createCall(primary, fallback, options)
  return {
    take: (key, rate, cost = 1) =>
      call(
        () => primary.take(key, rate, cost),
        () => fallback.take(key, ...reduced(rate, cost)),
      ),
    giveBack: (key, rate, cost = 1) =>
      call(
        () => primary.giveBack(key, rate, cost),
        () => fallback.giveBack(key, ...reduced(rate, cost)),
      ),
    hit: (key, window) => call((counters) => counters.hit(key, window)),
    giveBackHit: (key, window) => call((counters) => counters.giveBackHit(key, window)),
    peek: (key, window) => call((counters) => counters.peek(key, window)),
    spend: (key, amount, allowance) => call((counters) => counters.spend(key, amount, allowance)),
    reset: (key) => call((counters) => counters.reset(key)),
    check: () => withinTime(primary.check(), WAIT_MS, lateError),
    close: async () => {
      await Promise.all([primary.close(), fallback.close()])
    },
  }
}

const lateError = () => new Error(`No response within ${WAIT_MS} ms`)

/** Returns the reduced rate, and the cost of the request, or as much of it as that rate can allow. */
function reduced({ lostPerMinute: limit = LOST_PER_MINUTE }: Rate, cost: number): [Rate, number] {
  return [{ limit, periodMs: MINUTE_MS, burst: limit }, Math.min(cost, limit)]
}

/** Returns a function that calls the store while it responds, and the fallback otherwise. */
function createCall(primary: Counters, fallback: Counters, { now, onLost, onBack }: Options) {
  let isLost = false
  let restUntilMs = 0

  return async <T>(use: (counters: Counters) => MaybePromise<T>, instead = use): Promise<T> => {
    if (isLost) {
      if (now() < restUntilMs) return instead(fallback)
      // Other calls continue with the fallback while this call tries the store.
      restUntilMs = now() + REST_MS
    }
    try {
      const result = await withinTime(use(primary), WAIT_MS, lateError)
      if (isLost) onBack()
      isLost = false
      return result
    } catch (failure) {
      // An error of the caller says nothing about the store.
      if (failure instanceof RangeError) throw failure
      restUntilMs = now() + REST_MS
      if (!isLost) onLost(failure)
      isLost = true
      return instead(fallback)
    }
  }
}
