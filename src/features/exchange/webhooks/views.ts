// Responses of webhooks.
import Type from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { maskDiscordUrl } from './address.ts'
import { ownerIdOf } from './owner.ts'
import type { WebhookRow } from './queries.ts'
import { FORMATS, OWNER_KINDS, type OwnerKind, VERSION_TYPES } from './requests.ts'

export const DISABLED_REASONS = ['failing', 'gone', 'owner', 'secret_lost', 'access_lost'] as const

const fields = {
  id: Type.String(),
  owner: Type.Object({
    kind: Type.Enum([...OWNER_KINDS]),
    id: Nullable(Type.String({ description: 'Null for the instance' })),
  }),
  url: Type.String({ description: 'Without the token of a Discord webhook' }),
  format: Type.Enum([...FORMATS]),
  events: Type.Array(Type.String()),
  loaders: Type.Array(Type.String()),
  game_versions: Type.Array(Type.String()),
  version_types: Type.Array(Type.Enum([...VERSION_TYPES])),
  active: Type.Boolean(),
  disabled_reason: Nullable(
    Type.Enum([...DISABLED_REASONS], {
      description:
        'Null while active. `failing`: a week of failures. `gone`: the receiver does not exist any more. `owner`: ' +
        'switched off. `secret_lost`: restored from a backup without its secret; rotate the secret. `access_lost`: ' +
        'the user who created it may not manage it any more, or somebody else had access to their account',
    }),
  ),
  created: Timestamp,
  last_success: Nullable(Timestamp),
  last_failure: Nullable(Timestamp),
  failing_since: Nullable(Timestamp),
}

export const WebhookView = NamedObject('Webhook', fields)
export const NewWebhookView = NamedObject('CreatedWebhook', {
  ...fields,
  secret: Type.String({ description: 'Signs the deliveries. Returned only once' }),
})
export const SecretView = NamedObject('WebhookSecret', {
  secret: Type.String({ description: 'Signs the deliveries. Returned only once' }),
})

export function toWebhookView(row: WebhookRow) {
  const { format, url, owner_kind } = row
  return toView(WebhookView, {
    ...row,
    owner: { kind: owner_kind as OwnerKind, id: ownerIdOf(row) },
    url: format === 'discord' ? maskDiscordUrl(url) : url,
    format: format as (typeof FORMATS)[number],
    version_types: row.version_types as (typeof VERSION_TYPES)[number][],
    disabled_reason: row.disabled_reason as (typeof DISABLED_REASONS)[number] | null,
  })
}
