// Counts in this process, at a reduced rate, while the counter store is unavailable.
import type { MaybePromise, Rate } from '#lib/concurrency/rate.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Counters } from './counters.ts'

/** The reduced rate if a rate does not specify one. */
const LOST_PER_MINUTE = 60

/** Returns the reduced rate. */
function lostRate({ lostPerMinute: limit = LOST_PER_MINUTE }: Rate): Rate {
  return { limit, periodMs: MINUTE_MS, burst: limit }
}

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
  const call = createCall(options)
  return {
    take: (key, rate, cost = 1) =>
      call(
        () => primary.take(key, rate, cost),
        () => fallback.take(key, lostRate(rate), Math.min(cost, lostRate(rate).burst)),
      ),
    giveBack: (key, rate, cost = 1) =>
      call(
        () => primary.giveBack(key, rate, cost),
        () => fallback.giveBack(key, lostRate(rate), Math.min(cost, lostRate(rate).burst)),
      ),
    hit: (key, window) =>
      call(
        () => primary.hit(key, window),
        () => fallback.hit(key, window),
      ),
    giveBackHit: (key, window) =>
      call(
        () => primary.giveBackHit(key, window),
        () => fallback.giveBackHit(key, window),
      ),
    peek: (key, window) =>
      call(
        () => primary.peek(key, window),
        () => fallback.peek(key, window),
      ),
    spend: (key, amount, allowance) =>
      call(
        () => primary.spend(key, amount, allowance),
        () => fallback.spend(key, amount, allowance),
      ),
    reset: (key) =>
      call(
        () => primary.reset(key),
        () => fallback.reset(key),
      ),
    check: () => withinTime(primary.check()),
    close: async () => {
      await Promise.all([primary.close(), fallback.close()])
    },
  }
}

/** Returns a function that calls the store while it responds, and the fallback otherwise. */
function createCall({ now, onLost, onBack }: Options) {
  let lost = false
  let restUntilMs = 0

  function markLost(failure: unknown): void {
    restUntilMs = now() + REST_MS
    if (lost) return
    lost = true
    onLost(failure)
  }

  function markBack(): void {
    if (!lost) return
    lost = false
    onBack()
  }

  async function settle<T>(answer: Promise<T>, instead: () => MaybePromise<T>): Promise<T> {
    try {
      const result = await withinTime(answer)
      markBack()
      return result
    } catch (failure) {
      return afterFailure(failure, instead)
    }
  }

  function afterFailure<T>(failure: unknown, instead: () => MaybePromise<T>): MaybePromise<T> {
    // An error of the caller says nothing about the store.
    if (failure instanceof RangeError) throw failure
    markLost(failure)
    return instead()
  }

  function call<T>(first: () => MaybePromise<T>, instead: () => MaybePromise<T>): MaybePromise<T> {
    if (lost) {
      if (now() < restUntilMs) return instead()
      // Other calls continue with the fallback while this call tries the store.
      restUntilMs = now() + REST_MS
    }
    try {
      const result = first()
      if (result instanceof Promise) return settle(result, instead)
      markBack()
      return result
    } catch (failure) {
      return afterFailure(failure, instead)
    }
  }

  return call
}

async function withinTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // Results that arrived while this process was busy are read first.
  const timer = setTimeout(() => setImmediate(reject, new Error(`No response within ${WAIT_MS} ms`)), WAIT_MS)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
