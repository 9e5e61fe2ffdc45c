// Creates the HTTP server: limits, the order of the hooks, and everything that all responses have in common.

import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyTypeProvider,
  type RouteOptions,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Secret } from '#lib/access/secret.ts'
import { rejectDryRun } from '#lib/dry-run-request.ts'
import { ApiError, invalidInput, notFound, validationError } from '#lib/errors.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { parseJson } from './bodies/json-body.ts'
import { ignoreNulls } from './bodies/patch-nulls.ts'
import { deprecate } from './deprecation.ts'
import { handleError } from './error-handler.ts'
import { serveFastPath } from './fast-path.ts'
import { type BodyPace, endSlowBodies, limitConnections, rejectUnread } from './limits/connections.ts'
import { discardRests } from './limits/discard-rests.ts'
import { createRateLimiter, type RateLimitOptions } from './limits/rate-limit.ts'
import { prefersConstraint } from './preferred-type.ts'
import { answersWhenReadOnly, type ReadOnlyState, readOnlyHook } from './read-only.ts'
import {
  answerUnroutable,
  handleUnrouted,
  ignoreLongHeaders,
  type RequestContextOptions,
  rejectEncodedBody,
  requestContextHook,
} from './request-context.ts'
import { createRequestLog, logRequest } from './request-log.ts'
import { createCodedForms } from './responses/content-coding.ts'
import { completeResponses } from './responses/declared-responses.ts'
import { encodeResponse } from './responses/encode-response.ts'
import { omitBody, tagResponse } from './responses/entity-tags.ts'
import { createListBuffers } from './responses/list-buffers.ts'
import type { AccessControl, RouteEntry } from './route-config.ts'
import { traceRequests } from './traces.ts'
import { compileValidator } from './validation.ts'

export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxProvider>

export type ServerOptions = RequestContextOptions &
  Omit<RateLimitOptions, 'bypassKey'> & {
    access: AccessControl
    log: Log
    metrics: Metrics
    rateLimitBypassKey: Secret | undefined
    /** Maximum number of open connections per address; undefined: no limit. */
    connectionsPerAddress: number | undefined
    bodies: BodyPace
    readOnly: ReadOnlyState
  }

/** Maximum size of a JSON body. */
export const JSON_BODY_BYTES_MAX = 2 * 1024 * 1024
/** Maximum size of a JSON body without a token: 1,000 hashes need 130,000 bytes. */
const OPEN_BODY_BYTES_MAX = 256 * 1024
/** Maximum number of values in a JSON body without a token. */
const OPEN_BODY_VALUES_MAX = 10_000
/** Enough for 1,000 percent-encoded IDs in a URL. */
const HEADER_BYTES_MAX = 64 * 1024
/** Idle connections are closed after this time, even during an upload. */
const SILENCE_MS = 300_000
/** Path of the API viewer. */
export const VIEWER_PREFIX = '/docs/swagger-ui'
const PATH_VALUE_LENGTH_MAX = 2048

/** Creates a server without routes. Registering a route without `config.auth` throws. */
export function buildServer(options: ServerOptions): App {
  const limiter = createRateLimiter({ ...options, bypassKey: options.rateLimitBypassKey?.reveal() })
  const setContext = requestContextHook(limiter, options)
  const record = createRequestLog(options.log, options.metrics)
  const app: App = Fastify({
    rewriteUrl: (req) => {
      // The router reads `Accept`.
      ignoreLongHeaders(req as IncomingMessage)
      return req.url ?? '/'
    },
    routerOptions: { maxParamLength: PATH_VALUE_LENGTH_MAX, constraints: { prefers: prefersConstraint } },
    bodyLimit: JSON_BODY_BYTES_MAX,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // Node.js would reject a missing `Host` without a body, so the request context hook checks it.
    http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false },
    // A rejected upload must not keep its connection open: see `discardRests`.
    forceCloseConnections: 'idle',
    // Requests that arrive while the process stops are still handled.
    return503OnClosing: false,
    // An upload can take any time if it makes progress.
    requestTimeout: 0,
    connectionTimeout: SILENCE_MS,
    keepAliveTimeout: 72_000,
    clientErrorHandler: rejectInvalidRequest,
    frameworkErrors: answerUnroutable(setContext, handleError(options.log), logRequest(record)),
  }).withTypeProvider<TypeBoxProvider>()
  // Servers can ignore other expectations than 100-continue (RFC 9110, 10.1.1). The response of Node.js has no body.
  app.server.on('checkExpectation', (req, res) => app.server.emit('request', req, res))

  // CONNECT requests another server.
  app.server.on('connect', (_req, socket: Socket) => rejectUnread(socket, notFound('route')))
  if (options.connectionsPerAddress !== undefined) limitConnections(app.server, options.connectionsPerAddress)
  endSlowBodies(app.server, options.bodies)
  discardRests(app.server)
  acceptAllMethods(app)
  addDraining(app)
  app.decorate('codedForms', createCodedForms())
  serveFastPath(app, { ...options, limiter, record })
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(lazySerializers())
  app.setErrorHandler(handleError(options.log))
  app.setNotFoundHandler(() => {
    throw notFound('route')
  })
  app.decorate('listBuffers', createListBuffers())
  app.decorateReply('contentTag', undefined)
  app.decorateRequest('viewer', null)
  app.decorateRequest('clientAddress', '')
  parseJsonBodies(app)
  traceRequests(app)
  app.addHook('onRequest', setContext)
  app.addHook('onRequest', handleUnrouted(app))
  addRouteChecks(app, options)
  app.addHook('onSend', tagResponse)
  if (limiter.settle !== undefined) app.addHook('onSend', limiter.settle)
  app.addHook('onResponse', logRequest(record))
  app.addHook('onRoute', (route) => {
    // Fastify's hook for HEAD fails without a body, and measures a body before it is compressed.
    route.onSend = asArray(route.method).includes('HEAD')
      ? [encodeResponse, omitBody]
      : [...asArray(route.onSend), encodeResponse]
  })
  return app
}

/** After `drain`, every response closes its connection, so that clients connect to another process. */
function addDraining(app: App): void {
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

/** Unknown methods get the same 404 as unknown paths. Retired paths accept all methods. */
function acceptAllMethods(app: App): void {
  const own = new Set(app.supportedMethods)
  for (const method of METHODS)
    if (method !== 'CONNECT' && !own.has(method)) app.addHttpMethod(method, { hasBody: true })
}

/** Whether a route changes something with a token. */
const writes = ({ method, config }: RouteOptions): boolean =>
  !asArray(method).includes('GET') && typeof config?.auth === 'object' && 'scope' in config.auth

const hasDryRun = ({ schema }: RouteOptions): boolean =>
  Object.hasOwn((schema?.querystring as { properties?: object } | undefined)?.properties ?? {}, 'dry_run')

/** Requires that each route declares its callers, and enforces the declaration. */
function addRouteChecks(app: App, options: ServerOptions): void {
  const routes: RouteOptions[] = []
  app.decorate('routeTable', () => routes.map(toRouteEntry))
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(VIEWER_PREFIX)) {
      // Routes of the viewer library. They need neither a token nor a description.
      route.config = { ...route.config, auth: 'public', cache: 'shared', budget: 'asset' }
      route.schema = { ...route.schema, hide: true, operationId: 'getViewer' }
      route.errorHandler = rejectViewerPath
    }
    const { method, url, config } = route
    const methods = asArray(method)
    if (methods.every((each) => each === 'OPTIONS')) return
    deprecate(route, options.log)
    if (config?.auth === undefined) throw new Error(`${methods.join()} ${url} does not declare config.auth`)
    const ownChecks = [writes(route) && !hasDryRun(route) ? rejectDryRun : undefined, ignoreNulls(route)]
    route.preValidation = [...asArray(route.preValidation), ...ownChecks.filter((check) => check !== undefined)]
    if (route.schema !== undefined && route.schema.hide !== true)
      route.schema.response = completeResponses(route.schema.response as Record<string, unknown> | undefined)
    // Forms have separate limits.
    const takesJson = route.schema?.hide !== true && (route.schema as { consumes?: string[] })?.consumes === undefined
    if (isOpen(config) && takesJson) route.bodyLimit ??= OPEN_BODY_BYTES_MAX
    const hook = options.access.hook(config)
    const ownHooks = [
      ...(hook === undefined ? [] : [hook]),
      ...(answersWhenReadOnly(methods, config) ? [] : [readOnlyHook(options.readOnly)]),
      ...(config.unlimited === true ? [] : [rejectEncodedBody]),
    ]
    route.onRequest = [...asArray(route.onRequest), ...(ownHooks as never[])]
    if (!methods.includes('HEAD') || methods.length > 1) routes.push(route)
  })
}

/** Returns 404 for paths that the viewer library rejects, such as `..`. */
function rejectViewerPath(error: Error & { statusCode?: number }): void {
  throw error.statusCode !== undefined && error.statusCode < 500 ? notFound('route') : error
}

/** Whether a route accepts callers without a token. */
function isOpen(config: FastifyContextConfig | undefined): boolean {
  return config?.auth === 'public' || (typeof config?.auth === 'object' && 'read' in config.auth)
}

/** Called late, because hooks of inner scopes still change the route after its registration. */
function toRouteEntry({ method, url, config = { auth: 'public' }, schema = {} }: RouteOptions): RouteEntry {
  const [first = ''] = asArray(method)
  return { method: first, url, operationId: schema.operationId ?? '', config, schema, hidden: schema.hide === true }
}

/** Compiles the serialiser of a response on first use. Compiling all of them would slow the start by 0.25 seconds. */
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

function parseJsonBodies(app: App): void {
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

/** Sends an error for data that is not a valid HTTP request. */
function rejectInvalidRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
  // More data after the response.
  if (socket.writableEnded) return
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return rejectUnread(socket, new ApiError('request_timeout', 'The head of the request was not complete in time'))
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const message = tooLarge ? `The headers exceed ${HEADER_BYTES_MAX} bytes` : 'This is not a valid HTTP request'
  rejectUnread(socket, invalidInput(message))
}

function asArray<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
