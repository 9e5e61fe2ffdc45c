// The only `Fastify()`: limits, hooks in their order, and what every answer has in common (decisions.md 2).
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import compress from '@fastify/compress'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import Fastify, {
  type DoneFuncWithErrOrRes,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyTypeProvider,
  type onSendHookHandler,
  type RouteOptions,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import { ApiError, invalidInput, notFound, validationError } from '#lib/errors.ts'
import type { Secret } from '#lib/secret.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'
import { type AuthOptions, authHook } from './auth.ts'
import { clientAddress } from './client-address.ts'
import { tagAnswer } from './entity-tags.ts'
import { errorBody, handleError } from './error-handler.ts'
import { parseJson } from './json-body.ts'
import { createListBuffers } from './list-buffers.ts'
import { createRateLimiter, type RateLimiter, type RateLimitOptions } from './rate-limit.ts'
import { logRequest } from './request-log.ts'
import type { RouteEntry } from './route-config.ts'
import { compileValidator } from './validation.ts'

export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxProvider>

export type ServerOptions = AuthOptions &
  Omit<RateLimitOptions, 'bypassKey'> & {
    log: Log
    metrics: Metrics
    clientAddressHeader: string | undefined
    blockedUserAgents: readonly RegExp[]
    rateLimitBypassKey: Secret | undefined
  }

/** JSON bodies, in bytes. */
export const JSON_BODY_BYTES_MAX = 2 * 1024 * 1024
/** 1000 percent-encoded IDs in one address must fit (decisions.md 11). */
const HEADER_BYTES_MAX = 64 * 1024
/** Answers smaller than this are not worth compressing. */
const COMPRESS_BYTES_MIN = 1024
/** How long the rest of a refused upload is read and thrown away, so that the client sees the answer. */
const DISCARD_MS = 5_000
/** Where the viewer of the API's description lives. */
export const VIEWER_PREFIX = '/docs/swagger-ui'
const PATH_VALUE_LENGTH_MAX = 2048

const EXPOSED_HEADERS = 'ETag, Retry-After, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Reset, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** An HTTP server with no routes yet. Each route declares `config.auth`; one that does not stops the start. */
export async function buildServer(options: ServerOptions): Promise<App> {
  const app: App = Fastify({
    routerOptions: { maxParamLength: PATH_VALUE_LENGTH_MAX },
    bodyLimit: JSON_BODY_BYTES_MAX,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    http: { maxHeaderSize: HEADER_BYTES_MAX },
    // A refused upload must not hold its connection: see `discardRest`.
    forceCloseConnections: 'idle',
    // Requests that were already on their way when the process is asked to stop are answered, not turned away.
    return503OnClosing: false,
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: handleError(options.log),
  }).withTypeProvider<TypeBoxProvider>()

  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(lazySerializers())
  app.setErrorHandler(handleError(options.log))
  app.setNotFoundHandler(() => {
    throw notFound('route')
  })
  app.decorate('listBuffers', createListBuffers())
  app.decorateRequest('viewer', null)
  app.decorateRequest('clientAddress', '')
  takeJsonBodies(app)
  const limiter = createRateLimiter({ ...options, bypassKey: options.rateLimitBypassKey?.reveal() })
  addArrivalHooks(app, limiter, options)
  addRouteChecks(app, options)
  app.addHook('onSend', tagAnswer)
  if (limiter.settle !== undefined) app.addHook('onSend', limiter.settle)
  app.addHook('onResponse', logRequest(options.log, options.metrics))
  app.addHook('onResponse', discardRest)
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['zstd', 'br', 'gzip'],
    threshold: COMPRESS_BYTES_MIN,
    customTypes: /^application\/(json|xml)|^text\/|^image\/svg/,
    removeContentLengthHeader: true,
  })
  app.addHook('onRoute', (route) => {
    // Runs after the compressor, which has just added its hook to the route, as the last one.
    const compressor = asArray(route.onSend).at(-1) as onSendHookHandler
    route.onSend = [...asArray(route.onSend).slice(0, -1), encodeWhereAsked(compressor)]
  })
  return app
}

/** In the order of decisions.md 2: what every answer carries, preflights, client address, limiter, User-Agent. */
function addArrivalHooks(app: App, limiter: RateLimiter, options: ServerOptions): void {
  app.addHook('onRequest', (req, reply, done) => {
    void reply.header('x-request-id', req.id)
    void reply.header('access-control-allow-origin', '*')
    void reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    if (req.routeOptions.config?.unlimited === true) return done()
    const address = clientAddress(req.raw, options.clientAddressHeader)
    if (address === undefined) return done(new ApiError('unauthorized', 'The client address cannot be determined'))
    req.clientAddress = address
    limiter.take(req, reply, (error) => {
      if (error !== undefined) return done(error)
      if (isPreflight(req)) return void answerPreflight(req, reply)
      done(checkUserAgent(req, options.blockedUserAgents) ?? checkEncoding(req) ?? checkAddress(req))
    })
  })
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

function checkUserAgent(req: FastifyRequest, blocked: readonly RegExp[]): ApiError | undefined {
  const agent = req.headers['user-agent']
  if (agent === undefined || agent.trim() === '') {
    return invalidInput('Every request must carry a User-Agent that says what it is', 'user-agent')
  }
  if (blocked.some((pattern) => pattern.test(agent))) {
    return new ApiError('forbidden', 'This User-Agent is blocked; use one that names your program and a contact')
  }
  return undefined
}

/** Bodies are read as they come: limits and hashes are of the bytes that were sent. */
function checkEncoding(req: FastifyRequest): ApiError | undefined {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return undefined
  return invalidInput('Compressed request bodies are not taken', 'content-encoding')
}

/** Percent-encodings that do not decode, and the NUL character, which the database refuses. */
function checkAddress(req: FastifyRequest): ApiError | undefined {
  const url = req.raw.url ?? ''
  if (!url.includes('%')) return undefined
  const query = url.indexOf('?')
  try {
    if (decodeURIComponent(query < 0 ? url : url.slice(query)).includes('\0') || url.includes('%00')) {
      return invalidInput('The address contains the NUL character', 'query')
    }
  } catch {
    return invalidInput('The query has a malformed percent-encoding', 'query')
  }
  return undefined
}

/** Refuses to start with a route that does not say who may call it, and enforces what it says. */
function addRouteChecks(app: App, options: ServerOptions): void {
  const routes: RouteOptions[] = []
  app.decorate('routeTable', () => routes.map(toRouteEntry))
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(VIEWER_PREFIX)) {
      // The library's own routes: the viewer needs neither a token nor a description.
      route.config = { ...route.config, auth: 'public', cache: 'shared' }
      route.schema = { ...route.schema, hide: true, operationId: 'getViewer' }
    }
    const { method, url, config } = route
    const methods = asArray(method)
    if (methods.every((each) => each === 'OPTIONS')) return
    if (config?.auth === undefined) throw new Error(`${methods.join()} ${url} does not declare config.auth`)
    const hook = authHook(config.auth, config.role, options)
    if (hook !== undefined) route.onRequest = [...asArray(route.onRequest), hook as never]
    if (!methods.includes('HEAD') || methods.length > 1) routes.push(route)
  })
}

/** Read when asked for and not before: scopes further in still change what a route says of itself. */
function toRouteEntry({ method, url, config, schema }: RouteOptions): RouteEntry {
  const [first = ''] = asArray(method)
  const operationId = schema?.operationId ?? ''
  return { method: first, url, operationId, config: config ?? { auth: 'public' }, hidden: schema?.hide === true }
}

/**
 * Compiles the serialiser of an answer when it is first sent. Compiling all of them took a quarter of a second of each
 * start, and most are for faults that never occur.
 */
function lazySerializers() {
  const compile = SerializerSelector()({}, {})
  return (route: { schema: unknown; method: string; url: string; httpStatus?: string }) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (data: unknown): string => {
      serialize ??= compile({ httpStatus: '', ...route })
      return serialize(data)
    }
  }
}

function takeJsonBodies(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (req, body, done) => {
    if (body.length === 0 && req.routeOptions.schema?.body === undefined) return done(null, undefined)
    try {
      const { schema, config } = req.routeOptions
      const value = parseJson(body as Buffer, { keepProtoKeys: config?.keepProtoKeys === true })
      if (value === null && schema?.body !== undefined) throw validationError('body', 'must be an object')
      done(null, value)
    } catch (error) {
      done(error as Error)
    }
  })
}

/**
 * Programs that take plain bytes only, as many launchers do, are spared the question. Strong tags name bytes: a
 * compressed answer gets one of its own (RFC 9110, 8.8.3.3).
 */
function encodeWhereAsked(compressor: onSendHookHandler): onSendHookHandler {
  return function encode(req, reply, payload, done) {
    if (req.headers['accept-encoding'] === undefined) return done()
    const marked = (error: Error | null, encoded?: unknown): void => {
      const encoding = reply.getHeader('content-encoding')
      const etag = reply.getHeader('etag')
      if (typeof encoding === 'string' && typeof etag === 'string' && !etag.endsWith(`-${encoding}"`)) {
        void reply.header('etag', `${etag.slice(0, -1)}-${encoding}"`)
      }
      done(error as null, encoded)
    }
    compressor.call(this, req, reply, payload, marked as DoneFuncWithErrOrRes)
  }
}

/** An answer may leave before its request was read to the end; the rest is read and dropped for a bounded time. */
function discardRest(req: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { raw } = req
  if (!raw.complete && !raw.destroyed) {
    raw.resume()
    const timer = setTimeout(() => raw.destroy(), DISCARD_MS)
    timer.unref()
    raw.once('close', () => clearTimeout(timer))
  }
  done()
}

/** Bytes that are no HTTP request never reach a route; they get the same form of answer. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const body = JSON.stringify(
    errorBody(
      invalidInput(tooLarge ? `The headers exceed ${HEADER_BYTES_MAX} bytes` : 'This is not a valid HTTP request'),
      randomUUID(),
    ),
  )
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function asArray<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
