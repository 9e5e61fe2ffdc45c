// Rates of requests, and the decision about one request.

/** In-process counters return values without a promise, so that the limiter costs no microtask. */
export type MaybePromise<T> = T | Promise<T>

/**
 * A steady rate of `limit` per `periodMs`, of which `burst` can arrive at the same time. While the shared store of the
 * counters is unavailable, each process allows `lostPerMinute` instead.
 */
export type Rate = { limit: number; periodMs: number; burst: number; lostPerMinute?: number }

export type RateDecision = {
  allowed: boolean
  /** The `limit` of the rate, for the response header. */
  limit: number
  /** Remaining units; 0 if the request is rejected. */
  remaining: number
  /**
   * Whole seconds, rounded up. For an allowed request, the time until the whole burst is available again. For a
   * rejected request, the time until the same request is allowed, at least 1.
   */
  resetSeconds: number
  /** Milliseconds until the same request is allowed, rounded up; 0 if the request is allowed. */
  retryAfterMs: number
}

export type RateCounter = {
  /** Counts `cost` units for a key if the rate allows them. */
  take(key: string, rate: Rate, cost?: number): MaybePromise<RateDecision>
  /** Returns `cost` units to a key. */
  giveBack(key: string, rate: Rate, cost?: number): MaybePromise<void>
}
