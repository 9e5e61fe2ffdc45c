// The kinds of events that webhooks receive.

/**
 * Receivers of events of a kind. `all`: webhooks of the owners, and of the instance if the subject is public. `members`:
 * webhooks of the owners only. `instance`: webhooks of the instance only.
 */
type Audience = 'all' | 'members' | 'instance'

/** The receivers of each kind, and when Depot sends it, for the documentation. */
const KINDS = {
  'project.created': ['all', 'A project becomes public for the first time'],
  'project.updated': ['all', 'A project changes'],
  'project.status_changed': ['all', 'A project changes its status'],
  'project.removed': ['all', 'A project is deleted'],
  'project.transferred': ['all', 'A project gets another owner'],
  'version.published': ['all', 'A version becomes listed in a public project'],
  'version.updated': ['all', 'A version changes'],
  'version.withdrawn': ['all', 'A version is withdrawn'],
  'version.removed': ['all', 'A version is deleted'],
  'member.invited': ['members', 'A user is invited to a project or an organization'],
  'member.joined': ['all', 'A member joins a project or an organization'],
  'member.left': ['all', 'A member leaves a project or an organization'],
  'report.created': ['instance', 'A report is filed'],
  'report.closed': ['instance', 'A report is closed'],
  'scan.quarantined': ['members', 'The scanner holds a version back'],
  'advisory.published': ['all', 'A security advisory is published'],
  'organization.project_added': ['all', 'An organization gets a project'],
  'organization.project_removed': ['all', 'An organization loses a project'],
  'collection.updated': ['all', 'A collection changes'],
  'account.created': ['instance', 'An account is created'],
  'dependency.broken': ['members', 'Something that a project requires does not work any more'],
} as const satisfies Record<string, readonly [Audience, string]>

export type EventKind = keyof typeof KINDS

/** Every kind to which a webhook can subscribe. */
export const EVENT_KINDS = Object.keys(KINDS) as EventKind[]

/** The event of a ping, which the webhook that is pinged receives. */
export const PING = 'webhook.ping'

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(KINDS, text)

/** Returns the kinds with one of these audiences. */
export function kindsFor(...audiences: Audience[]): EventKind[] {
  return EVENT_KINDS.filter((kind) => audiences.includes(KINDS[kind][0]))
}

/** Returns each kind with its receivers and when Depot sends it, for the documentation. */
export function describedKinds(): { kind: string; audience: Audience; sentWhen: string }[] {
  return EVENT_KINDS.map((kind) => ({ kind, audience: KINDS[kind][0], sentWhen: KINDS[kind][1] }))
}
