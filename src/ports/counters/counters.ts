// The port for short-lived counts of requests: the rate limit, the sign-in throttle, and the caps on what one IP address
// can add to a count. If the counts are lost, limits are lenient for a moment; no data is lost. Adapters: `memory/` for one
// process, `redis/` for several.

import type { MaybePromise, Rate, RateDecision } from '#lib/concurrency/rate.ts'
import { HOUR_MS } from '#lib/time.ts'

/** At most `max` hits in any `windowMs`. `max` is 1 to `WINDOW_MAX`, because an adapter stores the time of each hit. */
export type Window = { max: number; windowMs: number }

/** The largest `max` of a window. */
export const WINDOW_MAX = 1000

/** Maximum time span of a count: 31 days. */
const SPAN_MAX_MS = 31 * 24 * HOUR_MS

/** At most `max` units within `spanMs` after the first use. Then a new span begins. */
export type Allowance = { max: number; spanMs: number }

/** The largest `max` of an allowance. */
const ALLOWANCE_MAX = 1_000_000_000

export type WindowState = {
  /** Current number of hits, at most `max`. */
  count: number
  /** Time until another hit would be counted, rounded up; 0 if it would be counted now. */
  retryAfterMs: number
}

export type Hit = WindowState & {
  /** Whether this hit was counted. If not, it changed nothing. */
  counted: boolean
}

/**
 * Every call is atomic, even between processes. Callers add a namespace to their keys (`address:…`, `sign-in:…`). `take`,
 * `hit` and `spend` do not share keys, and callers must use a key with one rate or one `windowMs`. The `max` of a window can
 * change between hits. Numbers out of range throw RangeError. Failures of the store reject.
 */
export interface Counters {
  /** Takes `cost` units (default: 1, at most `burst`) by the generic cell rate algorithm, or none if the limit is reached. */
  take(key: string, rate: Rate, cost?: number): MaybePromise<RateDecision>
  /** Undoes a `take` of the same key and rate, if the request should not count. */
  giveBack(key: string, rate: Rate, cost?: number): MaybePromise<void>
  /** Counts one hit, except if `max` hits were counted in the window that ends now. */
  hit(key: string, window: Window): MaybePromise<Hit>
  /** Undoes the newest hit that still counts, if the request should not count. */
  giveBackHit(key: string, window: Window): MaybePromise<void>
  /** Returns the state of a window without counting. */
  peek(key: string, window: Window): MaybePromise<WindowState>
  /**
   * Takes `amount` (a whole number from 0) of an allowance, or the rest of it, and returns the granted amount. A key has
   * one allowance at a time, so callers that count per hour or day add the hour or day to the key.
   */
  spend(key: string, amount: number, allowance: Allowance): MaybePromise<number>
  /** Deletes the hits of a key. */
  reset(key: string): MaybePromise<void>
  /** Rejects if the store does not respond. */
  check(): Promise<void>
  close(): Promise<void>
}

/**
 * Converts a rate to whole microseconds, to avoid rounding: the interval of one unit, and the time for `burst` units.
 * @throws RangeError
 */
export function rateIntervals(rate: Rate, cost: number): { intervalUs: number; burstUs: number } {
  const { limit, periodMs, burst } = rate
  const intervalUs = Math.max(1, Math.round((periodMs * 1000) / limit))
  const burstUs = intervalUs * burst
  if (
    !isCount(limit) ||
    !isCount(burst) ||
    !(cost === 0 || isCount(cost)) ||
    cost > burst ||
    !isSpan(periodMs) ||
    !isSpan(burstUs / 1000)
  )
    throw new RangeError(`Impossible rate: ${cost} of ${limit} per ${periodMs} ms with a burst of ${burst}`)
  return { intervalUs, burstUs }
}

/** Returns the decision for the time in microseconds that is left of a burst; less than 0 if units are missing. */
export function rateDecision(
  { limit }: Rate,
  { intervalUs, burstUs }: ReturnType<typeof rateIntervals>,
  spareUs: number,
): RateDecision {
  const allowed = spareUs >= 0
  return {
    allowed,
    limit,
    remaining: allowed ? Math.floor(spareUs / intervalUs) : 0,
    resetSeconds: Math.ceil((allowed ? burstUs - spareUs : -spareUs) / 1e6),
    retryAfterMs: allowed ? 0 : Math.ceil(-spareUs / 1000),
  }
}

/** @throws RangeError */
export function checkWindow({ max, windowMs }: Window): void {
  if (!isCount(max) || max > WINDOW_MAX || !isSpan(windowMs))
    throw new RangeError(`Impossible window: ${max} in ${windowMs} ms`)
}

/** @throws RangeError */
export function checkAllowance(amount: number, { max, spanMs }: Allowance): void {
  if (!Number.isSafeInteger(amount) || amount < 0 || !isCount(max) || max > ALLOWANCE_MAX || !isSpan(spanMs))
    throw new RangeError(`Impossible allowance: ${amount} of ${max} in ${spanMs} ms`)
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
const isSpan = (ms: number): boolean => ms > 0 && ms <= SPAN_MAX_MS
