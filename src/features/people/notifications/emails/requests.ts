// Schemas of the settings which notifications are emailed.
import Type, { type Static } from 'typebox'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { EMAIL_DEFAULTS, EMAIL_KINDS, type EmailKind } from './email-kinds.ts'

const TEXTS: Readonly<Record<EmailKind, string>> = {
  invitation: 'Invitations to teams and organizations',
  project_transferred: 'Projects of which the user becomes the owner',
  project_status: "Decisions of moderators about the user's projects",
  project_message: "Messages of moderators about the user's projects",
  version_quarantined: 'Versions that the scanner holds back',
  withdrawal: "Versions of the user's projects that others withdraw, and dependencies that have broken",
  trusted_publisher: 'Trusted publishers that were added or have stopped',
  webhook_disabled: 'Webhooks that were switched off',
  content_taken_down: 'Profile texts and collections that moderators remove',
  report_submitted: 'Receipts of reports by the user',
  report_message: 'Messages of moderators about reports by the user',
  report_status_updated: 'Reports by the user that are closed or reopened',
  project_update: 'New versions of followed projects',
  operator_question: 'Messages of moderators to operators',
}

const describe = (kind: EmailKind): string => `${TEXTS[kind]}. Default: ${EMAIL_DEFAULTS[kind]}`

const mapKinds = <Schema extends Type.TSchema>(toSchema: (kind: EmailKind) => Schema) =>
  Object.fromEntries(EMAIL_KINDS.map((kind) => [kind, toSchema(kind)])) as Record<EmailKind, Schema>

export const NotificationSettings = NamedObject('NotificationSettings', {
  email: Type.Object(
    mapKinds((kind) => Type.Boolean({ description: describe(kind) })),
    { description: 'Whether Depot also sends each kind of notification by email' },
  ),
})

export const NotificationSettingsPatch = Type.Object(
  { email: Type.Optional(Type.Object(mapKinds((kind) => Maybe(Type.Boolean({ description: describe(kind) }))))) },
  {
    title: 'NotificationSettingsUpdate',
    description: 'Missing kinds remain unchanged. Null resets a kind to its default.',
  },
)
export type EmailSettingsPatch = Static<typeof NotificationSettingsPatch>
