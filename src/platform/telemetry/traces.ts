// Traces for OpenTelemetry: a span for each request, each statement of the request and each job that it starts, also in
// another process. Traces are off, and the libraries are not loaded, unless the operator configures a collector. The tracer
// is a module variable, because functions that enqueue a job receive only a transaction.

import type { Context, Span, SpanOptions, TextMapPropagator, Tracer } from '@opentelemetry/api'
import type { LogEvent } from 'kysely'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { loadFor } from '#platform/config/optional-packages.ts'
import type { Log } from './log.ts'

export type TraceOptions = {
  /** URL of the collector (OTLP over HTTP, JSON) without `/v1/traces`; undefined: no traces. */
  endpoint: string | undefined
  serviceName: string
  /** Whether requests continue the trace of their caller. Untrusted clients could then choose which traces are stored. */
  followsCallers: boolean
  version: string
}

type Api = typeof import('@opentelemetry/api')
type Active = { api: Api; tracer: Tracer; propagator: TextMapPropagator; followsCallers: boolean }

let active: Active | undefined

/** Key of the trace in the payload of a job. Handlers do not see it. */
const TRACE_KEY = '_trace'
const STATEMENT_LENGTH_MAX = 2_000
/** Maximum time that the process waits for the collector before it exits. */
const LAST_SEND_MS = 3_000
/** Minimum time between two warnings about an unavailable collector. */
const COMPLAIN_MS = 60_000

/** Starts tracing. The returned function sends the pending spans and stops. Without an endpoint, both do nothing. */
export async function startTraces(options: TraceOptions, log: Log): Promise<() => Promise<void>> {
  const { endpoint, serviceName, followsCallers, version } = options
  if (endpoint === undefined) return async () => {}
  const [api, { NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }, core] =
    await loadFor('OTEL_EXPORTER_OTLP_ENDPOINT', importLibraries)
  api.diag.setLogger(complaints(log), api.DiagLogLevel.WARN)
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${withoutEnd(endpoint, '/')}/v1/traces` }))],
  })
  const propagator = new core.W3CTraceContextPropagator()
  provider.register({ propagator: null })
  active = { api, tracer: provider.getTracer('depot'), propagator, followsCallers }
  return async () => {
    active = undefined
    const limit = new Promise<void>((resolve) => void setTimeout(resolve, LAST_SEND_MS).unref())
    await Promise.race([provider.shutdown().catch(() => undefined), limit])
  }
}

const importLibraries = () =>
  Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
  ])

/** Logs the warnings of the library, at most one per minute. The usual cause is an unavailable collector. */
function complaints(log: Log) {
  let last = Number.NEGATIVE_INFINITY
  const complain = (problem: string): void => {
    if (performance.now() - last < COMPLAIN_MS) return
    last = performance.now()
    log.warn({ problem: problem.slice(0, 500) }, 'Could not send traces')
  }
  const ignore = (): void => undefined
  return { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore }
}

export const areTracesOn = (): boolean => active !== undefined

export type RequestTrace = {
  /** Runs `act` in the context of the request, so that its statements and jobs become child spans. */
  run(act: () => void): void
  end(answer: { method: string; route: string | undefined; operation: string; status: number; requestId: string }): void
}

/** Starts the span of a request. It never contains IP addresses, query strings or headers. */
export function traceRequest(method: string, headers: Record<string, unknown>): RequestTrace | undefined {
  if (active === undefined) return undefined
  const { api, tracer, propagator, followsCallers } = active
  const parent = followsCallers
    ? propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter)
    : api.ROOT_CONTEXT
  const span = tracer.startSpan(method, { kind: api.SpanKind.SERVER }, parent)
  const context = api.trace.setSpan(parent, span)
  return {
    run: (act) => api.context.with(context, act),
    end({ method, route, operation, status, requestId }) {
      if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': status,
        'depot.operation': operation,
        'depot.request_id': requestId,
      })
      if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Records a finished statement, without its values, as a child of the current span. Does nothing without such a span. */
export function traceStatement(event: LogEvent): void {
  if (active === undefined) return
  const { api, tracer } = active
  if (api.trace.getActiveSpan() === undefined) return
  const { sql } = event.query
  const endedAt = Date.now()
  const span = tracer.startSpan(/^\s*\(*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? 'statement', {
    kind: api.SpanKind.CLIENT,
    startTime: endedAt - event.queryDurationMillis,
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, STATEMENT_LENGTH_MAX) },
  })
  if (event.level === 'error') span.setStatus({ code: api.SpanStatusCode.ERROR })
  span.end(endedAt)
}

/** Returns the payload of a job with the current trace, if any. */
export function withTrace<Payload extends object>(payload: Payload): Payload {
  if (active === undefined) return payload
  const carrier: { traceparent?: string } = {}
  active.propagator.inject(active.api.context.active(), carrier, active.api.defaultTextMapSetter)
  return carrier.traceparent === undefined ? payload : { ...payload, [TRACE_KEY]: carrier.traceparent }
}

/** Runs a job as part of the trace that started it. `act` receives the payload without the trace. */
export async function traceJob<T>(name: string, payload: unknown, act: (payload: unknown) => Promise<T>): Promise<T> {
  const { [TRACE_KEY]: traceparent, ...own } = (payload ?? {}) as Record<string, unknown>
  const given = traceparent === undefined ? payload : own
  if (active === undefined) return act(given)
  const { api, tracer, propagator } = active
  const parent: Context = propagator.extract(api.ROOT_CONTEXT, { traceparent }, api.defaultTextMapGetter)
  const options: SpanOptions = { kind: api.SpanKind.CONSUMER, attributes: { 'depot.job': name } }
  return tracer.startActiveSpan(`job ${name}`, options, parent, async (span: Span) => {
    try {
      return await act(given)
    } catch (error) {
      span.setStatus({ code: api.SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  })
}
