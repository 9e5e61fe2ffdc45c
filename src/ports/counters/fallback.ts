// What happens when the counter store is lost: counting goes on in this process, under a reduced rate.

import type { MaybePromise, Rate } from '#lib/concurrency/rate.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Counters } from './counters.ts'

/** What takes the place of a rate that names nothing itself. */
const LOST_PER_MINUTE = 60

/** The rate that takes the place of another while the store is lost. */
function lostRate({ lostPerMinute: limit = LOST_PER_MINUTE }: Rate): Rate {
  return { limit, periodMs: MINUTE_MS, burst: limit }
}

/** How long the store is left alone after a failure before one call tries it again. */
const REST_MS = 1000

/** How long a call may wait for the store; the limiter stands before every request. */
const WAIT_MS = 500

type Options = {
  now: () => number
  /** Called once when the store is lost, with the failure, and once when it is back. */
  onLost: (failure: unknown) => void
  onBack: () => void
}

/**
 * Counters that ask `primary` while it answers. When it fails or takes longer than half a second, `fallback` takes over
 * at the rate that is meant for this, 60 per minute where none is named, this call included, and once a second one call tries `primary` again. The two do not share
 * their counts. `check` tells the state of `primary`.
 */
export function withFallback(primary: Counters, fallback: Counters, { now, onLost, onBack }: Options): Counters {
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
    // The caller's own error, which the store has nothing to do with.
    if (failure instanceof RangeError) throw failure
    markLost(failure)
    return instead()
  }

  function ask<T>(first: () => MaybePromise<T>, instead: () => MaybePromise<T>): MaybePromise<T> {
    if (lost) {
      if (now() < restUntilMs) return instead()
      // The others go on with the fallback while this call tries.
      restUntilMs = now() + REST_MS
    }
    try {
      const answer = first()
      if (answer instanceof Promise) return settle(answer, instead)
      markBack()
      return answer
    } catch (failure) {
      return afterFailure(failure, instead)
    }
  }

  return {
    take: (key, rate, cost = 1) =>
      ask(
        () => primary.take(key, rate, cost),
        () => fallback.take(key, lostRate(rate), Math.min(cost, lostRate(rate).burst)),
      ),
    giveBack: (key, rate, cost = 1) =>
      ask(
        () => primary.giveBack(key, rate, cost),
        () => fallback.giveBack(key, lostRate(rate), Math.min(cost, lostRate(rate).burst)),
      ),
    hit: (key, window) =>
      ask(
        () => primary.hit(key, window),
        () => fallback.hit(key, window),
      ),
    giveBackHit: (key, window) =>
      ask(
        () => primary.giveBackHit(key, window),
        () => fallback.giveBackHit(key, window),
      ),
    peek: (key, window) =>
      ask(
        () => primary.peek(key, window),
        () => fallback.peek(key, window),
      ),
    spend: (key, amount, allowance) =>
      ask(
        () => primary.spend(key, amount, allowance),
        () => fallback.spend(key, amount, allowance),
      ),
    reset: (key) =>
      ask(
        () => primary.reset(key),
        () => fallback.reset(key),
      ),
    check: () => withinTime(primary.check()),
    close: async () => {
      await Promise.all([primary.close(), fallback.close()])
    },
  }
}

async function withinTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // Answers that came while this process was busy are read first.
  const timer = setTimeout(() => setImmediate(reject, new Error(`No answer within ${WAIT_MS} ms`)), WAIT_MS)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
