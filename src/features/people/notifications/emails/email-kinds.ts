// Kinds of notifications that users can receive by email. Each kind is one setting and can contain several types.
import type { NotificationType } from '../notification-types.ts'

/** The kinds, in the order of the settings, with whether Depot emails them unless the user has decided otherwise. */
export const EMAIL_DEFAULTS = {
  // Anyone can invite any user, and nothing limits the number.
  invitation: false,
  project_transferred: true,
  project_status: true,
  project_message: true,
  version_quarantined: true,
  withdrawal: true,
  trusted_publisher: true,
  webhook_disabled: true,
  content_taken_down: true,
  report_submitted: true,
  report_message: false,
  report_status_updated: true,
  project_update: false,
  operator_question: true,
} as const satisfies Readonly<Record<string, boolean>>

export type EmailKind = keyof typeof EMAIL_DEFAULTS
export const EMAIL_KINDS = Object.keys(EMAIL_DEFAULTS) as readonly EmailKind[]

/** Settings of a user: whether each kind is emailed. */
export type EmailSettings = Record<EmailKind, boolean>

/** `undefined`: Depot emails another notification of the same event. */
const KINDS: { readonly [Type in NotificationType]: EmailKind | undefined } = {
  project_update: 'project_update',
  team_invite: 'invitation',
  organization_invite: 'invitation',
  status_change: undefined,
  project_status_approved: 'project_status',
  project_status_neutral: 'project_status',
  // About a project, `moderation_message_received` is emailed.
  moderator_message: 'report_message',
  moderation_message_received: 'project_message',
  version_quarantined: 'version_quarantined',
  version_withdrawn: 'withdrawal',
  dependency_broken: 'withdrawal',
  publisher_added: 'trusted_publisher',
  publisher_stopped: 'trusted_publisher',
  webhook_disabled: 'webhook_disabled',
  report_submitted: 'report_submitted',
  report_status_updated: 'report_status_updated',
  content_taken_down: 'content_taken_down',
  operator_question: 'operator_question',
  project_transferred: 'project_transferred',
}

/** Returns the setting that decides about the email of a notification; undefined if it is never emailed. */
export function emailKindOf(body: { type: string; project_id?: unknown }): EmailKind | undefined {
  if (!Object.hasOwn(KINDS, body.type)) return undefined
  if (body.type === 'moderator_message' && typeof body.project_id === 'string') return undefined
  return KINDS[body.type as NotificationType]
}

export const isEmailKind = (name: string): name is EmailKind => Object.hasOwn(EMAIL_DEFAULTS, name)

/** Whether a kind is emailed. `stored` is the user's decision, if there is one. */
export const isEmailed = (kind: EmailKind, stored: boolean | null | undefined): boolean =>
  stored ?? EMAIL_DEFAULTS[kind]
