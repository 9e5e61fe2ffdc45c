// The body of PATCH /v3/version/{id} (specification; facts/catalogue.md 1.20): version keys, and loader fields beside.
import Type, { type Static } from 'typebox'
import { Maybe, Nullable, Ordering } from '#lib/schema-parts.ts'
import { VERSION_NUMBER_PATTERN } from '#lib/text-rules.ts'
import { CHANGELOG_LENGTH_MAX, DEPENDENCIES_MAX, DependencyInput, LOADERS_MAX } from '../publish/requests.ts'
import { FILE_TYPES, VERSION_TYPES } from '../status.ts'

export const versionPatchKeys = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  version_number: Type.Optional(Type.String({ minLength: 1, maxLength: 32, pattern: VERSION_NUMBER_PATTERN })),
  changelog: Type.Optional(Type.String({ maxLength: CHANGELOG_LENGTH_MAX, description: 'Markdown' })),
  version_type: Type.Optional(Type.Enum([...VERSION_TYPES])),
  dependencies: Type.Optional(Type.Array(DependencyInput, { maxItems: DEPENDENCIES_MAX })),
  loaders: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: LOADERS_MAX })),
  featured: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Enum(['listed', 'archived', 'draft', 'unlisted', 'scheduled'])),
  requested_status: Type.Optional(Nullable(Type.Enum(['listed', 'archived', 'draft', 'unlisted']))),
  scheduled_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', maxLength: 64, description: 'For the status `scheduled`' })),
  ),
  ordering: Maybe(Ordering),
  downloads: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'For moderators' }),
  ),
  file_types: Type.Optional(
    Type.Array(
      Type.Object({
        algorithm: Type.String({ maxLength: 16 }),
        hash: Type.String({ maxLength: 128 }),
        file_type: Nullable(Type.Enum([...FILE_TYPES])),
      }),
      { maxItems: 1000 },
    ),
  ),
}

export const VersionPatch = Type.Object(versionPatchKeys, {
  title: 'VersionPatch',
  additionalProperties: Type.Unknown({ description: 'A loader field; null leaves it as it is' }),
})
export type VersionPatch = Static<typeof VersionPatch>
