// The fields of a project that creating and editing share: their bounds, and the checks that a schema cannot say.
import type { Selectable } from 'kysely'
import Type, { type Static, type TOptional, type TSchema } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { REQUESTABLE_STATUSES } from '#lib/project-status.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'
import { checkHttpsUrl, checkText, isBlank, PROJECT_SLUG_PATTERN, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import type { Project } from '#platform/db/schema.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'

export const CATEGORIES_MAX = 3
export const ADDITIONAL_CATEGORIES_MAX = 256
const DESCRIPTION_LENGTH_MAX = 65_536
const NAME_LENGTH = { min: 3, max: 64 }

/** Bounds of the fields that creating and editing share. */
export const projectFields = {
  name: Type.String({ minLength: NAME_LENGTH.min, maxLength: NAME_LENGTH.max }),
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: PROJECT_SLUG_PATTERN }),
  summary: Type.String({ minLength: 3, maxLength: 256 }),
  description: Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'Markdown' }),
  categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: CATEGORIES_MAX,
    description: 'Names from /v3/tag/category',
  }),
  additional_categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: ADDITIONAL_CATEGORIES_MAX,
    description: 'Secondary categories, also found by search',
  }),
  license_id: Type.String({ minLength: 1, maxLength: 2048, description: 'SPDX expression, or `arr`' }),
  link_urls: Type.Record(Type.String({ maxLength: 64 }), Nullable(Type.String({ maxLength: URL_LENGTH_MAX })), {
    description: 'Platform name → https URL; null removes the link',
  }),
  requested_status: Nullable(
    Type.Enum([...REQUESTABLE_STATUSES], { description: 'Status that the project takes after review' }),
  ),
} as const

/** A field that may be left out, and what is stored of it. */
type OptionalField = { schema: TSchema; toColumn: (value: never) => Selectable<Project>[keyof Project] }

/**
 * Optional fields with a column of the same name. A new one needs a row here, its column and its place in the view:
 * creating and editing take it, check it and save it by this table.
 */
export const optionalFields = {
  license_url: {
    schema: Nullable(Type.String({ maxLength: URL_LENGTH_MAX })),
    toColumn: (url: string | null) => (url === null ? null : checkHttpsUrl(url, 'license_url')),
  },
  public_statistics: {
    schema: Type.Boolean({
      description:
        'Whether everybody sees downloads by day, version, loader and country, or members alone; default true',
    }),
    toColumn: (isPublic: boolean) => isPublic,
  },
} as const satisfies { [Name in keyof Project]?: OptionalField }

type OptionalFields = typeof optionalFields
type OptionalSchemas = { [Name in keyof OptionalFields]: TOptional<OptionalFields[Name]['schema']> }
type OptionalValues = { [Name in keyof OptionalFields]?: Static<OptionalFields[Name]['schema']> }

/** The table's fields as properties of a request. */
export const optionalFieldSchemas = Object.fromEntries(
  Object.entries(optionalFields).map(([name, { schema }]) => [name, Type.Optional(schema)]),
) as OptionalSchemas

/** How each of the table's fields is saved. */
export const optionalFieldColumns = Object.fromEntries(
  Object.entries(optionalFields).map(([name, { toColumn }]) => [
    name,
    (value: unknown) => ({ [name]: toColumn(value as never) }),
  ]),
) as unknown as PatchColumns<OptionalValues, Selectable<Project>>

/** The columns that a request's optional fields fill. @throws ApiError `validation_error` naming the field. */
export function toOptionalColumns(values: OptionalValues): Partial<Pick<Selectable<Project>, keyof OptionalFields>> {
  return toColumns(values, optionalFieldColumns)
}

/** The name as it is stored, without white space at its ends; what is left must still be long enough. */
export function checkProjectName(typed: string): string {
  return checkText(typed.trim(), 'name', { ...NAME_LENGTH, visible: true })
}

/** @throws ApiError `validation_error` for a summary that shows nothing. */
export function checkSummary(summary: string): string {
  if (isBlank(summary)) throw validationError('summary', 'must not be blank')
  return summary
}

/**
 * The links after a change: named platforms are replaced, null removes, the others stay. An unknown platform with a URL
 * is refused; with null it is ignored.
 * @throws ApiError `validation_error` naming `link_urls.<platform>`.
 */
export function applyLinkChanges(
  current: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
  taxonomy: Taxonomy,
): Record<string, string> {
  const links = new Map(Object.entries(current))
  for (const [platform, url] of Object.entries(changes)) {
    if (url === null) {
      links.delete(platform)
      continue
    }
    if (!taxonomy.linkPlatforms.has(platform))
      throw validationError(`link_urls.${platform}`, 'is not a known platform: GET /v3/link_platform lists them')
    links.set(platform, checkHttpsUrl(url, `link_urls.${platform}`))
  }
  return Object.fromEntries(links)
}
