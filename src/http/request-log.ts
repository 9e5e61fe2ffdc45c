// One wide line a request, when its answer has left, and the request metrics.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'

/** onResponse: counts and logs the request. Answers of 5xx are at error level where they were handled, not here. */
export function logRequest(log: Log, metrics: Metrics) {
  return (req: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Fastify makes this object again whenever it is asked for.
    const { schema, url } = req.routeOptions
    const operation = schema?.operationId ?? 'unknown'
    metrics.requests.inc({ operation, status: reply.statusCode })
    metrics.requestSeconds.observe({ operation }, reply.elapsedTime / 1000)
    if (log.isLevelEnabled('info')) {
      log.info(
        {
          request_id: req.id,
          operation,
          method: req.method,
          route: url,
          status: reply.statusCode,
          viewer_id: req.viewer?.id,
          duration_ms: Math.round(reply.elapsedTime * 100) / 100,
        },
        'request',
      )
    }
    done()
  }
}
