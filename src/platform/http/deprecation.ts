// Deprecated operations: the headers of RFC 9745 and RFC 8594, a mark in the API description, and a line in the log.
import type { onRequestHookHandler, RouteOptions } from 'fastify'
import type { Log } from '#platform/telemetry/log.ts'
import { EXPOSED_HEADERS } from './request-context.ts'

/** Marks the operation of the route, and announces its end in each response. */
export function deprecate(route: RouteOptions, log: Log): void {
  const { deprecated } = route.config ?? {}
  if (deprecated === undefined) return
  const { description, operationId } = route.schema ?? {}
  const notice = `Deprecated since ${deprecated.since}, can be removed from ${deprecated.sunset}: use ${deprecated.instead}.`
  route.schema = {
    ...route.schema,
    deprecated: true,
    description: description === undefined ? notice : `${description}\n\n${notice}`,
  }
  const headers = {
    deprecation: `@${Date.parse(deprecated.since) / 1000}`,
    sunset: new Date(deprecated.sunset).toUTCString(),
    'access-control-expose-headers': `${EXPOSED_HEADERS}, Deprecation, Sunset`,
  }
  let isLogged = false
  const announce: onRequestHookHandler = (req, reply, done) => {
    void reply.headers(headers)
    if (!isLogged) {
      isLogged = true
      const caller = req.headers['user-agent']
      log.warn(
        { operation: operationId, user_agent: caller },
        'A deprecated operation is used; logged once per process',
      )
    }
    done()
  }
  const before = route.onRequest === undefined ? [] : [route.onRequest].flat()
  route.onRequest = [announce, ...before]
}
