// The only `Fastify()`: limits, hooks in their order, and what every answer has in common.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import compress from '@fastify/compress'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import Fastify, {
  type DoneFuncWithErrOrRes,
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyTypeProvider,
  type onSendHookHandler,
  type RouteOptions,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Secret } from '#lib/access/secret.ts'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { type AuthOptions, authHook } from './auth/auth.ts'
import { parseJson } from './bodies/json-body.ts'
import { handleError } from './error-handler.ts'
import { cachedRoutes } from './fast-path/cached-routes.ts'
import { serveFastPath } from './fast-path/fast-path.ts'
import { type BodyPace, endSlowBodies, limitConnections, rejectUnread } from './limits/connections.ts'
import { createRateLimiter, type RateLimitOptions } from './limits/rate-limit.ts'
import { prefersConstraint } from './preferred-type.ts'
import { answersWhenReadOnly, type ReadOnlyState, readOnlyHook } from './read-only.ts'
import {
  answerUnroutable,
  type RequestContextOptions,
  rejectEncodedBody,
  requestContextHook,
  requireRoute,
} from './request-context.ts'
import { createRequestLog, logRequest } from './request-log.ts'
import { completeResponses } from './responses/declared-responses.ts'
import { tagResponse } from './responses/entity-tags.ts'
import { createListBuffers } from './responses/list-buffers.ts'
import type { RouteEntry } from './route-config.ts'
import { traceRequests } from './traces.ts'
import { compileValidator } from './validation.ts'

export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxProvider>

export type ServerOptions = AuthOptions &
  RequestContextOptions &
  Omit<RateLimitOptions, 'bypassKey'> & {
    log: Log
    metrics: Metrics
    rateLimitBypassKey: Secret | undefined
    /** How many connections one address may hold; undefined for any number. */
    connectionsPerAddress: number | undefined
    bodies: BodyPace
    readOnly: ReadOnlyState
  }

/** JSON bodies, in bytes. */
export const JSON_BODY_BYTES_MAX = 2 * 1024 * 1024
/** The same for routes that need no token: a thousand hashes take 130,000, and nobody knows who sends it. */
const OPEN_BODY_BYTES_MAX = 256 * 1024
/** How many values such a body may hold. */
const OPEN_BODY_VALUES_MAX = 10_000
/** 1000 percent-encoded IDs in one address must fit. */
const HEADER_BYTES_MAX = 64 * 1024
/** Answers smaller than this are not worth compressing. */
const COMPRESS_BYTES_MIN = 1024
/** A connection on which nothing has moved for so long is closed, also in the middle of an upload. */
const SILENCE_MS = 300_000
/** How long the rest of a refused upload is read and thrown away, so that the client sees the answer. */
const DISCARD_MS = 5_000
/** Where the viewer of the API's description lives. */
export const VIEWER_PREFIX = '/docs/swagger-ui'
const PATH_VALUE_LENGTH_MAX = 2048

/** An HTTP server with no routes yet. Each route declares `config.auth`; one that does not stops the start. */
export async function buildServer(options: ServerOptions): Promise<App> {
  const limiter = createRateLimiter({ ...options, bypassKey: options.rateLimitBypassKey?.reveal() })
  const setContext = requestContextHook(limiter, options)
  const record = createRequestLog(options.log, options.metrics)
  const app: App = Fastify({
    routerOptions: { maxParamLength: PATH_VALUE_LENGTH_MAX, constraints: { prefers: prefersConstraint } },
    bodyLimit: JSON_BODY_BYTES_MAX,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // What Node refuses by itself it refuses without a body; the request context hook looks for `Host`.
    http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false },
    // A refused upload must not hold its connection: see `discardRest`.
    forceCloseConnections: 'idle',
    // Requests that were already on their way when the process is asked to stop are answered, not turned away.
    return503OnClosing: false,
    // An upload may take as long as it moves.
    requestTimeout: 0,
    connectionTimeout: SILENCE_MS,
    keepAliveTimeout: 72_000,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: answerUnroutable(setContext, handleError(options.log), logRequest(record)),
  }).withTypeProvider<TypeBoxProvider>()
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1); Node's answer to them has no body.
  app.server.on('checkExpectation', (req, res) => app.server.emit('request', req, res))

  // What a request asks for by CONNECT is another server.
  app.server.on('connect', (_req, socket: Socket) => rejectUnread(socket, notFound('route')))
  if (options.connectionsPerAddress !== undefined) limitConnections(app.server, options.connectionsPerAddress)
  endSlowBodies(app.server, options.bodies)
  takeEveryMethod(app)
  takeLeave(app)
  serveFastPath(app, { ...options, limiter, record })
  app.addFastPath(cachedRoutes(app))
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
  traceRequests(app)
  app.addHook('onRequest', setContext)
  app.addHook('onRequest', requireRoute)
  addRouteChecks(app, options)
  app.addHook('onSend', tagResponse)
  if (limiter.settle !== undefined) app.addHook('onSend', limiter.settle)
  app.addHook('onResponse', logRequest(record))
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

/** From `drain` on every answer asks its client to close the connection, and to come back to another process. */
function takeLeave(app: App): void {
  let draining = false
  app.decorate('drain', () => {
    draining = true
  })
  app.decorate('isDraining', () => draining)
  app.addHook('onSend', (_req, reply, payload, done) => {
    if (draining) void reply.header('connection', 'close')
    done(null, payload)
  })
}

/** Methods that no route has are answered like any other that a path does not know; retired paths know them all. */
function takeEveryMethod(app: App): void {
  const own = new Set(app.supportedMethods)
  for (const method of METHODS)
    if (method !== 'CONNECT' && !own.has(method)) app.addHttpMethod(method, { hasBody: true })
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
      route.errorHandler = refuseOddPath
    }
    const { method, url, config } = route
    const methods = asArray(method)
    if (methods.every((each) => each === 'OPTIONS')) return
    if (config?.auth === undefined) throw new Error(`${methods.join()} ${url} does not declare config.auth`)
    if (route.schema !== undefined && route.schema.hide !== true) {
      route.schema.response = completeResponses(route.schema.response as Record<string, unknown> | undefined)
    }
    // Forms have limits of their own.
    const takesJson = route.schema?.hide !== true && (route.schema as { consumes?: string[] })?.consumes === undefined
    if (isOpen(config) && takesJson) route.bodyLimit ??= OPEN_BODY_BYTES_MAX
    const hook = authHook(config.auth, config.role, options)
    const ownHooks = [
      ...(hook === undefined ? [] : [hook]),
      ...(answersWhenReadOnly(methods, config) ? [] : [readOnlyHook(options.readOnly)]),
      ...(config.unlimited === true ? [] : [rejectEncodedBody]),
    ]
    route.onRequest = [...asArray(route.onRequest), ...(ownHooks as never[])]
    if (!methods.includes('HEAD') || methods.length > 1) routes.push(route)
  })
}

/** What the library of the viewer's files refuses, such as a path that climbs, is no file of it. */
function refuseOddPath(error: Error & { statusCode?: number }): void {
  throw error.statusCode !== undefined && error.statusCode < 500 ? notFound('route') : error
}

/** Whether a route answers callers without a token. */
function isOpen(config: FastifyContextConfig | undefined): boolean {
  return config?.auth === 'public' || (typeof config?.auth === 'object' && 'read' in config.auth)
}

/** Read when asked for and not before: scopes further in still change what a route says of itself. */
function toRouteEntry({ method, url, config, schema }: RouteOptions): RouteEntry {
  const [first = ''] = asArray(method)
  const operationId = schema?.operationId ?? ''
  return { method: first, url, operationId, config: config ?? { auth: 'public' }, hidden: schema?.hide === true }
}

/**
 * Compiles the serialiser of an answer when it is first sent. Compiling all of them took a quarter of a second of each
 * start, and most are for errors that never occur.
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
      const value = parseJson(body as Buffer, {
        keepProtoKeys: config?.keepProtoKeys === true,
        ...(isOpen(config) ? { maxValues: OPEN_BODY_VALUES_MAX } : {}),
      })
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
  const message = tooLarge ? `The headers exceed ${HEADER_BYTES_MAX} bytes` : 'This is not a valid HTTP request'
  rejectUnread(socket, invalidInput(message))
}

function asArray<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
