// The limiter of decisions.md 2: one budget a client address, three headers on every answer, 429 when it is used up.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters, Taken } from '#counters/counters.ts'
import { addressKey } from '#lib/address-key.ts'
import { ApiError } from '#lib/errors.ts'
import { secretsEqual } from '#lib/tokens.ts'

const PERIOD_MS = 60_000
export const DEFAULT_REQUESTS_PER_MINUTE = 300

/** A rate of its own, and the name under which its use is counted: a key is always used with one rate. */
export type GrantedRate = { requestsPerMinute: number; key: string }

/** Rates that operators granted to a token or to a client address. */
export type RateGrants = { forRequest(authorization: string | undefined, address: string): GrantedRate | undefined }

export type RateLimitOptions = { counters: Counters; bypassKey: string | undefined; grants: RateGrants }

/**
 * Counts a request and sets the three headers; `done` gets the 429 when there is nothing left. A request with the
 * bypass key is neither counted nor marked.
 */
export function createRateLimiter({ counters, bypassKey, grants }: RateLimitOptions) {
  return (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const key = req.headers['x-ratelimit-key']
    if (bypassKey !== undefined && typeof key === 'string' && secretsEqual(key, bypassKey)) return done()
    const granted = grants.forRequest(req.headers.authorization, req.clientAddress)
    const limit = granted?.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE
    const counted = granted === undefined ? `rate:${addressKey(req.clientAddress)}` : `rate-grant:${granted.key}`
    const decision = counters.take(counted, { limit, periodMs: PERIOD_MS, burst: limit })
    if (decision instanceof Promise) decision.then((value) => done(apply(reply, value)), done)
    else done(apply(reply, decision))
  }
}

function apply(reply: FastifyReply, decision: Taken): ApiError | undefined {
  void reply.header('x-ratelimit-limit', decision.limit)
  void reply.header('x-ratelimit-remaining', decision.remaining)
  void reply.header('x-ratelimit-reset', decision.resetSeconds)
  if (decision.allowed) return undefined
  return new ApiError(
    'ratelimit_error',
    `You are being rate-limited. Please wait ${decision.retryAfterMs} milliseconds. 0/${decision.limit} remaining.`,
    { headers: { 'retry-after': String(decision.resetSeconds) } },
  )
}
