// v2 requests for versions, and their conversion to v3 requests.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { SETTABLE_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { PACK_LOADERS_FIELD } from '#features/catalogue/versions/files/pack-loaders.ts'
import { type VersionPatch, versionPatchKeys } from '#features/catalogue/versions/lifecycle/requests.ts'
import { CompleteVersionData, versionFields } from '#features/catalogue/versions/publish/requests.ts'
import { renameAliases } from '#lib/schema/aliases.ts'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { REQUESTABLE_STATUSES } from '#taxonomy/project-status.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { isPackName, loadersToWrite } from '../catalogue/pack-loaders.ts'
import { type FieldNames, firstPart } from '../error-names.ts'

const data = CompleteVersionData.properties

const GameVersions = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 1000,
  description: 'Game versions from `/v2/tag/game_version`',
})

export const VersionDataV2 = NamedObject('VersionCreate', {
  project_id: data.project_id,
  file_parts: data.file_parts,
  version_number: versionFields.version_number,
  name: versionFields.name,
  changelog: data.version_body,
  dependencies: Maybe(versionFields.dependencies),
  game_versions: GameVersions,
  version_type: versionFields.version_type,
  loaders: data.loaders,
  featured: Maybe(versionFields.featured),
  environment: Maybe(
    Type.String({ maxLength: 64, description: 'Default: the environment of the newest version of the project' }),
  ),
  primary_file: data.primary_file,
  status: Maybe(data.status),
  file_types: data.file_types,
  uploaded_images: data.uploaded_images,
  ordering: data.ordering,
})
export type VersionDataV2 = Static<typeof VersionDataV2>
const validator = Compile(VersionDataV2)

/** Alternative field names that some clients send. */
const ALIASES = {
  mod_id: 'project_id',
  version_title: 'name',
  version_body: 'changelog',
  release_channel: 'version_type',
} as const

/**
 * @param at dotted path of the object in the body (`initial_versions.0`), empty for the body itself.
 * @throws ApiError `validation_error`
 */
export function parseVersionDataV2(input: unknown, at = ''): VersionDataV2 {
  return checkBody(validator, renameAliases(input, ALIASES), at)
}

export function isPackVersion({ file_parts, loaders }: VersionDataV2): boolean {
  return file_parts.some(isPackName) || loaders.includes('mrpack')
}

/** Converts the description for the v3 API. `environment` is the default of the environment. */
export function toVersionData(
  version: VersionDataV2,
  { isPack, environment, taxonomy }: { isPack: boolean; environment: string | undefined; taxonomy: Taxonomy },
): Record<string, unknown> {
  const { name, changelog, version_type, environment: own, loaders, ...same } = version
  const written = loadersToWrite(loaders, isPack)
  const kept = fieldsOf(taxonomy, written.loaders).includes('environment') ? (own ?? environment) : undefined
  return withoutNulls({
    ...same,
    ...written,
    version_title: name,
    version_body: changelog,
    release_channel: version_type,
    environment: kept,
  })
}

/** Removes absent fields and fields that are null. */
export function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

export const versionFieldNames: FieldNames = firstPart({
  version_title: 'name',
  version_body: 'changelog',
  release_channel: 'version_type',
  [PACK_LOADERS_FIELD]: 'loaders',
})

/** An absent or null field is unchanged, because clients send back the fields that they have read. */
export const VersionPatchV2 = NamedObject('VersionUpdate', {
  name: Maybe(versionFields.name),
  version_number: Maybe(versionFields.version_number),
  changelog: Maybe(versionPatchKeys.changelog),
  version_type: Maybe(versionPatchKeys.version_type),
  dependencies: Maybe(versionPatchKeys.dependencies),
  game_versions: Maybe(GameVersions),
  loaders: Maybe(versionPatchKeys.loaders),
  featured: Maybe(versionPatchKeys.featured),
  downloads: Maybe(versionPatchKeys.downloads),
  status: Maybe(versionPatchKeys.status),
  file_types: Maybe(versionPatchKeys.file_types),
})

/** Converts an edit for the v3 API. */
export function toVersionPatch(body: Static<typeof VersionPatchV2>, { isPack }: { isPack: boolean }): VersionPatch {
  const { loaders: requestedLoaders, ...patch } = withoutNulls(body) as VersionPatch
  return { ...patch, ...(requestedLoaders === undefined ? {} : loadersToWrite(requestedLoaders, isPack)) }
}

const Time = Type.String({ format: 'date-time', maxLength: 64, description: 'Time of the change, in the future' })
export const VersionSchedule = NamedObject('VersionSchedule', {
  time: Time,
  requested_status: Type.Enum([...SETTABLE_VERSION_STATUSES]),
})
export const ProjectSchedule = NamedObject('ProjectSchedule', {
  time: Time,
  requested_status: Type.Enum([...REQUESTABLE_STATUSES]),
})
export const scheduleFieldNames: FieldNames = firstPart({ scheduled_at: 'time' })
