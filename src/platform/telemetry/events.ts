// Records business events with a log line and a counter. Events can be lost, so no behaviour depends on them.
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export type Telemetry = { log: Log; metrics: Metrics }

/** A noun and what happened to it, such as `token.created`. */
type BusinessEvent = `${string}.${string}`

/** Records an event. `subject` must contain only IDs and numbers: no names, email or IP addresses, or secrets. */
export function recordEvent(
  { log, metrics }: Telemetry,
  event: BusinessEvent,
  subject: Record<string, string | number> = {},
): void {
  metrics.events.inc({ event })
  metrics.figures.add(event)
  log.info({ event, ...subject }, event)
}
