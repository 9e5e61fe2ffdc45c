// Checks and normalises the `data` objects that describe a new version (`POST /v3/version` and `initial_versions`) or
// added files.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { SETTABLE_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { ImageIds } from '#features/basics/content-images/requests.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { renameAliases } from '#lib/schema/aliases.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { checkBody, checkParts } from '#lib/schema/schema-errors.ts'
import { Id, Maybe, NamedObject, Nullable, Ordering } from '#lib/schema/schema-parts.ts'
import { isBlank, VERSION_NUMBER_PATTERN } from '#lib/text/text-rules.ts'
import { checkDraftFields, checkLoaderFields } from '#taxonomy/loader-fields.ts'
import { checkLoaders, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { DEPENDENCY_TYPES, FILE_TYPES, type FileType, VERSION_TYPES } from '../kinds.ts'
import { DECLARED_ID_LENGTH_MAX } from '../manifests/manifest.ts'

export const CHANGELOG_LENGTH_MAX = 65_536
const DEPENDENCIES_MAX = 4096
export const LOADERS_MAX = 64
export const FILE_PARTS_MAX = 256

export const DependencyInput = Type.Object({
  project_id: Maybe(Id()),
  version_id: Maybe(Id()),
  file_name: Maybe(
    Type.String({ minLength: 1, maxLength: 255, description: 'Name of a file that this instance does not host' }),
  ),
  dependency_type: Type.Enum([...DEPENDENCY_TYPES]),
  declared_id: Maybe(
    Type.String({
      minLength: 1,
      maxLength: DECLARED_ID_LENGTH_MAX,
      description: 'ID by which the manifest of the file names the dependency; proposals for later versions use it',
    }),
  ),
})
export type DependencyInput = Static<typeof DependencyInput>

const FileTypeInput = Nullable(Type.Enum([...FILE_TYPES]))

/** Schemas of the fields that publishing and editing share. */
export const versionFields = {
  name: Type.String({ minLength: 1, maxLength: 64 }),
  version_number: Type.String({ minLength: 1, maxLength: 32, pattern: VERSION_NUMBER_PATTERN }),
  version_type: Type.Enum([...VERSION_TYPES]),
  dependencies: Type.Array(DependencyInput, { maxItems: DEPENDENCIES_MAX }),
  featured: Type.Boolean(),
  ordering: Maybe(Ordering),
}

const LoaderName = Type.String({ maxLength: 64 })
const loaderList = { maxItems: LOADERS_MAX, description: 'Names of loaders from `GET /v3/tag/loader`' }
const PartName = Type.String({ minLength: 1, maxLength: 255 })
/** The uploads of a request whose form parts need not be listed. */
export const UploadNames = Type.Array(PartName, {
  maxItems: FILE_PARTS_MAX,
  description: 'Names of uploads: `upload:ID`',
})
const partList = {
  maxItems: FILE_PARTS_MAX,
  description: 'Names of the form parts that contain its files, or `upload:ID` for a finished upload',
}

const known = {
  version_number: versionFields.version_number,
  version_title: versionFields.name,
  version_body: Maybe(Type.String({ maxLength: CHANGELOG_LENGTH_MAX, description: 'Changelog, in Markdown' })),
  dependencies: Type.Optional(versionFields.dependencies),
  release_channel: versionFields.version_type,
  loaders: Type.Array(LoaderName, { minItems: 1, ...loaderList }),
  featured: Type.Optional(versionFields.featured),
  file_parts: Type.Array(PartName, { minItems: 1, ...partList }),
  primary_file: Maybe(
    Type.String({ maxLength: 255, description: 'Name of the form part that contains the file to install' }),
  ),
  status: Type.Optional(Type.Enum([...SETTABLE_VERSION_STATUSES])),
  file_types: Maybe(
    Type.Record(Type.String({ maxLength: 255 }), FileTypeInput, {
      description: 'Type of each file by the name of its form part, or by its file name if no part has that name',
    }),
  ),
  uploaded_images: Type.Optional(ImageIds('changelog')),
  ordering: versionFields.ordering,
}

/**
 * The loader fields that most clients send, only for the API description: `checkLoaderFields` checks all loader fields.
 * An option of the schemas with loader fields as additional keys.
 */
export const describedFields = {
  describedAs: {
    properties: {
      game_versions: Maybe(
        Type.Array(Type.String({ maxLength: 64 }), {
          maxItems: 1024,
          description:
            'Values from `GET /v3/loader_field`; loaders with this field require it. null is the same as absent',
        }),
      ),
      environment: Maybe(
        Type.String({ maxLength: 64, description: 'Where the content runs. null is the same as absent' }),
      ),
    },
  },
}

/** The fields that a draft can lack. They are required for every other status. */
const draftFields = {
  version_number: Maybe(known.version_number),
  version_title: Maybe(known.version_title),
  release_channel: Maybe(known.release_channel),
  loaders: Maybe(Type.Array(LoaderName, loaderList)),
  file_parts: Maybe(Type.Array(PartName, partList)),
}

const anyFields = { description: 'Additional keys are loader fields', additionalProperties: true }
/** The fields of a version that is not a draft. */
export const CompleteVersionData = Type.Object({ ...known, project_id: Type.Optional(Id()) }, anyFields)
const validator = Compile(CompleteVersionData)
/** The description of a new version, which can be a draft. */
export const VersionData = Type.Object(
  { ...CompleteVersionData.properties, ...draftFields },
  {
    title: 'VersionCreate',
    additionalProperties: true,
    description:
      'Additional keys are loader fields. Only a draft can lack version_number, version_title, release_channel, loaders and file_parts.',
    ...describedFields,
  },
)
const draftValidator = Compile(VersionData)

/** An entry of `initial_versions`, only for the API description: `parseVersionData` reads each entry. */
export const InitialVersion = Type.Object(known, { ...anyFields, title: 'InitialVersion', ...describedFields })

/** Aliases of keys that clients send. */
const ALIASES = {
  mod_id: 'project_id',
  name: 'version_title',
  changelog: 'version_body',
  version_type: 'release_channel',
} as const

/** A map and not an object, because clients choose the names, which could be `__proto__`. */
export type FileTypes = ReadonlyMap<string, FileType | null>

/** A new version that has passed all checks that need neither the database nor the files. */
export type NewVersion = ReturnType<typeof parseVersionData>

/**
 * Checks a version's `data`. Additional keys are loader fields. A draft can lack every field that a publisher can add later.
 * @param at dotted path of the object in the body (`initial_versions.0`); empty for the whole body.
 * @param refusals collects the errors; the result is then valid only if there are none.
 * @throws ApiError `validation_error` naming the fields, unless `refusals` collects them.
 */
export function parseVersionData(input: unknown, taxonomy: Taxonomy, at = '', refusals?: Refusals) {
  const found = refusals ?? new Refusals()
  const version = readVersionData(input, taxonomy, at, found)
  if (refusals === undefined) found.throwAny()
  return version
}

function readVersionData(input: unknown, taxonomy: Taxonomy, at: string, refusals: Refusals) {
  const renamed = renameAliases(input, ALIASES)
  const isDraft = at === '' && (renamed as { status?: unknown } | null | undefined)?.status === 'draft'
  const data: Partial<Static<typeof VersionData>> = isDraft
    ? checkParts(draftValidator, renamed, refusals)
    : checkParts(validator, renamed, refusals, at)
  const { project_id, ...rest } = data
  const fields = Object.fromEntries(Object.entries(rest).filter(([key]) => !Object.hasOwn(known, key)))
  const place = (field: string) => (at === '' ? field : `${at}.${field}`)
  refusals.check(() => {
    if (data.version_title == null || !isBlank(data.version_title)) return
    throw validationError(place('version_title'), 'must not be blank')
  })
  const loaders = refusals.check(() => checkLoaders(taxonomy, data.loaders ?? [], place('loaders')))
  refusals.check(() => checkDependencies(data.dependencies ?? [], place('dependencies')))
  const fileParts = data.file_parts ?? []
  const primary = data.primary_file ?? undefined
  // Without `at`, all parts of the form are files of this version, and `choosePrimary` checks the name.
  refusals.check(() => {
    if (at === '' || primary === undefined || data.file_parts == null || fileParts.includes(primary)) return
    throw validationError(place('primary_file'), 'must be an entry of file_parts')
  })
  refusals.each(fileParts, (name, index) => {
    if (fileParts.indexOf(name) !== index) throw validationError(place(`file_parts.${index}`), 'is listed twice')
  })
  // Without its loaders, each field is checked alone.
  const knownLoaders = data.loaders === undefined ? undefined : loaders
  const checked = refusals.check(() =>
    isDraft || knownLoaders === undefined
      ? checkDraftFields(taxonomy, knownLoaders ?? [], fields, at)
      : checkLoaderFields(taxonomy, knownLoaders, fields, at),
  )
  return {
    projectId: project_id,
    columns: {
      name: data.version_title?.trim() ?? '',
      version_number: data.version_number ?? '',
      changelog: data.version_body ?? '',
      version_type: data.release_channel ?? 'release',
      featured: data.featured ?? false,
      ordering: data.ordering ?? null,
      loaders: loaders ?? [],
    },
    fields: checked ?? {},
    dependencies: data.dependencies ?? [],
    fileParts,
    primaryFile: primary,
    /** Types by part name or file name. */
    fileTypes: new Map(Object.entries(data.file_types ?? {})),
    status: data.status ?? 'listed',
    uploadedImages: data.uploaded_images ?? [],
  }
}

/** Checks the form of each dependency. @throws ApiError `validation_error`, also for duplicates. */
export function checkDependencies(dependencies: readonly DependencyInput[], at: string): void {
  const refusals = new Refusals()
  refusals.each(dependencies, ({ project_id, version_id, file_name }, index) => {
    const field = `${at}.${index}`
    if (project_id == null && version_id == null && file_name == null)
      throw validationError(field, 'must contain a project_id, a version_id or a file_name')
    for (const [key, id] of Object.entries({ project_id, version_id })) {
      if (id != null && !isIdForm(id)) throw validationError(`${field}.${key}`, 'is not a base62 identifier')
    }
  })
  refusals.throwAny()
  rejectDuplicateDependencies(dependencies, at)
}

/** @throws ApiError `validation_error` naming the duplicates. */
export function rejectDuplicateDependencies(
  dependencies: readonly Omit<DependencyInput, 'dependency_type'>[],
  at: string,
): void {
  const seen = new Set<string>()
  const refusals = new Refusals()
  refusals.each(dependencies, ({ project_id, version_id, file_name }, index) => {
    const key = JSON.stringify([project_id ?? null, version_id ?? null, file_name ?? null])
    if (seen.has(key)) throw validationError(`${at}.${index}`, 'is listed twice')
    seen.add(key)
  })
  refusals.throwAny()
}

/** Description of files that are added to a version. */
export const FilesData = NamedObject('VersionFilesAdd', {
  file_types: Maybe(Type.Record(Type.String({ maxLength: 255 }), FileTypeInput)),
  file_parts: Maybe(UploadNames),
})
const filesValidator = Compile(FilesData)

/** `fileParts`: the names of uploads; parts of the form need not be listed. */
export type AddedFiles = { fileTypes: FileTypes; fileParts: readonly string[] }

/** Empty without a description. @throws ApiError `validation_error` naming the field. */
export function parseFilesData(data: unknown): AddedFiles {
  const declared = data === undefined ? {} : checkBody(filesValidator, data)
  return { fileTypes: new Map(Object.entries(declared.file_types ?? {})), fileParts: declared.file_parts ?? [] }
}
