// One wide line a request, when its answer has left, and the request metrics.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'

/** What is said of a request once its answer has left. */
export type Answered = {
  id: string
  operation: string
  method: string
  /** The path as its route declares it. */
  route: string | undefined
  status: number
  viewerId: string | undefined
  /** From the first byte of the request on. */
  milliseconds: number
}

/** Counts and logs requests. Answers of 5xx are at error level where they were handled, not here. */
export function createRequestLog(log: Log, metrics: Metrics): (answered: Answered) => void {
  return ({ id, operation, method, route, status, viewerId, milliseconds }) => {
    metrics.requests.inc({ operation, status })
    metrics.requestSeconds.observe({ operation }, milliseconds / 1000)
    if (!log.isLevelEnabled('info')) return
    const duration_ms = Math.round(milliseconds * 100) / 100
    log.info({ request_id: id, operation, method, route, status, viewer_id: viewerId, duration_ms }, 'request')
  }
}

/** onResponse: the same for what the framework answers. */
export function logRequest(note: (answered: Answered) => void) {
  return (req: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Fastify makes this object again whenever it is asked for.
    const { schema, url } = req.routeOptions
    note({
      id: req.id,
      operation: schema?.operationId ?? 'unknown',
      method: req.method,
      route: url,
      status: reply.statusCode,
      viewerId: req.viewer?.id,
      milliseconds: reply.elapsedTime,
    })
    done()
  }
}
