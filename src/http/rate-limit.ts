// The rate limiter: three budgets for each client address, three headers on every answer, 429 when one is used up.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters, Rate, Taken } from '#counters/counters.ts'
import { addressKey } from '#lib/address-key.ts'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { secretsEqual } from '#lib/tokens.ts'
import type { RateBudget } from './route-config.ts'

const PERIOD_MS = MINUTE_MS
const DEFAULT_REQUESTS_PER_MINUTE = 300

/**
 * What each budget has for every request that the API's has, and how its keys begin. One page brings some thirty
 * assets and pictures, and browsers load pages ahead, so that a visitor's browser never uses up what their programs have.
 */
const BUDGETS: Readonly<Record<RateBudget, { factor: number; prefix: string }>> = {
  api: { factor: 1, prefix: 'rate' },
  page: { factor: 1, prefix: 'page-rate' },
  asset: { factor: 10, prefix: 'asset-rate' },
}

/** What an address has a minute while the store of counters is lost, for every request that the API's budget has then. */
const LOST_REQUESTS_PER_MINUTE = 60

/** A rate of its own, and the name under which its use is counted: a key is always used with one rate. */
export type GrantedRate = { requestsPerMinute: number; key: string }

/** Rates that operators granted to a token or to a client address. */
export type RateGrants = { forRequest(authorization: string | undefined, address: string): GrantedRate | undefined }

export type RateLimitOptions = {
  counters: Counters
  bypassKey: string | undefined
  grants: RateGrants
  /** Whether 304 answers count. */
  countsUnchanged: boolean
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

type Counted = { key: string; rate: Rate; cost: number }

/**
 * `take` counts a request, as much as its route costs, and sets the three headers; its `done` gets the 429 when there is nothing left. A request with
 * the bypass key is not counted; its headers say that the whole rate is left, because clients read them on every answer.
 * `settle`, for the end of a request, takes the count of a 304 back where
 * these are not to count; undefined where they are.
 */
export function createRateLimiter({ counters, bypassKey, grants, countsUnchanged }: RateLimitOptions) {
  const counted = new WeakMap<FastifyRequest, Counted>()
  const take = (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const granted = grants.forRequest(req.headers.authorization, req.clientAddress)
    const { factor, prefix } = BUDGETS[req.routeOptions.config?.budget ?? 'api']
    const limit = factor * (granted?.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE)
    const bypass = req.headers['x-ratelimit-key']
    if (bypassKey !== undefined && typeof bypass === 'string' && secretsEqual(bypass, bypassKey)) {
      setHeaders(reply, { limit, remaining: limit, resetSeconds: 0 })
      return done()
    }
    const key = granted === undefined ? `${prefix}:${addressKey(req.clientAddress)}` : `${prefix}-grant:${granted.key}`
    const rate = { limit, periodMs: PERIOD_MS, burst: limit, lostPerMinute: factor * LOST_REQUESTS_PER_MINUTE }
    // A grant may be smaller than what one request costs.
    const cost = Math.min(req.routeOptions.config?.cost ?? 1, limit)
    if (!countsUnchanged) counted.set(req, { key, rate, cost })
    const decision = counters.take(key, rate, cost)
    if (decision instanceof Promise) decision.then((value) => done(apply(reply, value)), done)
    else done(apply(reply, decision))
  }
  const settle = (req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void => {
    const own = reply.statusCode === 304 ? counted.get(req) : undefined
    if (own === undefined) return done(null, payload)
    void reply.header('x-ratelimit-remaining', Number(reply.getHeader('x-ratelimit-remaining')) + own.cost)
    const given = counters.giveBack(own.key, own.rate, own.cost)
    // One count too many is no reason to fail an answer.
    if (given instanceof Promise) given.catch(() => {})
    done(null, payload)
  }
  return { take, settle: countsUnchanged ? undefined : settle }
}

type SendDone = (error: null, payload?: unknown) => void

type Shown = Pick<Taken, 'limit' | 'remaining' | 'resetSeconds'>

function setHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: Shown): void {
  void reply.header('x-ratelimit-limit', limit)
  void reply.header('x-ratelimit-remaining', remaining)
  void reply.header('x-ratelimit-reset', resetSeconds)
}

function apply(reply: FastifyReply, decision: Taken): ApiError | undefined {
  setHeaders(reply, decision)
  if (decision.allowed) return undefined
  return new ApiError(
    'ratelimit_error',
    `You are being rate-limited. Please wait ${decision.retryAfterMs} milliseconds. 0/${decision.limit} remaining.`,
    { headers: { 'retry-after': String(decision.resetSeconds) } },
  )
}
