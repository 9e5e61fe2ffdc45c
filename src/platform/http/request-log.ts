// Logs one line per request after the response is sent, and updates the request metrics.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'

export type RequestRecord = {
  id: string
  operation: string
  method: string
  /** The path as its route declares it. */
  route: string | undefined
  status: number
  viewerId: string | undefined
  /** From the first byte of the request. */
  milliseconds: number
  /** Whether the time depends on the connection of the client (`config.isTransfer`). */
  isTransfer?: boolean | undefined
  /** The error code of a response with 5xx. */
  errorCode?: string | undefined
}

/** Counts and logs requests. The error handler logs the cause of a 5xx. */
export function createRequestLog(log: Log, metrics: Metrics): (request: RequestRecord) => void {
  return ({ id, operation, method, route, status, viewerId, milliseconds, isTransfer, errorCode }) => {
    metrics.requests.inc({ operation, status })
    metrics.requestSeconds.observe({ operation }, milliseconds / 1000)
    metrics.figures.request({ operation, status, milliseconds, isTransfer })
    if (errorCode !== undefined)
      metrics.figures.error({ code: errorCode, route: `${method} ${route ?? ''}`, requestId: id })
    if (!log.isLevelEnabled('info')) return
    const duration_ms = Math.round(milliseconds * 100) / 100
    log.info({ request_id: id, operation, method, route, status, viewer_id: viewerId, duration_ms }, 'request')
  }
}

/** The onResponse hook for requests of the framework. */
export function logRequest(record: (request: RequestRecord) => void) {
  return (req: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Fastify creates this object on every access.
    const { schema, url, config } = req.routeOptions
    record({
      id: req.id,
      operation: schema?.operationId ?? 'unknown',
      method: req.method,
      route: url,
      status: reply.statusCode,
      viewerId: req.viewer?.id,
      milliseconds: reply.elapsedTime,
      isTransfer: config.isTransfer,
      errorCode: req.errorCode,
    })
    done()
  }
}
