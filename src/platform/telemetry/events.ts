// Records business events with a log line and a counter. Events can be lost, so no behaviour depends on them.
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export type Telemetry = { log: Log; metrics: Metrics }

export type BusinessEvent =
  | 'account.created'
  | 'account.signed_in'
  | 'account.sign_in_refused'
  | 'account.deleted'
  | 'account.email_restored'
  | 'account.changed_by_admin'
  | 'oauth.application_changed_by_admin'
  | 'token.created'
  | 'token.leaked'
  | 'publishing.exchanged'
  | 'publishing.refused'
  | 'project.created'
  | 'project.status_changed'
  | 'project.deleted'
  | 'version.published'
  | 'version.deleted'
  | 'upload.finished'
  | 'upload.expired'
  | 'file.downloaded'
  | 'organization.created'
  | 'organization.deleted'
  | 'collection.created'
  | 'report.created'
  | 'member.invited'
  | 'service_account.created'
  | 'member.joined'

/** Records an event. `subject` must contain only IDs and numbers: no names, email or IP addresses, or secrets. */
export function recordEvent(
  { log, metrics }: Telemetry,
  event: BusinessEvent,
  subject: Record<string, string | number> = {},
): void {
  metrics.events.inc({ event })
  metrics.figures.event(event)
  log.info({ event, ...subject }, event)
}
