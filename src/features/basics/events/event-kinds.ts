// The kinds of events that webhooks receive.

/**
 * Receivers of events of a kind. `all`: webhooks of the owners, and of the instance if the subject is public. `members`:
 * webhooks of the owners only. `instance`: webhooks of the instance only.
 */
type Audience = 'all' | 'members' | 'instance'

const KINDS = {
  'project.created': 'all',
  'project.updated': 'all',
  'project.status_changed': 'all',
  'project.removed': 'all',
  'project.transferred': 'all',
  'version.published': 'all',
  'version.updated': 'all',
  'version.withdrawn': 'all',
  'version.removed': 'all',
  'member.invited': 'members',
  'member.joined': 'all',
  'member.left': 'all',
  'report.created': 'instance',
  'report.closed': 'instance',
  'scan.quarantined': 'members',
  'advisory.published': 'all',
  'organization.project_added': 'all',
  'organization.project_removed': 'all',
  'collection.updated': 'all',
  'account.created': 'instance',
  'dependency.broken': 'members',
} as const satisfies Record<string, Audience>

export type EventKind = keyof typeof KINDS

/** Every kind to which a webhook can subscribe. */
export const EVENT_KINDS = Object.keys(KINDS) as EventKind[]

/** The event of a ping, which the webhook that is pinged receives. */
export const PING = 'webhook.ping'

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(KINDS, text)

/** Returns the kinds with one of these audiences. */
export function kindsFor(...audiences: Audience[]): EventKind[] {
  return EVENT_KINDS.filter((kind) => audiences.includes(KINDS[kind]))
}
