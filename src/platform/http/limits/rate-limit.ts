// The rate limiter: three budgets per client address, three headers on every response, and 429 when a budget is used up.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { secretsEqual } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import type { Rate, RateCounter, RateDecision } from '#lib/concurrency/rate.ts'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { RateBudget } from '../route-config.ts'

const PERIOD_MS = MINUTE_MS
export const DEFAULT_REQUESTS_PER_MINUTE = 300
/** Requests per minute of an address while the counter store is unavailable, for a factor of 1. */
const LOST_REQUESTS_PER_MINUTE = 60

/**
 * Size of each budget relative to the API budget, and the prefix of its keys. Separate budgets prevent that a visitor's
 * browser uses up the requests of their programs: a page loads about 30 assets and images, and browsers load pages ahead.
 */
const BUDGETS: Readonly<Record<RateBudget, { factor: number; prefix: string }>> = {
  api: { factor: 1, prefix: 'rate' },
  page: { factor: 1, prefix: 'page-rate' },
  asset: { factor: 10, prefix: 'asset-rate' },
}

function rateOf(factor: number, requestsPerMinute = DEFAULT_REQUESTS_PER_MINUTE): Rate {
  const limit = factor * requestsPerMinute
  return { limit, periodMs: PERIOD_MS, burst: limit, lostPerMinute: factor * LOST_REQUESTS_PER_MINUTE }
}

/** A granted rate and the key of its counter. A key always has the same rate. */
export type GrantedRate = { requestsPerMinute: number; key: string }

/** Returns the rate that an operator granted to a token or to a client address. */
export type RateGrants = { forRequest(authorization: string | undefined, address: string): GrantedRate | undefined }

export type RateLimitOptions = {
  counters: RateCounter
  bypassKey: string | undefined
  grants: RateGrants
  /** Whether responses with 304 count. */
  countsUnchanged: boolean
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

type Counted = { key: string; rate: Rate; cost: number }

/** The parts of a request that the limiter uses. */
type Countable = {
  headers: IncomingHttpHeaders
  address: string
  config: Pick<FastifyContextConfig, 'budget' | 'cost'> | undefined
}

/** A request with the bypass key is not counted. Its headers show the whole rate, because clients read them. */
export function createRateLimiter({ counters, bypassKey, grants, countsUnchanged }: RateLimitOptions) {
  const counted = new WeakMap<FastifyRequest, Counted>()
  const remembered = new WeakMap<IncomingMessage, RateDecision>()
  const budgetOf = ({ headers, address, config }: Countable): Counted => {
    const granted = grants.forRequest(headers.authorization, address)
    const { factor, prefix } = BUDGETS[config?.budget ?? 'api']
    const key = granted === undefined ? `${prefix}:${addressKey(address)}` : `${prefix}-grant:${granted.key}`
    const rate = rateOf(factor, granted?.requestsPerMinute)
    // A granted rate can be smaller than the cost of one request.
    return { key, rate, cost: Math.min(config?.cost ?? 1, rate.limit) }
  }
  const isBypassed = (headers: IncomingHttpHeaders): boolean => {
    const bypass = headers['x-ratelimit-key']
    return bypassKey !== undefined && typeof bypass === 'string' && secretsEqual(bypass, bypassKey)
  }
  const giveBack = ({ key, rate, cost }: Counted): number => {
    const result = counters.giveBack(key, rate, cost)
    // A failed refund must not fail the request.
    if (result instanceof Promise) result.catch(() => {})
    return cost
  }
  const settle = (req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void => {
    const own = reply.statusCode === 304 ? counted.get(req) : undefined
    if (own === undefined) return done(null, payload)
    const refunded = giveBack(own)
    if (!isAsset(req))
      void reply.header('x-ratelimit-remaining', Number(reply.getHeader('x-ratelimit-remaining')) + refunded)
    done(null, payload)
  }
  const show = (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const { key, rate } = budgetOf({ headers: req.headers, address: req.clientAddress, config: undefined })
    const decision = isBypassed(req.headers) ? wholeRate(rate.limit) : counters.take(key, rate, 0)
    const apply = (state: RateDecision): void => {
      void reply.headers(headersOf(state))
      done()
    }
    if (decision instanceof Promise) decision.then(apply, done)
    else apply(decision)
  }
  return {
    /** Sets the headers of the API budget and counts nothing. */
    show,
    /** Counts a request with the cost of its route. */
    count: (request: Countable): RateDecision | Promise<RateDecision> => {
      const { key, rate, cost } = budgetOf(request)
      return isBypassed(request.headers) ? wholeRate(rate.limit) : counters.take(key, rate, cost)
    },
    /** Refunds the cost of a 304, unless these count. Returns the refunded cost. */
    refund: (request: Countable): number => (countsUnchanged ? 0 : giveBack(budgetOf(request))),
    /** Stores the decision about a request that the fast path leaves to the framework. */
    remember: (req: IncomingMessage, decision: RateDecision): void => void remembered.set(req, decision),
    /** Counts a request of the framework and sets the headers. Passes the 429 to `done`. */
    take: (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      const own = budgetOf({ headers: req.headers, address: req.clientAddress, config: req.routeOptions.config })
      if (isBypassed(req.headers)) return show(req, reply, done)
      if (!countsUnchanged) counted.set(req, own)
      const decide = (state: RateDecision): void => {
        if (!state.allowed) return done(refuse(reply, state))
        if (isAsset(req)) return show(req, reply, done)
        void reply.headers(headersOf(state))
        done()
      }
      const decision = remembered.get(req.raw) ?? counters.take(own.key, own.rate, own.cost)
      if (decision instanceof Promise) decision.then(decide, done)
      else decide(decision)
    },
    /** The onSend hook that refunds a 304 of the framework; undefined if these count. */
    settle: countsUnchanged ? undefined : settle,
  }
}

function wholeRate(limit: number): RateDecision {
  return { allowed: true, limit, remaining: limit, resetSeconds: 0, retryAfterMs: 0 }
}

type SendDone = (error: null, payload?: unknown) => void

function headersOf({ limit, remaining, resetSeconds }: RateDecision): Record<string, number> {
  return { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': resetSeconds }
}

/** The headers of responses that belong to no budget, because programs read the headers of every response. */
export const UNCOUNTED_HEADERS = headersOf(wholeRate(DEFAULT_REQUESTS_PER_MINUTE))

/** Responses with assets show the API budget, because programs know only that limit. */
const isAsset = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config?.budget === 'asset'

function refuse(reply: FastifyReply, decision: RateDecision): ApiError {
  const { retryAfterMs, limit, resetSeconds } = decision
  void reply.headers(headersOf(decision))
  return new ApiError(
    'ratelimit_error',
    `You are being rate-limited. Please wait ${retryAfterMs} milliseconds. 0/${limit} remaining.`,
    { headers: { 'retry-after': String(resetSeconds) } },
  )
}
