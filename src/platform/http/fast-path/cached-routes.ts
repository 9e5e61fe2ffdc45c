// Fast path for routes with one path parameter that return cached responses (`config.ready`).
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { EXPOSED_HEADERS } from '../request-context.ts'
import { CACHE_CONTROL, matchesEntityTag } from '../responses/entity-tags.ts'
import type { CachedResponse, FastPathResponse, FastPathRoute, FastPathSource } from '../route-config.ts'

type CachedRoute = { route: FastPathRoute; find: (value: string) => CachedResponse | undefined; cacheControl: string }

/** The parts before and after the parameter: `/v3/project/:id`, `/v3/project/:id/version`. */
const SHAPE = /^(\/v\d\/[^/:]+\/):\w+((?:\/[^/:]+)*)$/
const FIXED = /^\/v\d\/[^/:]+\/[^/:]+/
/** IDs and common names. The framework handles all others, such as percent-encoded names. */
const PLAIN = /^[\w.-]{1,64}$/

/** Returns the fast path of the routes that are registered from now on. The framework sends compressed responses. */
export function cachedRoutes(app: Pick<FastifyInstance, 'addHook'>): FastPathSource {
  const routes = new Map<string, CachedRoute>()
  /** Path prefixes of routes that have a fixed part where others have a parameter. */
  const fixed = new Set<string>()
  app.addHook('onRoute', (route) => {
    const cached = toCachedRoute(route)
    if (cached !== undefined) routes.set(keyOf(route.url), cached)
    else if (FIXED.test(route.url)) fixed.add(FIXED.exec(route.url)?.[0] ?? '')
  })

  return ({ url = '', headers }: IncomingMessage): FastPathResponse | undefined => {
    const from = url.indexOf('/', 4) + 1
    const end = url.indexOf('/', from)
    const [value, rest] = end < 0 ? [url.slice(from), ''] : [url.slice(from, end), url.slice(end)]
    const route = routes.get(url.slice(0, from) + rest)
    if (route === undefined || !PLAIN.test(value) || fixed.has(url.slice(0, from) + value)) return undefined
    if (headers['accept-encoding'] !== undefined) return undefined
    const response = route.find(value)
    return response === undefined ? undefined : toFastPathResponse(route, response, headers['if-none-match'])
  }
}

function toFastPathResponse(
  { route, cacheControl }: CachedRoute,
  { bytes, etag }: CachedResponse,
  ifNoneMatch: string | undefined,
): FastPathResponse {
  const headers = [
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    EXPOSED_HEADERS,
    'etag',
    etag,
    'cache-control',
    cacheControl,
  ]
  const isUnchanged = ifNoneMatch !== undefined && matchesEntityTag(ifNoneMatch, etag)
  if (isUnchanged) return { route, headers, bytes: undefined }
  return { route, headers: [...headers, 'content-type', 'application/json; charset=utf-8'], bytes }
}

/** @throws Error if the fast path does not support the route. */
function toCachedRoute({ method, url, config, schema, constraints }: RouteOptions): CachedRoute | undefined {
  if (config?.ready === undefined || method === 'HEAD') return undefined
  const isRead = typeof config.auth === 'object' && 'read' in config.auth
  if (method !== 'GET' || !SHAPE.test(url) || !isRead || config.cache !== 'public' || constraints !== undefined) {
    throw new Error(`The fast path does not support ${String(method)} ${url}`)
  }
  const route = { url, operation: schema?.operationId ?? 'unknown', config }
  return { route, find: config.ready, cacheControl: CACHE_CONTROL[config.cache] }
}

function keyOf(url: string): string {
  const [, before = '', after = ''] = SHAPE.exec(url) ?? []
  return before + after
}
