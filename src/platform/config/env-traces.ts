// The variables that send traces away, part of the schema in `env.ts`. The names are those of OpenTelemetry, whose
// libraries read further ones by themselves.
import Type from 'typebox'
import { isWebAddress } from './env-values.ts'
import { optional, WEB } from './variable.ts'

export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    {
      description: 'Receiver of traces (OTLP over HTTP, JSON); see docs/monitoring.md. Unset: no traces.',
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
          'tracecontext: a request goes on with the trace that its caller names, where only trusted ones can. Unset, or none: each begins a new one.',
        must: 'a list of tracecontext, baggage, or none',
        example: 'tracecontext',
      }),
      (value) => value.split(',').every((word) => ['tracecontext', 'baggage', 'none'].includes(word.trim())),
    ),
  ),
}
