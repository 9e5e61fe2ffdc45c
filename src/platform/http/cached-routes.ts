// The fast path of API routes whose responses are cached (`config.ready`).
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { EXPOSED_HEADERS } from './request-context.ts'
import { CODINGS, COMPRESS_BYTES_MIN, codedTag, codingFor } from './responses/content-coding.ts'
import { CACHE_CONTROL, findKnownTag } from './responses/entity-tags.ts'
import type {
  AccessControl,
  CachedResponse,
  CachePolicy,
  Caller,
  FastPathResponse,
  FastPathRoute,
  FastPathSource,
} from './route-config.ts'

type CachedRoute = {
  route: FastPathRoute
  find: (value: string, viewer: Caller) => CachedResponse | undefined
  /** `identify` returns undefined if the framework must decide. */
  identify: (req: IncomingMessage, address: string) => Caller | undefined
  cache: CachePolicy
}

/** A path without a parameter, or the parts before and after it: `/v3/user`, `/v3/user/:id`, `/v3/user/:id/list`. */
const SHAPE = /^(\/v\d\/[^/:]+(?:\/(?=:))?)(?::\w+((?:\/[^/:]+)*))?$/
const FIXED = /^\/v\d\/[^/:]+\/[^/:]+/
/** IDs and common names. The framework handles all others, such as percent-encoded names. */
const PLAIN = /^[\w.-]{1,64}$/

/** Returns the fast path of the routes that are registered from now on. */
export function cachedRoutes(
  app: Pick<FastifyInstance, 'addHook' | 'codedForms'>,
  access: AccessControl,
): FastPathSource {
  const routes = new Map<string, CachedRoute>()
  /** Path prefixes of routes that have a fixed part where others have a parameter. */
  const fixed = new Set<string>()
  app.addHook('onRoute', (route) => {
    const cached = toCachedRoute(route, access)
    if (cached !== undefined) routes.set(keyOf(route.url), cached)
    else if (FIXED.test(route.url)) fixed.add(FIXED.exec(route.url)?.[0] ?? '')
  })

  return (req, address) => {
    const { url = '', headers } = req
    const from = url.indexOf('/', 4) + 1
    const end = url.indexOf('/', from)
    const [before, value, after] =
      from === 0
        ? [url, '', '']
        : [url.slice(0, from), url.slice(from, end < 0 ? undefined : end), end < 0 ? '' : url.slice(end)]
    const found = routes.get(before + after)
    if (found === undefined || (from > 0 && (!PLAIN.test(value) || fixed.has(before + value)))) return undefined
    const viewer = found.identify(req, address)
    const response = viewer === undefined ? undefined : found.find(value, viewer)
    if (response === undefined || viewer === undefined) return undefined
    return toFastPathResponse(app, found, { response, headers, viewer })
  }
}

function toFastPathResponse(
  { codedForms }: Pick<FastifyInstance, 'codedForms'>,
  { route, cache }: CachedRoute,
  {
    response: { bytes, etag },
    headers,
    viewer,
  }: { response: CachedResponse; viewer: Caller } & Pick<IncomingMessage, 'headers'>,
): FastPathResponse | undefined {
  const own = [
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    EXPOSED_HEADERS,
    'cache-control',
    CACHE_CONTROL[viewer !== null && cache === 'public' ? 'private' : cache],
  ]
  const isCoded = bytes.length >= COMPRESS_BYTES_MIN
  if (isCoded) own.push('vary', 'accept-encoding')
  const viewerId = viewer?.id
  const known = findKnownTag(headers, etag)
  if (known !== undefined) return { route, headers: [...own, 'etag', known], bytes: undefined, viewerId }
  own.push('content-type', 'application/json; charset=utf-8')
  const coding = isCoded ? codingFor(headers['accept-encoding'], CODINGS) : undefined
  if (coding === undefined) return { route, headers: [...own, 'etag', etag], bytes, viewerId }
  const form = codedForms.encode(etag, coding, bytes)
  if (form instanceof Promise) return undefined
  return { route, headers: [...own, 'etag', codedTag(etag, coding), 'content-encoding', coding], bytes: form, viewerId }
}

/** @throws Error if the fast path does not support the route. */
function toCachedRoute(
  { method, url, config, schema, constraints }: RouteOptions,
  access: AccessControl,
): CachedRoute | undefined {
  // The framework announces the end of a deprecated operation.
  if (config?.ready === undefined || config.deprecated !== undefined || method === 'HEAD') return undefined
  const { auth, cache = 'no-store', role } = config
  const isSupported = typeof auth === 'object' && cache !== 'no-store' && role === undefined
  if (method !== 'GET' || !SHAPE.test(url) || !isSupported || constraints !== undefined)
    throw new Error(`The fast path does not support ${String(method)} ${url}`)
  const identify = ({ headers }: IncomingMessage, clientAddress: string) =>
    access.peek(auth, { headers, clientAddress })
  return { route: { url, operation: schema?.operationId ?? 'unknown', config }, find: config.ready, identify, cache }
}

function keyOf(url: string): string {
  const [, before = '', after = ''] = SHAPE.exec(url) ?? []
  return before + after
}
