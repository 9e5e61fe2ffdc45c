// Requests for lists of versions: filters and paging.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import { CursorQuery, IdsQuery, Offset, parseIds, parseJsonValue } from '#platform/http/query-values.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { DEPENDENT_SORTS } from '../dependencies/dependents.ts'
import { DEPENDENCY_TYPES, VERSION_TYPES } from '../kinds.ts'
import type { VersionListFilter } from '../queries.ts'
import type { VersionFilter } from './version-filter.ts'

const VALUES_MAX = 1000
const FIELDS_MAX = 64
const QUERY_LENGTH_MAX = 65_536

const Scalar = Type.Union([Type.String({ maxLength: 2048 }), Type.Number(), Type.Boolean()])
const Names = (description: string) =>
  Type.Array(Type.String({ maxLength: 256 }), { maxItems: VALUES_MAX, description: `${description}; empty for any` })

/** Filter keys of a body. Null and an empty list match every version. */
export const filterBody = {
  loaders: Maybe(Names('Accepted loaders')),
  version_types: Maybe(Type.Array(Type.Enum([...VERSION_TYPES]), { maxItems: VALUES_MAX })),
  loader_fields: Maybe(
    Type.Record(Type.String({ maxLength: 64 }), Type.Array(Scalar, { maxItems: VALUES_MAX }), {
      maxProperties: FIELDS_MAX,
      description: 'Loader field → accepted values',
    }),
  ),
  game_versions: Maybe(Names('Accepted game versions; shorthand for the loader field `game_versions`')),
}
export const FilterBody = Type.Object(filterBody)

/**
 * @param at dotted path of the filter in the body, empty for the body itself.
 * @throws ApiError `validation_error` naming an unknown loader field.
 */
export function filterOfBody(body: Static<typeof FilterBody>, taxonomy: Taxonomy, at = ''): VersionFilter {
  const { loaders, version_types, loader_fields, game_versions } = body
  const unknown = Object.keys(loader_fields ?? {}).find((name) => !taxonomy.fields.has(name))
  if (unknown !== undefined) throw validationError(`${at}loader_fields.${unknown}`, 'is not a loader field')
  return {
    loaders: loaders ?? [],
    versionTypes: version_types ?? [],
    loaderFields: { ...loader_fields, ...(game_versions == null ? {} : { game_versions }) },
  }
}

/** Filter keys of a query. */
export const filterQuery = {
  loaders: Type.Optional(
    Type.String({
      maxLength: QUERY_LENGTH_MAX,
      description: 'JSON array of accepted loader names',
      examples: ['["fabric","quilt"]'],
    }),
  ),
  loader_fields: Type.Optional(
    Type.String({
      maxLength: QUERY_LENGTH_MAX,
      description: 'JSON object: loader field → array of accepted values',
      examples: ['{"game_versions":["1.20.1"],"environment":["client_only"]}'],
    }),
  ),
  game_versions: Type.Optional(
    Type.String({
      maxLength: QUERY_LENGTH_MAX,
      description: 'JSON array of accepted game versions; shorthand for the loader field `game_versions`',
      examples: ['["1.20.1","1.20.4"]'],
    }),
  ),
}
const FilterQuery = Type.Object(filterQuery)

/** @throws ApiError `invalid_input` naming the key whose value is not the expected JSON, or an unknown loader field. */
export function filterOfQuery(query: Static<typeof FilterQuery>, taxonomy: Taxonomy): VersionFilter {
  const { loaders, loader_fields, game_versions } = query
  return {
    loaders: loaders === undefined ? [] : parseIds(loaders, 'loaders'),
    loaderFields: {
      ...(loader_fields === undefined ? {} : parseLoaderFields(loader_fields, taxonomy)),
      ...(game_versions === undefined ? {} : { game_versions: parseIds(game_versions, 'game_versions') }),
    },
  }
}

const LoaderFields = Compile(Type.Record(Type.String(), Type.Array(Scalar), { maxProperties: FIELDS_MAX }))

function parseLoaderFields(text: string, taxonomy: Taxonomy): Record<string, unknown[]> {
  const value = parseJsonValue(text, 'loader_fields')
  if (!LoaderFields.Check(value))
    throw invalidInput(`loader_fields must be a JSON object of up to ${FIELDS_MAX} lists of values`, 'loader_fields')
  const unknown = Object.keys(value).find((name) => !taxonomy.fields.has(name))
  if (unknown === undefined) return value
  throw invalidInput(`There is no loader field with the name ${unknown}`, `loader_fields.${unknown}`)
}

/** Parses `version_types` of a query, a JSON array. @throws ApiError `invalid_input`. */
export function versionTypesOfQuery(text: string | undefined): string[] {
  if (text === undefined) return []
  const types = parseIds(text, 'version_types')
  if (types.some((type) => !(VERSION_TYPES as readonly string[]).includes(type)))
    throw invalidInput(`version_types must contain only ${VERSION_TYPES.join(', ')}`, 'version_types')
  return types
}

/** Clients can omit changelogs, which are the largest part of a list. */
export const IncludeChangelog = Type.Optional(
  Type.Boolean({ default: true, description: 'Whether to include changelogs. Default: true' }),
)

export const VersionsQuery = Type.Object({ ...IdsQuery.properties, include_changelog: IncludeChangelog })
export const DependenciesQuery = Type.Object({ include_changelog: IncludeChangelog })

/** Maximum page size of dependents. */
const DEPENDENTS_MAX = 100

export const DependentsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: DEPENDENTS_MAX, default: 20, description: 'Page size. Default: 20' }),
  ),
  offset: Offset,
  cursor: CursorQuery,
  type: Type.Optional(
    Type.Enum([...DEPENDENCY_TYPES], { description: 'Only projects that depend on it in this way. Default: all' }),
  ),
  sort: Type.Optional(
    Type.Enum([...DEPENDENT_SORTS], {
      default: 'downloads',
      description:
        '`downloads`: most downloaded first, by three significant digits. `updated`: most recently updated first',
    }),
  ),
  scope: Type.Optional(
    Type.Enum(['any', 'latest'], {
      default: 'any',
      description: '`latest`: only projects whose newest listed version depends on it',
    }),
  ),
})

export const NumberParams = Type.Object({
  ...ProjectParams.properties,
  version_number: Type.String({ maxLength: 64, description: 'Version number or ID' }),
})

export const VersionListQuery = Type.Object({
  ...filterQuery,
  featured: Type.Optional(
    Type.Boolean({
      description:
        'Whether versions must be featured (true) or must not be (false). If true and the project features no version: the newest version, and the newest version for each major game version and loader',
    }),
  ),
  version_type: Type.Optional(Type.Enum([...VERSION_TYPES], { description: 'Only versions of this release channel' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Maximum number of versions. Default: all' }),
  ),
  offset: Offset,
  cursor: CursorQuery,
  include_changelog: IncludeChangelog,
})

/** Returns the filter of the whole list. */
export function versionListFilter(query: Static<typeof VersionListQuery>, taxonomy: Taxonomy): VersionListFilter {
  return {
    ...filterOfQuery(query, taxonomy),
    versionTypes: query.version_type === undefined ? [] : [query.version_type],
    ...(query.featured === undefined ? {} : { featured: query.featured }),
  }
}
