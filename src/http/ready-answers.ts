// Answers that are ready bytes leave before the framework sees the request. They pass the same limiter and the same
// checks, carry the same headers, and are counted and logged like all others; what is special in any way (credentials,
// compression, conditions, a query) goes the way of every request.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RouteOptions } from 'fastify'
import type { Taken } from '#counters/counters.ts'
import { areTracesOn } from '#telemetry/traces.ts'
import { clientAddress } from './client-address.ts'
import { CACHE_CONTROL } from './entity-tags.ts'
import type { RateLimiter } from './rate-limit.ts'
import { checkHead, EXPOSED_HEADERS, type RequestContextOptions } from './request-context.ts'
import type { Answered } from './request-log.ts'
import type { App } from './server.ts'

/** A public answer of a route, JSON as its bytes and their tag. */
export type ReadyAnswer = { readonly bytes: Buffer; readonly etag: string }

const ONE_PIECE_BYTES_MAX = 16 * 1024

type ReadyOptions = RequestContextOptions & {
  limiter: Pick<RateLimiter, 'count' | 'remember'>
  note: (answered: Answered) => void
}

type ReadyRoute = {
  url: string
  operation: string
  config: NonNullable<RouteOptions['config']>
  ready: (value: string) => ReadyAnswer | undefined
}

/** `/v3/project/:id` and `/v3/project/:id/version`: what stands before the parameter, and what after it. */
const SHAPE = /^(\/v\d\/[^/:]+\/):\w+((?:\/[^/:]+)*)$/
const FIXED = /^\/v\d\/[^/:]+\/[^/:]+/
/** IDs and common names. Others, such as percent-encoded ones, are for the router. */
const PLAIN = /^[\w.-]{1,64}$/
/** With one of these headers an answer may be another one. */
const SPECIAL = ['authorization', 'accept-encoding', 'if-none-match', 'x-ratelimit-key', 'content-length'] as const

/**
 * Answers GETs of routes whose `config.ready` has an answer. To be called before any route is added. Where requests are
 * traced, which is work of its own, all of them go through the framework.
 */
export function answerReady(app: App, options: ReadyOptions): void {
  const routes = new Map<string, ReadyRoute>()
  /** Beginnings of paths that routes have word for word where others have a parameter. */
  const fixed = new Set<string>()
  let isClosing = false
  app.addHook('onRoute', (route) => {
    const ready = toReadyRoute(route)
    if (ready !== undefined) routes.set(keyOf(route.url), ready)
    else if (FIXED.test(route.url)) fixed.add(FIXED.exec(route.url)?.[0] ?? '')
  })
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })

  const [framework] = app.server.listeners('request') as RequestListener[]
  if (framework === undefined) throw new Error('The server has no listener for requests')
  app.server.off('request', framework)
  app.server.on('request', (req, res) => {
    // A trace begins in a hook.
    const route = isClosing || app.isDraining() || areTracesOn() ? undefined : findRoute(req)
    if (route === undefined || !answer(req, res, route)) framework(req, res)
  })

  /** Whether the request is answered; otherwise nothing has been done for it. */
  function answer(req: IncomingMessage, res: ServerResponse, { route, value }: Found): boolean {
    const startedAt = performance.now()
    const found = route.ready(value)
    if (found === undefined) return false
    const { headers } = req
    const address = clientAddress(req, options.clientAddressHeader)
    if (address === undefined || checkHead(req, options.blockedUserAgents) !== undefined) return false
    const taken = options.limiter.count({ headers, address, config: route.config })
    if (!(taken instanceof Promise)) {
      if (taken.allowed) send(res, { route, found, taken, startedAt })
      else leave(req, res, taken)
      return true
    }
    taken.then(
      (counted) => {
        // It may have changed while the counters were asked.
        const current = counted.allowed ? route.ready(value) : undefined
        if (current === undefined) leave(req, res, counted)
        else send(res, { route, found: current, taken: counted, startedAt })
      },
      () => framework?.(req, res),
    )
    return true
  }

  /** The framework answers after all, without counting once more. */
  function leave(req: IncomingMessage, res: ServerResponse, taken: Taken): void {
    options.limiter.remember(req, taken)
    framework?.(req, res)
  }

  type Found = { route: ReadyRoute; value: string }

  function findRoute(req: IncomingMessage): Found | undefined {
    const { url = '', headers } = req
    if (req.method !== 'GET') return undefined
    const from = url.indexOf('/', 4) + 1
    const end = url.indexOf('/', from)
    const [value, rest] = end < 0 ? [url.slice(from), ''] : [url.slice(from, end), url.slice(end)]
    const route = routes.get(url.slice(0, from) + rest)
    if (route === undefined || !PLAIN.test(value) || fixed.has(url.slice(0, from) + value)) return undefined
    if (SPECIAL.some((name) => headers[name] !== undefined) || headers['transfer-encoding'] !== undefined)
      return undefined
    return { route, value }
  }

  type Sent = { route: ReadyRoute; found: ReadyAnswer; taken: Taken; startedAt: number }

  function send(res: ServerResponse, { route, found, taken, startedAt }: Sent): void {
    const id = randomUUID()
    res.once('finish', () => {
      const milliseconds = performance.now() - startedAt
      const { url, operation } = route
      options.note({ id, operation, method: 'GET', route: url, status: 200, viewerId: undefined, milliseconds })
    })
    res.writeHead(200, [
      'x-request-id',
      id,
      'access-control-allow-origin',
      '*',
      'access-control-expose-headers',
      EXPOSED_HEADERS,
      'x-ratelimit-limit',
      String(taken.limit),
      'x-ratelimit-remaining',
      String(taken.remaining),
      'x-ratelimit-reset',
      String(taken.resetSeconds),
      'etag',
      found.etag,
      'content-type',
      'application/json; charset=utf-8',
      'cache-control',
      CACHE_CONTROL[route.config.cache ?? 'no-store'],
      'content-length',
      String(found.bytes.length),
    ])
    // A text leaves in one piece with the head; bytes would be a second one, which costs the kernel more than a copy.
    if (found.bytes.length <= ONE_PIECE_BYTES_MAX) res.end(found.bytes.toString('latin1'), 'latin1')
    else res.end(found.bytes)
  }
}

/** @throws Error for a route that cannot be answered this way. */
function toReadyRoute({ method, url, config, schema, constraints }: RouteOptions): ReadyRoute | undefined {
  if (config?.ready === undefined || method === 'HEAD') return undefined
  const isRead = typeof config.auth === 'object' && 'read' in config.auth
  if (method !== 'GET' || !SHAPE.test(url) || !isRead || config.cache !== 'public' || constraints !== undefined) {
    throw new Error(`${String(method)} ${url} cannot have ready answers`)
  }
  return { url, operation: schema?.operationId ?? 'unknown', config, ready: config.ready }
}

function keyOf(url: string): string {
  const [, before = '', after = ''] = SHAPE.exec(url) ?? []
  return before + after
}
