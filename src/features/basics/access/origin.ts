// The origin of mirrored projects and versions. The mirror writes them; people change only their status and their owner.
import Type, { type Static } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'

export const OriginView = Type.Object(
  {
    address: Type.String({ description: 'Base URL of the instance from which it was copied' }),
    id: Type.String({ description: 'ID there' }),
    url: Type.String({ description: 'Page there' }),
    author: Nullable(Type.String({ description: 'Name of the author there' })),
  },
  { title: 'Origin', description: 'Where a mirrored project or version was copied from; absent for all others' },
)
export type OriginView = Static<typeof OriginView>

/** The column `origin` of a project or a version. `status` is the status that the mirror set last. */
export type StoredOrigin = OriginView & { mirror: string; status: string }

type Mirrored = { origin: unknown }

/** Returns the property `origin` of a view; no property for an object that was published here. */
export function originProperty({ origin }: Mirrored): { origin?: OriginView } {
  if (origin === null) return {}
  const { address, id, url, author } = origin as StoredOrigin
  return { origin: { address, id, url, author } }
}

/** Fields of projects and versions that do not come from the source. */
const OWN_FIELDS: readonly string[] = [
  'status',
  'requested_status',
  'scheduled_at',
  'moderation_message',
  'moderation_message_body',
  'seen',
  'monetization_status',
  'public_statistics',
]

/**
 * Requires that a mirrored project or version keeps its content. A patch that changes only fields such as the status is
 * allowed. @throws ApiError `invalid_input` that names the source and the field.
 */
export function requireNotMirrored({ origin }: Mirrored, patch?: Readonly<Record<string, unknown>>): void {
  if (origin === null) return
  const changed = Object.entries(patch ?? {}).flatMap(([field, value]) => (value === undefined ? [] : [field]))
  const field = changed.find((name) => !OWN_FIELDS.includes(name))
  if (patch !== undefined && field === undefined) return
  const { url } = origin as StoredOrigin
  throw invalidInput(`This is a mirrored copy of ${url}. Only its status and its owner can be changed here`, field)
}
