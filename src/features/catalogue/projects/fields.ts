// The project fields that creating and editing share: their limits, and checks that a schema cannot express.
import type { Selectable } from 'kysely'
import Type, { type Static, type TOptional, type TSchema } from 'typebox'
import { type ApiError, validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'
import { checkHttpsUrl, checkText, isBlank, PROJECT_SLUG_PATTERN, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import type { Project } from '#platform/db/schema.ts'
import { REQUESTABLE_STATUSES } from '#taxonomy/project-status.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

export const CATEGORIES_MAX = 3
export const ADDITIONAL_CATEGORIES_MAX = 256
const DESCRIPTION_LENGTH_MAX = 65_536
export const OTHER_NAMES_MAX = 5
const NAME_LENGTH = { min: 3, max: 64 }

export const projectFields = {
  name: Type.String({ minLength: NAME_LENGTH.min, maxLength: NAME_LENGTH.max }),
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: PROJECT_SLUG_PATTERN }),
  summary: Type.String({ minLength: 3, maxLength: 256 }),
  description: Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'Markdown' }),
  categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: CATEGORIES_MAX,
    description: 'Names of categories from `GET /v3/tag/category`',
  }),
  additional_categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: ADDITIONAL_CATEGORIES_MAX,
    description: 'Secondary categories, which search also matches',
  }),
  license_id: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'SPDX expression, or `arr` for all rights reserved',
  }),
  link_urls: Type.Record(Type.String({ maxLength: 64 }), Nullable(Type.String({ maxLength: URL_LENGTH_MAX })), {
    description: 'Platform name → HTTPS URL; null removes the link',
  }),
  project_type: Nullable(
    Type.String({
      maxLength: 64,
      description: 'Type of a project without versions, from `GET /v3/project_type`; later, the loaders decide',
    }),
  ),
  requested_status: Nullable(
    Type.Enum([...REQUESTABLE_STATUSES], { description: 'Status that the project takes after the review' }),
  ),
} as const

const checkOtherName = (name: string, index: number): string =>
  checkText(name.trim(), `other_names.${index}`, { min: 2, max: NAME_LENGTH.max, visible: true, isName: true })

/** Schema of an optional field, and the function that checks its value and returns the stored one. */
type OptionalField = { schema: TSchema; toColumn: (value: never) => Selectable<Project>[keyof Project] }

/**
 * Optional fields that have a column of the same name. The commands that create and edit projects use this table, so a
 * new field needs an entry here, its column, and a property in the view (see docs/contributors/guides/add-a-field.md).
 */
export const optionalFields = {
  license_url: {
    schema: Nullable(Type.String({ maxLength: URL_LENGTH_MAX })),
    toColumn: (url: string | null) => (url === null ? null : checkHttpsUrl(url, 'license_url')),
  },
  public_statistics: {
    schema: Type.Boolean({
      description:
        'Whether everyone can see downloads by day, version, loader and country. If false, only members can. Default: true',
    }),
    toColumn: (isPublic: boolean) => isPublic,
  },
  other_names: {
    schema: Type.Array(Type.String({ minLength: 2, maxLength: NAME_LENGTH.max }), {
      maxItems: OTHER_NAMES_MAX,
      description: 'Other names and abbreviations, by which the search finds the project',
    }),
    toColumn: (names: readonly string[]) => [...new Set(names.map(checkOtherName))],
  },
  version_order: {
    schema: Type.Enum(['date', 'number'], {
      description:
        'Whether the newest version is the last published one (`date`) or the one with the highest number (`number`). Update checks, lists and downloads follow it. Default: `date`',
    }),
    toColumn: (order: 'date' | 'number') => order,
  },
  license_decided: {
    schema: Type.Boolean({
      description:
        'Whether the licence was chosen. A project whose licence was not chosen cannot be submitted for review. Default: true',
    }),
    toColumn: (isDecided: boolean) => isDecided,
  },
} as const satisfies { [Name in keyof Project]?: OptionalField }

type OptionalFields = typeof optionalFields
type OptionalSchemas = { [Name in keyof OptionalFields]: TOptional<OptionalFields[Name]['schema']> }
type OptionalValues = { [Name in keyof OptionalFields]?: Static<OptionalFields[Name]['schema']> }

/** The optional fields as properties of a request schema. */
export const optionalFieldSchemas = Object.fromEntries(
  Object.entries(optionalFields).map(([name, { schema }]) => [name, Type.Optional(schema)]),
) as OptionalSchemas

/** The columns that each optional field sets. */
export const optionalFieldColumns = Object.fromEntries(
  Object.entries(optionalFields).map(([name, { toColumn }]) => [
    name,
    (value: unknown) => ({ [name]: toColumn(value as never) }),
  ]),
) as unknown as PatchColumns<OptionalValues, Selectable<Project>>

/** Returns the columns that the optional fields of a request set, and adds errors to `refusals`. */
export function toOptionalColumns(
  values: OptionalValues,
  refusals: Refusals,
): Partial<Pick<Selectable<Project>, keyof OptionalFields>> {
  return toColumns(values, optionalFieldColumns, refusals)
}

/** Returns the trimmed name. @throws ApiError `validation_error` if it is then too short. */
export function checkProjectName(typed: string): string {
  return checkText(typed.trim(), 'name', { ...NAME_LENGTH, visible: true, isName: true })
}

/** Returns the type. @throws ApiError `validation_error` for an unknown type. */
export function checkProjectType(taxonomy: Taxonomy, type: string | null): string | null {
  if (type !== null && !taxonomy.projectTypes.includes(type))
    throw validationError('project_type', 'is not a known project type: GET /v3/project_type lists them')
  return type
}

export function typeIsDerived(): ApiError {
  return validationError('project_type', 'cannot be set for a project with versions: their loaders decide its types')
}

/** @throws ApiError `validation_error` for a blank summary. */
export function checkSummary(summary: string): string {
  if (isBlank(summary)) throw validationError('summary', 'must not be blank')
  return summary
}

/**
 * Returns the links after the changes. A null URL removes a link, even of an unknown platform.
 * @throws ApiError `validation_error` naming `link_urls.<platform>` for an invalid URL or a URL of an unknown platform.
 */
export function applyLinkChanges(
  current: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
  taxonomy: Taxonomy,
): Record<string, string> {
  const links = new Map(Object.entries(current))
  const refusals = new Refusals()
  refusals.each(Object.entries(changes), ([platform, url]) => {
    if (url === null) return void links.delete(platform)
    if (!taxonomy.linkPlatforms.has(platform))
      throw validationError(`link_urls.${platform}`, 'is not a known platform: GET /v3/link_platform lists them')
    links.set(platform, checkHttpsUrl(url, `link_urls.${platform}`))
  })
  refusals.throwAny()
  return Object.fromEntries(links)
}
