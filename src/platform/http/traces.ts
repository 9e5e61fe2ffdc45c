// Creates a trace span for each request.
import type { FastifyInstance } from 'fastify'
import { areTracesOn, type RequestTrace, traceRequest } from '#platform/telemetry/traces.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null while traces are off. */
    trace: RequestTrace | null
  }
}

/** Call it before all other hooks are added. Does nothing while traces are off. */
export function traceRequests(app: Pick<FastifyInstance, 'addHook' | 'decorateRequest'>): void {
  if (!areTracesOn()) return
  app.decorateRequest('trace', null)
  app.addHook('onRequest', (req, _reply, done) => {
    req.trace = traceRequest(req.method, req.headers) ?? null
    if (req.trace === null) done()
    else req.trace.run(done)
  })
  // The events of the connection that delivered the body have no request context.
  app.addHook('preValidation', (req, _reply, done) => {
    if (req.trace === null) done()
    else req.trace.run(done)
  })
  app.addHook('onResponse', (req, reply, done) => {
    const { schema, url } = req.routeOptions
    const operation = schema?.operationId ?? 'unknown'
    req.trace?.end({ method: req.method, route: url, operation, status: reply.statusCode, requestId: req.id })
    done()
  })
}
