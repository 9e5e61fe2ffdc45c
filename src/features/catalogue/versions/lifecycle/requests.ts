// The body of `PATCH /v3/version/{id}`: fixed keys and, as additional keys, loader fields.
import Type, { type Static } from 'typebox'
import { SETTABLE_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { ScheduledAt } from '#features/catalogue/projects/schedule-release.ts'
import { Id, Maybe, NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { ALGORITHMS } from '../hashes/resolve-files.ts'
import { FILE_TYPES, WITHDRAWAL_KINDS } from '../kinds.ts'
import { CHANGELOG_LENGTH_MAX, describedFields, LOADERS_MAX, versionFields } from '../publish/requests.ts'

/** Maximum length of the reason, in characters. */
export const WITHDRAWAL_REASON_MAX = 500

export const Withdrawal = NamedObject('VersionWithdrawal', {
  kind: Type.Enum([...WITHDRAWAL_KINDS]),
  reason: Type.String({
    minLength: 1,
    maxLength: WITHDRAWAL_REASON_MAX,
    description: 'Why the version should not be used, as plain text that everyone sees',
  }),
  replacement: Maybe(Id('ID of another version of the project, which should be used instead')),
})
export type Withdrawal = Static<typeof Withdrawal>

export const versionPatchKeys = {
  ...Type.Partial(Type.Object(versionFields)).properties,
  name: Maybe(versionFields.name),
  version_number: Maybe(versionFields.version_number),
  changelog: Type.Optional(Type.String({ maxLength: CHANGELOG_LENGTH_MAX, description: 'Markdown' })),
  loaders: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: LOADERS_MAX })),
  status: Type.Optional(Type.Enum([...SETTABLE_VERSION_STATUSES, 'scheduled'])),
  requested_status: Maybe(Type.Enum([...SETTABLE_VERSION_STATUSES])),
  scheduled_at: ScheduledAt('version'),
  downloads: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of downloads; only moderators can set it',
    }),
  ),
  withdrawn: Type.Optional(
    Type.Union([Withdrawal, Type.Null()], {
      description:
        'Withdraws the version: it stays in lists and can be downloaded, but update checks and everything else that ' +
        'chooses a version skip it. Null undoes the withdrawal',
    }),
  ),
  primary_file: Type.Optional(
    Type.String({ maxLength: 128, description: 'SHA-512 hash of the file of this version to install' }),
  ),
  file_types: Type.Optional(
    Type.Array(
      Type.Object({
        algorithm: Type.String({ maxLength: 16, describedAs: { enum: ALGORITHMS } }),
        hash: Type.String({ maxLength: 128 }),
        file_type: Nullable(Type.Enum([...FILE_TYPES])),
      }),
      { maxItems: 1000 },
    ),
  ),
}

export const VersionPatch = Type.Object(versionPatchKeys, {
  title: 'VersionUpdate',
  description:
    'Only a draft that was never published can have an empty list of loaders, and no name and version number: null clears them in such a draft and changes nothing in other versions. Publishing it requires all fields of a version.',
  additionalProperties: Type.Unknown({ description: 'Value of a loader field; null leaves it unchanged' }),
  ...describedFields,
})
export type VersionPatch = Static<typeof VersionPatch>

export const VersionBulkPatch = NamedObject('VersionsUpdate', {
  status: Type.Optional(Type.Enum([...SETTABLE_VERSION_STATUSES])),
  featured: Type.Optional(versionFields.featured),
  version_type: Type.Optional(versionFields.version_type),
  ordering: Type.Optional(versionFields.ordering),
})
export type VersionBulkPatch = Static<typeof VersionBulkPatch>

/** The patch without loader fields. */
const VersionKeys = Type.Object(versionPatchKeys)
export type VersionKeys = Static<typeof VersionKeys>
