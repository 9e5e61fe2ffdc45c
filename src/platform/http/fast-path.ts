// The fast path: sends cached responses without calling the framework. These requests pass the same rate limiter and
// checks, get the same headers, and appear in the same metrics and logs. All other requests go to the framework.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { RateDecision } from '#lib/concurrency/rate.ts'
import { areTracesOn } from '#platform/telemetry/traces.ts'
import { cachedRoutes } from './cached-routes.ts'
import { clientAddress } from './limits/client-address.ts'
import type { RateLimiter } from './limits/rate-limit.ts'
import { checkHead, ignoreLongHeaders, type RequestContextOptions } from './request-context.ts'
import type { RequestRecord } from './request-log.ts'
import type { AccessControl, FastPathResponse, FastPathSource } from './route-config.ts'

const ONE_PIECE_BYTES_MAX = 16 * 1024

type FastPathOptions = RequestContextOptions & {
  access: AccessControl
  limiter: Pick<RateLimiter, 'count' | 'refund' | 'remember'>
  record: (request: RequestRecord) => void
}

type Exchange = { req: IncomingMessage; res: ServerResponse; address: string; startedAt: number }

/** The framework handles every request with one of these headers. */
const FRAMEWORK_HEADERS = ['content-length', 'transfer-encoding', 'content-encoding'] as const

/**
 * Sends cached responses of routes, and those of the source that `app.useFastPath` receives. The framework handles all
 * requests with a trace. Call it before any route is registered.
 */
export function serveFastPath(
  app: Pick<FastifyInstance, 'decorate' | 'addHook' | 'isDraining' | 'codedForms'> & { server: Server },
  options: FastPathOptions,
): void {
  const routes = cachedRoutes(app, options.access)
  let pages: FastPathSource = () => undefined
  const find: FastPathSource = (req, address) => routes(req, address) ?? pages(req, address)
  let isClosing = false
  app.decorate('useFastPath', (source: FastPathSource) => {
    pages = source
  })
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })

  const [framework] = app.server.listeners('request') as RequestListener[]
  if (framework === undefined) throw new Error('The server has no listener for requests')
  app.server.off('request', framework)
  app.server.on('request', (req, res) => {
    ignoreLongHeaders(req)
    // A trace begins in a hook of the framework.
    const isExcluded = isClosing || app.isDraining() || areTracesOn() || needsFramework(req)
    if (isExcluded || !respond(req, res)) framework(req, res)
  })

  /** Returns false if the framework must handle the request; then nothing was counted or sent. */
  function respond(req: IncomingMessage, res: ServerResponse): boolean {
    const startedAt = performance.now()
    const { headers } = req
    const address = clientAddress(req, options.clientAddressHeader)
    const response = address === undefined ? undefined : find(req, address)
    if (response === undefined || address === undefined) return false
    if (checkHead(req, options.blockedUserAgents) !== undefined) return false
    const exchange = { req, res, address, startedAt }
    const decision = options.limiter.count({ headers, address, config: response.route.config })
    if (!(decision instanceof Promise)) {
      if (decision.allowed) send(options, exchange, response, decision)
      else fallBack(exchange, decision)
      return true
    }
    decision.then(
      (counted) => {
        // The response might have changed while the limiter counted.
        const current = counted.allowed ? find(req, address) : undefined
        if (current === undefined) fallBack(exchange, counted)
        else send(options, exchange, current, counted)
      },
      () => framework?.(req, res),
    )
    return true
  }

  /** Lets the framework handle a request that is already counted. */
  function fallBack({ req, res }: Exchange, decision: RateDecision): void {
    options.limiter.remember(req, decision)
    framework?.(req, res)
  }
}

function send(
  { limiter, record }: FastPathOptions,
  { req, res, address, startedAt }: Exchange,
  { route, headers, bytes, viewerId }: FastPathResponse,
  { limit, remaining, resetSeconds }: RateDecision,
): void {
  const id = randomUUID()
  const status = bytes === undefined ? 304 : 200
  const refunded = bytes === undefined ? limiter.refund({ headers: req.headers, address, config: route.config }) : 0
  res.on('finish', () => {
    const milliseconds = performance.now() - startedAt
    const { url, operation } = route
    record({ id, operation, method: 'GET', route: url, status, viewerId, milliseconds })
  })
  const head = [
    'x-request-id',
    id,
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    String(remaining + refunded),
    'x-ratelimit-reset',
    String(resetSeconds),
    ...headers,
  ]
  if (bytes === undefined) return void res.writeHead(status, head).end()
  head.push('content-length', String(bytes.length))
  res.writeHead(status, head)
  // A string goes to the kernel together with the head. A buffer would be a second write, which costs more than a copy.
  if (bytes.length <= ONE_PIECE_BYTES_MAX) res.end(bytes.toString('latin1'), 'latin1')
  else res.end(bytes)
}

function needsFramework({ method, headers }: IncomingMessage): boolean {
  return method !== 'GET' || FRAMEWORK_HEADERS.some((name) => headers[name] !== undefined)
}
