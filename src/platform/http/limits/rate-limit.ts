// The rate limiter: three budgets for each client address, three headers on every answer, 429 when one is used up.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { secretsEqual } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import type { Rate, RateCounter, RateDecision } from '#lib/concurrency/rate.ts'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { RateBudget } from '../route-config.ts'

const PERIOD_MS = MINUTE_MS
const DEFAULT_REQUESTS_PER_MINUTE = 300
/** What an address has a minute while the store of counters is lost, for every request that the API's budget has then. */
const LOST_REQUESTS_PER_MINUTE = 60

/**
 * What each budget has for every request that the API's has, and how its keys begin. One page brings some thirty
 * assets and pictures, and browsers load pages ahead, so that a visitor's browser never uses up what their programs have.
 */
const BUDGETS: Readonly<Record<RateBudget, { factor: number; prefix: string; usual: Rate }>> = {
  api: budget(1, 'rate'),
  page: budget(1, 'page-rate'),
  asset: budget(10, 'asset-rate'),
}

function budget(factor: number, prefix: string) {
  return { factor, prefix, usual: rateOf(factor, DEFAULT_REQUESTS_PER_MINUTE) }
}

function rateOf(factor: number, requestsPerMinute: number): Rate {
  const limit = factor * requestsPerMinute
  return { limit, periodMs: PERIOD_MS, burst: limit, lostPerMinute: factor * LOST_REQUESTS_PER_MINUTE }
}

/** A rate of its own, and the name under which its use is counted: a key is always used with one rate. */
export type GrantedRate = { requestsPerMinute: number; key: string }

/** Rates that operators granted to a token or to a client address. */
export type RateGrants = { forRequest(authorization: string | undefined, address: string): GrantedRate | undefined }

export type RateLimitOptions = {
  counters: RateCounter
  bypassKey: string | undefined
  grants: RateGrants
  /** Whether 304 answers count. */
  countsUnchanged: boolean
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

type Counted = { key: string; rate: Rate; cost: number }

/** What a request is counted by: its headers, its client's address, what its route says of itself. */
type Countable = {
  headers: IncomingHttpHeaders
  address: string
  config: Pick<FastifyContextConfig, 'budget' | 'cost'> | undefined
}

/**
 * `count` counts a request, as much as its route costs. A request with the bypass key is not counted; it sees the whole
 * rate left, because clients read the headers on every answer.
 * `take` does it for the framework: it sets the three headers, and its `done` gets the 429 when there is nothing left. A
 * request that was counted before (`remember`) is not counted again.
 * `giveBack` takes the count of a 304 back where these are not to count, and says how much it was; `settle` does it for
 * the framework at the end of a request, undefined where they count.
 */
export function createRateLimiter({ counters, bypassKey, grants, countsUnchanged }: RateLimitOptions) {
  const counted = new WeakMap<FastifyRequest, Counted>()
  const remembered = new WeakMap<IncomingMessage, RateDecision>()
  const budgetOf = ({ headers, address, config }: Countable): Counted => {
    const granted = grants.forRequest(headers.authorization, address)
    const { factor, prefix, usual } = BUDGETS[config?.budget ?? 'api']
    const key = granted === undefined ? `${prefix}:${addressKey(address)}` : `${prefix}-grant:${granted.key}`
    const rate = granted === undefined ? usual : rateOf(factor, granted.requestsPerMinute)
    // A grant may be smaller than what one request costs.
    return { key, rate, cost: Math.min(config?.cost ?? 1, rate.limit) }
  }
  const isBypassed = (headers: IncomingHttpHeaders): boolean => {
    const bypass = headers['x-ratelimit-key']
    return bypassKey !== undefined && typeof bypass === 'string' && secretsEqual(bypass, bypassKey)
  }
  const count = (asked: Countable): RateDecision | Promise<RateDecision> => {
    const { key, rate, cost } = budgetOf(asked)
    return isBypassed(asked.headers) ? wholeRate(rate.limit) : counters.take(key, rate, cost)
  }
  const take = (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const own = budgetOf({ headers: req.headers, address: req.clientAddress, config: req.routeOptions.config })
    if (isBypassed(req.headers)) return done(apply(reply, wholeRate(own.rate.limit)))
    if (!countsUnchanged) counted.set(req, own)
    const decision = remembered.get(req.raw) ?? counters.take(own.key, own.rate, own.cost)
    if (decision instanceof Promise) decision.then((value) => done(apply(reply, value)), done)
    else done(apply(reply, decision))
  }
  const takeBack = ({ key, rate, cost }: Counted): number => {
    const given = counters.giveBack(key, rate, cost)
    // One count too many is no reason to fail an answer.
    if (given instanceof Promise) given.catch(() => {})
    return cost
  }
  const settle = (req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void => {
    const own = reply.statusCode === 304 ? counted.get(req) : undefined
    if (own === undefined) return done(null, payload)
    void reply.header('x-ratelimit-remaining', Number(reply.getHeader('x-ratelimit-remaining')) + takeBack(own))
    done(null, payload)
  }
  return {
    count,
    giveBack: (asked: Countable): number => (countsUnchanged ? 0 : takeBack(budgetOf(asked))),
    /** Keeps the decision on a request for the framework, which takes it over. */
    remember: (req: IncomingMessage, taken: RateDecision): void => void remembered.set(req, taken),
    take,
    settle: countsUnchanged ? undefined : settle,
  }
}

function wholeRate(limit: number): RateDecision {
  return { allowed: true, limit, remaining: limit, resetSeconds: 0, retryAfterMs: 0 }
}

type SendDone = (error: null, payload?: unknown) => void

function apply(reply: FastifyReply, decision: RateDecision): ApiError | undefined {
  void reply.header('x-ratelimit-limit', decision.limit)
  void reply.header('x-ratelimit-remaining', decision.remaining)
  void reply.header('x-ratelimit-reset', decision.resetSeconds)
  return decision.allowed ? undefined : tooManyRequests(decision)
}

/** 429 for a caller who has used up their rate. */
export function tooManyRequests({
  retryAfterMs,
  limit,
  resetSeconds,
}: Pick<RateDecision, 'retryAfterMs' | 'limit' | 'resetSeconds'>): ApiError {
  return new ApiError(
    'ratelimit_error',
    `You are being rate-limited. Please wait ${retryAfterMs} milliseconds. 0/${limit} remaining.`,
    { headers: { 'retry-after': String(resetSeconds) } },
  )
}
