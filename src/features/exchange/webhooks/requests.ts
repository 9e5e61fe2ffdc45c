// Requests of webhooks.
import Type, { type Static } from 'typebox'
import { EVENT_KINDS, isEventKind, kindsFor } from '#features/basics/events/event-kinds.ts'
import { validationError } from '#lib/errors.ts'
import { IdOrName, NamedObject } from '#lib/schema/schema-parts.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

export const OWNER_KINDS = ['user', 'project', 'organization', 'instance'] as const
export const FORMATS = ['standard', 'discord', 'github'] as const
export const VERSION_TYPES = ['release', 'beta', 'alpha'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]
export type WebhookFormat = (typeof FORMATS)[number]

export const ALL_EVENTS = '*'
const URL_MAX = 2048
const FILTERS_MAX = 100
const OVERLAP_HOURS_MAX = 168
const OVERLAP_HOURS = 24

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: FILTERS_MAX, description })

const FORMAT =
  '`standard`: Standard Webhooks. `discord`: messages for a webhook of Discord or of a program that understands them. `github`: like GitHub'

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: URL_MAX,
    description: 'Address that receives the events. A user cannot name private addresses',
    examples: ['https://hooks.example.org/depot'],
  }),
  format: Type.Enum([...FORMATS], { description: FORMAT }),
  events: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: EVENT_KINDS.length + 1,
    description: `Events, or \`*\` for all: ${EVENT_KINDS.join(', ')}`,
    examples: [['version.published']],
  }),
  loaders: Names('Only events of versions with one of these loaders. Empty: all. Other events are not filtered'),
  game_versions: Names('Only events of versions for one of these game versions. Empty: all'),
  version_types: Type.Array(Type.Enum([...VERSION_TYPES]), {
    maxItems: VERSION_TYPES.length,
    description: 'Only events of versions with one of these channels. Empty: all',
  }),
}

export const NewWebhook = NamedObject('WebhookCreate', {
  owner: Type.Object({ kind: Type.Enum([...OWNER_KINDS]), id: Type.Optional(IdOrName('ID; absent for `instance`')) }),
  url: fields.url,
  format: Type.Optional(Type.Enum([...FORMATS], { default: 'standard', description: FORMAT })),
  events: fields.events,
  loaders: Type.Optional(fields.loaders),
  game_versions: Type.Optional(fields.game_versions),
  version_types: Type.Optional(fields.version_types),
})
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookPatch = Type.Partial(
  Type.Object({
    ...fields,
    active: Type.Boolean({ description: '`true` also drops queued deliveries that are older than 24 hours' }),
  }),
  { title: 'WebhookUpdate' },
)
export type WebhookPatch = Static<typeof WebhookPatch>

export const SecretRotation = NamedObject('SecretRotation', {
  overlap_hours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      default: OVERLAP_HOURS,
      description: 'Hours for which the previous secret also signs',
    }),
  ),
})

export const overlapHours = ({ overlap_hours = OVERLAP_HOURS }: Static<typeof SecretRotation>): number => overlap_hours

/**
 * Returns the events of a webhook without duplicates.
 * @throws ApiError `validation_error` naming `events.N` for an unknown event, and for one that the owner cannot receive.
 */
export function checkEvents(events: readonly string[], ownerKind: OwnerKind): string[] {
  const possible = new Set<string>(ownerKind === 'instance' ? kindsFor('all', 'instance') : kindsFor('all', 'members'))
  for (const [index, event] of events.entries()) {
    if (event === ALL_EVENTS || possible.has(event)) continue
    const reason = isEventKind(event) ? `is not sent to webhooks of ${ownerNoun(ownerKind)}` : 'is not an event'
    throw validationError(`events.${index}`, `${reason}. Use * or one of: ${[...possible].join(', ')}`)
  }
  return [...new Set(events)]
}

/** @throws ApiError `validation_error` naming `loaders.N` for an unknown loader. */
export function checkLoaders(loaders: readonly string[], { loaders: known }: Taxonomy): string[] {
  const unknown = loaders.findIndex((loader) => !known.has(loader))
  if (unknown >= 0) throw validationError(`loaders.${unknown}`, 'is not a known loader: GET /v3/tag/loader lists them')
  return [...new Set(loaders)]
}

function ownerNoun(kind: OwnerKind): string {
  return kind === 'instance' ? 'the instance' : kind === 'user' ? 'users' : `${kind}s`
}
