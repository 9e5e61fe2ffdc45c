// Response schema of the attention list.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { ATTENTION_KINDS } from './kinds.ts'

const AttentionItem = NamedObject('AttentionItem', {
  id: Type.String({ description: 'Identifies the item, for its dismissal: the kind and the ID of its subject' }),
  kind: Type.Enum([...ATTENTION_KINDS], {
    description:
      '`moderator_message`: an unanswered message or decision of a moderator. `quarantined_version`, `failed_scan`: of the ' +
      'scanner. `invitation`: to a team. `paused_upload`: an incomplete draft of a version. `incomplete_draft`: a draft with missing items. `scheduled`: a publication within ' +
      '3 days. `report_reply`: an unanswered message in a report. `withdrawn_dependency`: a dependency of the newest ' +
      'version is withdrawn, removed or not public. `unsupported_game_version`: no version supports the latest release that is 30 days old',
  }),
  time: Type.String({
    format: 'date-time',
    description: 'When it happened; for `scheduled` and `paused_upload`, when it will be published or deleted',
  }),
  quote: Nullable(Type.String({ description: 'Message, reason or role; the game version that is not supported' })),
  project: Nullable(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      project_types: Type.Array(Type.String()),
    }),
  ),
  version: Nullable(Type.Object({ id: Type.String(), version_number: Type.String() })),
  organization_id: Nullable(Type.String()),
  team_id: Nullable(Type.String({ description: 'Team of an invitation' })),
  report_id: Nullable(Type.String()),
  missing: Type.Array(Type.String(), { description: 'Items of the checklist that an incomplete draft needs' }),
  dismissible: Type.Boolean({ description: 'Whether the item can be hidden for 30 days' }),
})
export type AttentionItem = Static<typeof AttentionItem>

export const AttentionView = NamedObject('Attention', {
  items: Type.Array(AttentionItem, { description: 'Most urgent first; at most 50 of each kind' }),
})

export const DismissalView = NamedObject('Dismissal', { until: Timestamp })
