// The port for short-lived counts that every request may touch: the rate limit, the sign-in throttle and the caps on
// what one address can add to a count. Losing them costs a moment of leniency, never data. Adapters: `memory/` for
// one process, `redis/` for several.

import type { MaybePromise, Rate, RateDecision } from '#lib/concurrency/rate.ts'
import { HOUR_MS } from '#lib/time.ts'

/** At most `max` hits in any `windowMs`. `max` is 1 to `WINDOW_MAX`: an adapter keeps the time of each hit. */
export type Window = { max: number; windowMs: number }

/** The largest `max` of a window. */
export const WINDOW_MAX = 1000

/** The longest time that anything here is remembered: 31 days. */
const SPAN_MAX_MS = 31 * 24 * HOUR_MS

/** At most `max` units, from the first use on for `spanMs`; then a new one begins. */
export type Allowance = { max: number; spanMs: number }

/** The largest `max` of an allowance. */
const ALLOWANCE_MAX = 1_000_000_000

export type WindowState = {
  /** Hits that count at this moment, at most `max`. */
  count: number
  /** Until another hit would be counted, rounded up; 0 when it would be now. */
  retryAfterMs: number
}

export type Hit = WindowState & {
  /** Whether this hit was counted; when not, it changed nothing. */
  counted: boolean
}

/**
 * Every call is atomic, also between processes where the adapter serves several. Keys are namespaced by their callers
 * (`address:…`, `sign-in:…`); `take`, `hit` and `spend` do not share theirs, and one key is always used with one rate or
 * one `windowMs`. The `max` of a window may change from hit to hit.
 * Numbers out of their ranges are errors of the caller: RangeError. Failures of the store reject.
 */
export interface Counters {
  /** Generic cell rate algorithm: takes `cost` (1 unless given, at most `burst`) if it may, and nothing if it may not. */
  take(key: string, rate: Rate, cost?: number): MaybePromise<RateDecision>
  /** Gives back what a `take` of the same key and rate has taken, for what turns out not to count. */
  giveBack(key: string, rate: Rate, cost?: number): MaybePromise<void>
  /** Counts one hit unless `max` were counted in the window that ends now. */
  hit(key: string, window: Window): MaybePromise<Hit>
  /** Takes back the newest hit that still counts, for what turns out not to count. The next `hit` has its place. */
  giveBackHit(key: string, window: Window): MaybePromise<void>
  /** What `hit` would find, without counting. */
  peek(key: string, window: Window): MaybePromise<WindowState>
  /**
   * Takes `amount` (a whole number from 0) of an allowance, or what is left of it; returns how much that was. A key has
   * one allowance at a time, so a caller who counts by the clock puts the hour or the day into the key.
   */
  spend(key: string, amount: number, allowance: Allowance): MaybePromise<number>
  /** Forgets the hits of a key. */
  reset(key: string): MaybePromise<void>
  /** Rejects when the store does not answer. */
  check(): Promise<void>
  close(): Promise<void>
}

/**
 * The rate as whole microseconds, in which adapters reckon so that nothing is lost to rounding: the interval at which
 * one unit is won back, and what `burst` units take.
 * @throws RangeError
 */
export function rateIntervals(rate: Rate, cost: number): { intervalUs: number; burstUs: number } {
  const { limit, periodMs, burst } = rate
  const intervalUs = Math.max(1, Math.round((periodMs * 1000) / limit))
  const burstUs = intervalUs * burst
  if (
    !isCount(limit) ||
    !isCount(burst) ||
    !isCount(cost) ||
    cost > burst ||
    !isSpan(periodMs) ||
    !isSpan(burstUs / 1000)
  ) {
    throw new RangeError(`Impossible rate: ${cost} of ${limit} per ${periodMs} ms with a burst of ${burst}`)
  }
  return { intervalUs, burstUs }
}

/** @throws RangeError */
export function checkWindow({ max, windowMs }: Window): void {
  if (!isCount(max) || max > WINDOW_MAX || !isSpan(windowMs)) {
    throw new RangeError(`Impossible window: ${max} in ${windowMs} ms`)
  }
}

/** @throws RangeError */
export function checkAllowance(amount: number, { max, spanMs }: Allowance): void {
  if (!Number.isSafeInteger(amount) || amount < 0 || !isCount(max) || max > ALLOWANCE_MAX || !isSpan(spanMs)) {
    throw new RangeError(`Impossible allowance: ${amount} of ${max} in ${spanMs} ms`)
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
const isSpan = (ms: number): boolean => ms > 0 && ms <= SPAN_MAX_MS
