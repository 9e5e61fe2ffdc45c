// Settings of traces. OpenTelemetry defines the names, and its libraries read other variables themselves.
import Type from 'typebox'
import { isWebAddress } from './env-values.ts'
import { optional, WEB } from './variable.ts'

export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    {
      description: 'URL of the receiver of traces (OTLP over HTTP, JSON); see docs/monitoring.md. Default: no traces.',
      must: WEB,
      example: 'http://127.0.0.1:4318',
    },
    isWebAddress,
  ),
  OTEL_SERVICE_NAME: Type.String({
    default: 'depot',
    maxLength: 255,
    description: 'Name of the service in traces.',
    must: 'at most 255 characters',
    example: 'depot-eu',
  }),
  OTEL_PROPAGATORS: Type.Optional(
    Type.Refine(
      Type.String({
        maxLength: 255,
        description:
          'tracecontext: a request continues the trace of its caller. Set it only if all callers are trusted. none: each request begins a new trace. Default: none.',
        must: 'a list of tracecontext, baggage, or none',
        example: 'tracecontext',
      }),
      (value) => value.split(',').every((word) => ['tracecontext', 'baggage', 'none'].includes(word.trim())),
    ),
  ),
}
