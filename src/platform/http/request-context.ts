// The first hook of every request, in the order that docs/api-design.md gives: headers of every answer, client address,
// rate limit, preflight requests, User-Agent, percent-encoding.

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { clientAddress } from './limits/client-address.ts'
import type { RateLimiter } from './limits/rate-limit.ts'

export type RequestContextOptions = { clientAddressHeader: string | undefined; blockedUserAgents: readonly RegExp[] }

type RequestContextHook = (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

export const EXPOSED_HEADERS =
  'ETag, Retry-After, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Reset, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** The onRequest hook of every route. */
export function requestContextHook(
  limiter: Pick<RateLimiter, 'take'>,
  options: RequestContextOptions,
): RequestContextHook {
  return (req, reply, done) => {
    void reply.header('x-request-id', req.id)
    void reply.header('access-control-allow-origin', '*')
    void reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    if (req.routeOptions.config?.unlimited === true) return done()
    const address = clientAddress(req.raw, options.clientAddressHeader)
    if (address === undefined) return done(noAddress())
    req.clientAddress = address
    limiter.take(req, reply, (error) => {
      if (error !== undefined) return done(error)
      if (isPreflight(req)) return void answerPreflight(req, reply)
      done(checkHead(req.raw, options.blockedUserAgents))
    })
  }
}

/**
 * Addresses of which the router makes nothing run no hooks; they are counted, marked and logged all the same.
 * `answer` is the error handler, `note` writes the request's line.
 */
export function answerUnroutable(
  setContext: RequestContextHook,
  answer: (error: Error, req: FastifyRequest, reply: FastifyReply) => void,
  note: RequestContextHook,
) {
  return (error: Error, req: FastifyRequest, reply: FastifyReply): void => {
    reply.raw.once('finish', () => note(req, reply, () => {}))
    setContext(req, reply, (refused) => answer(refused ?? error, req, reply))
  }
}

/** What is wrong with the head of a request, whatever it asks for; undefined when nothing is. */
export function checkHead(req: IncomingMessage, blockedUserAgents: readonly RegExp[]): ApiError | undefined {
  return checkHost(req) ?? checkUserAgent(req, blockedUserAgents) ?? checkAddress(req)
}

function checkHost(req: IncomingMessage): ApiError | undefined {
  return req.headers.host === undefined && req.httpVersion === '1.1'
    ? invalidInput('A request needs the header Host', 'host')
    : undefined
}

function isPreflight(req: FastifyRequest): boolean {
  const { origin, 'access-control-request-method': method } = req.headers
  return req.method === 'OPTIONS' && origin !== undefined && method !== undefined
}

/** Any origin may do anything an anonymous program may do; there are no cookies to protect on this surface. */
function answerPreflight(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = req.headers['access-control-request-headers']
  if (asked !== undefined) void reply.header('access-control-allow-headers', asked)
  return reply
    .header('access-control-allow-methods', METHODS)
    .header('access-control-max-age', '3600')
    .header('vary', 'Access-Control-Request-Headers')
    .header('cache-control', 'no-store')
    .status(204)
    .send()
}

function checkUserAgent(req: IncomingMessage, blocked: readonly RegExp[]): ApiError | undefined {
  const agent = req.headers['user-agent']
  if (agent === undefined || agent.trim() === '') {
    return agentMissing()
  }
  if (blocked.some((pattern) => pattern.test(agent))) {
    return agentBlocked()
  }
  return undefined
}

/** 401 where the header that names the client is missing or unreadable. */
export function noAddress(): ApiError {
  return new ApiError('unauthorized', 'The client address cannot be determined')
}

/** 400 for a request without a User-Agent. */
export function agentMissing(): ApiError {
  return invalidInput('Every request must carry a User-Agent that says what it is', 'user-agent')
}

/** 403 for a User-Agent that the operator has blocked. */
export function agentBlocked(): ApiError {
  return new ApiError('forbidden', 'This User-Agent is blocked; use one that names your program and a contact')
}

/** Before the body is looked at: a path that leads nowhere, or not with this method, leads nowhere with any body. */
export function requireRoute(req: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  done(req.is404 ? notFound('route') : undefined)
}

/**
 * The last onRequest hook of every route, once it is known that there is one and that the caller may use it. Bodies are
 * read as they come: limits and hashes are of the bytes that were sent.
 */
export function refuseEncodedBody(req: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return done()
  done(invalidInput('Compressed request bodies are not taken', 'content-encoding'))
}

/** Percent-encodings that do not decode, and the NUL character, which the database refuses. */
function checkAddress(req: IncomingMessage): ApiError | undefined {
  const url = req.url ?? ''
  if (!url.includes('%')) return undefined
  const query = url.indexOf('?')
  try {
    if (query >= 0) decodeURIComponent(url.slice(query))
  } catch {
    return invalidInput('The query has a malformed percent-encoding', 'query')
  }
  // What the path decodes to is the router's part, and it has passed.
  const nul = url.indexOf('%00')
  if (nul >= 0) {
    return invalidInput('The address contains the NUL character', query >= 0 && query < nul ? 'query' : 'path')
  }
  return undefined
}
