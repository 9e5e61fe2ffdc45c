// The first hook of every request: common headers, client address, rate limit, preflight requests, User-Agent and
// percent-encoding. docs/contributors/api-design.md documents the order.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { clientAddress } from './limits/client-address.ts'
import { type RateLimiter, UNCOUNTED_HEADERS } from './limits/rate-limit.ts'
import type { UnroutedSource } from './route-config.ts'

export type RequestContextOptions = { clientAddressHeader: string | undefined; blockedUserAgents: readonly RegExp[] }

/** Maximum size of a path. */
const PATH_BYTES_MAX = 2048
/** Maximum sizes of headers that a request can omit. A longer header is ignored, as if the request had omitted it. */
const HEADER_BYTES_MAX: readonly (readonly [name: string, bytes: number])[] = [
  ['accept', 1024],
  ['accept-encoding', 1024],
  ['accept-language', 1024],
  ['if-modified-since', 1024],
  ['if-none-match', 4096],
  ['if-range', 1024],
  ['range', 1024],
]
/** Longer values of `User-Agent` are compared by their start. */
const USER_AGENT_BYTES_MAX = 1024

type RequestContextHook = (req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

export const EXPOSED_HEADERS =
  'ETag, Link, Retry-After, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Reset, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** The onRequest hook of every route. */
export function requestContextHook(
  limiter: Pick<RateLimiter, 'take' | 'show'>,
  options: RequestContextOptions,
): RequestContextHook {
  return (req, reply, done) => {
    void reply.header('x-request-id', req.id)
    void reply.header('access-control-allow-origin', '*')
    void reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    void reply.headers(UNCOUNTED_HEADERS)
    if (req.routeOptions.config?.unlimited === true) return done()
    const address = clientAddress(req.raw, options.clientAddressHeader)
    if (address === undefined) return done(new ApiError('unauthorized', 'The client address cannot be determined'))
    req.clientAddress = address
    // A browser reports a refused preflight to the program as a network error.
    if (isPreflight(req))
      return limiter.show(req, reply, (error) => (error ? done(error) : answerPreflight(req, reply)))
    limiter.take(req, reply, (error) => done(error ?? checkHead(req.raw, options.blockedUserAgents)))
  }
}

/**
 * Handles URLs that the router cannot parse. They run no hooks, but are counted, get the common headers and are logged.
 * `answer` is the error handler, `record` logs the request.
 */
export function answerUnroutable(
  setContext: RequestContextHook,
  answer: (error: Error, req: FastifyRequest, reply: FastifyReply) => void,
  record: RequestContextHook,
) {
  return (error: Error, req: FastifyRequest, reply: FastifyReply): void => {
    reply.raw.once('finish', () => record(req, reply, () => {}))
    setContext(req, reply, (rejection) => answer(rejection ?? error, req, reply))
  }
}

/** Removes the headers that are too long to be parsed. Call it before anything reads a header. */
export function ignoreLongHeaders({ headers }: IncomingMessage): void {
  for (const [name, bytes] of HEADER_BYTES_MAX) if ((headers[name]?.length ?? 0) > bytes) delete headers[name]
}

/** Returns the error in the head of a request, if any. Does not depend on the route. */
export function checkHead(req: IncomingMessage, blockedUserAgents: readonly RegExp[]): ApiError | undefined {
  return checkHost(req) ?? checkUserAgent(req, blockedUserAgents) ?? checkPath(req) ?? checkUrl(req)
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

/** Any origin can do what an anonymous program can do, because the API does not use cookies. */
function answerPreflight(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const headers = req.headers['access-control-request-headers']
  if (headers !== undefined) void reply.header('access-control-allow-headers', headers)
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
  if (agent === undefined || agent.trim() === '')
    return invalidInput('Every request needs a User-Agent that identifies the program', 'user-agent')
  const start = agent.slice(0, USER_AGENT_BYTES_MAX)
  if (blocked.some((pattern) => pattern.test(start)))
    return new ApiError('forbidden', 'This User-Agent is blocked; use one that names your program and a contact')
  return undefined
}

/**
 * Handles unknown paths and methods before the body is read: with 404, unless the function that `app.useUnrouted` receives
 * returns another error or a URL to redirect to.
 */
export function handleUnrouted(app: Pick<FastifyInstance, 'decorate'>): RequestContextHook {
  let find: UnroutedSource = () => undefined
  app.decorate('useUnrouted', (source: UnroutedSource) => {
    find = source
  })
  return (req, reply, done) => {
    if (!req.is404) return done()
    const found = find(req)
    if (typeof found === 'string') return void reply.redirect(found, 301)
    done(found ?? notFound('route'))
  }
}

/**
 * The last onRequest hook of every route, after authorization. Depot does not decompress bodies: limits and hashes apply
 * to the bytes that the client sent.
 */
export function rejectEncodedBody(req: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return done()
  done(invalidInput('Compressed request bodies are not supported', 'content-encoding'))
}

function checkPath({ url = '' }: IncomingMessage): ApiError | undefined {
  const query = url.indexOf('?')
  return (query < 0 ? url.length : query) > PATH_BYTES_MAX
    ? new ApiError('path_too_long', `The path is longer than ${PATH_BYTES_MAX} bytes`, { details: { field: 'path' } })
    : undefined
}

/** Rejects invalid percent-encoding, and the NUL character, which the database does not store. */
function checkUrl(req: IncomingMessage): ApiError | undefined {
  const url = req.url ?? ''
  if (!url.includes('%')) return undefined
  const query = url.indexOf('?')
  try {
    if (query >= 0) decodeURIComponent(url.slice(query))
  } catch {
    return invalidInput('The query has a malformed percent-encoding', 'query')
  }
  // The router has already decoded the path.
  const nul = url.indexOf('%00')
  if (nul >= 0) return invalidInput('The URL contains the NUL character', query >= 0 && query < nul ? 'query' : 'path')
  return undefined
}
