// Routes of one path parameter that say by themselves what is ready: `config.ready`.
import type { IncomingMessage } from 'node:http'
import type { RouteOptions } from 'fastify'
import { EXPOSED_HEADERS } from '../request-context.ts'
import { CACHE_CONTROL, matchesEntityTag } from '../responses/entity-tags.ts'
import type { App } from '../server.ts'
import type { FastPathRoute, FastPathSource, Ready } from './fast-path.ts'

/** A public answer of a route, JSON as its bytes and their tag. */
export type CachedResponse = { readonly bytes: Buffer; readonly etag: string }

type ReadyRoute = { route: FastPathRoute; ready: (value: string) => CachedResponse | undefined; cacheControl: string }

/** `/v3/project/:id` and `/v3/project/:id/version`: what stands before the parameter, and what after it. */
const SHAPE = /^(\/v\d\/[^/:]+\/):\w+((?:\/[^/:]+)*)$/
const FIXED = /^\/v\d\/[^/:]+\/[^/:]+/
/** IDs and common names. Others, such as percent-encoded ones, are for the router. */
const PLAIN = /^[\w.-]{1,64}$/

/** What the routes that are added from now on have ready. Compressed answers are the framework's. */
export function cachedRoutes(app: App): FastPathSource {
  const routes = new Map<string, ReadyRoute>()
  /** Beginnings of paths that routes have word for word where others have a parameter. */
  const fixed = new Set<string>()
  app.addHook('onRoute', (route) => {
    const ready = toReadyRoute(route)
    if (ready !== undefined) routes.set(keyOf(route.url), ready)
    else if (FIXED.test(route.url)) fixed.add(FIXED.exec(route.url)?.[0] ?? '')
  })

  return (req: IncomingMessage): Ready | undefined => {
    const { url = '', headers } = req
    const from = url.indexOf('/', 4) + 1
    const end = url.indexOf('/', from)
    const [value, rest] = end < 0 ? [url.slice(from), ''] : [url.slice(from, end), url.slice(end)]
    const found = routes.get(url.slice(0, from) + rest)
    if (found === undefined || !PLAIN.test(value) || fixed.has(url.slice(0, from) + value)) return undefined
    if (headers['accept-encoding'] !== undefined) return undefined
    const answer = found.ready(value)
    return answer === undefined ? undefined : toReady(found, answer, headers['if-none-match'])
  }
}

function toReady({ route, cacheControl }: ReadyRoute, answer: CachedResponse, known: string | undefined): Ready {
  const { bytes, etag } = answer
  const isKnown = known !== undefined && matchesEntityTag(known, etag)
  const type = ['content-type', 'application/json; charset=utf-8']
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
  return isKnown ? { route, headers, bytes: undefined } : { route, headers: [...headers, ...type], bytes }
}

/** @throws Error for a route that cannot be answered this way. */
function toReadyRoute({ method, url, config, schema, constraints }: RouteOptions): ReadyRoute | undefined {
  if (config?.ready === undefined || method === 'HEAD') return undefined
  const isRead = typeof config.auth === 'object' && 'read' in config.auth
  if (method !== 'GET' || !SHAPE.test(url) || !isRead || config.cache !== 'public' || constraints !== undefined) {
    throw new Error(`${String(method)} ${url} cannot have ready answers`)
  }
  const route = { url, operation: schema?.operationId ?? 'unknown', config }
  return { route, ready: config.ready, cacheControl: CACHE_CONTROL[config.cache] }
}

function keyOf(url: string): string {
  const [, before = '', after = ''] = SHAPE.exec(url) ?? []
  return before + after
}
