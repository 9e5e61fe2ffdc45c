// Requests that name files by their hashes.
import Type, { type Static } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { Id, JSON_LIST } from '#lib/schema/schema-parts.ts'
import { parseIds } from '#platform/http/query-values.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { filterBody, filterOfQuery, filterQuery, versionTypesOfQuery } from '../lookup/list-requests.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import { ALGORITHMS, HASH_LENGTH_MAX, HASHES_MAX, type HashQuery } from './resolve-files.ts'

const Algorithm = Type.Enum([...ALGORITHMS], {
  description: 'Hash algorithm. Default: inferred from the length of each hash',
})

/** Longer and malformed hashes match no file. */
export const HashParams = Type.Object({
  hash: Type.String({ maxLength: 256, description: 'SHA-1 or SHA-512, hexadecimal' }),
})

export const FileQuery = Type.Object({
  algorithm: Type.Optional(Algorithm),
  version_id: Type.Optional(Id('ID of the version to choose if several contain the file')),
})

const hashesBody = {
  hashes: Type.Array(Type.String({ maxLength: HASH_LENGTH_MAX }), { maxItems: HASHES_MAX }),
  algorithm: Type.Optional(Type.Union([Algorithm, Type.Null()])),
}
export const HashesBody = Type.Object(hashesBody)

const hashesQuery = {
  hashes: Type.String({
    maxLength: 200_000,
    describedAs: JSON_LIST,
    description: `JSON array of up to ${HASHES_MAX} hashes`,
  }),
  algorithm: Type.Optional(Algorithm),
}
export const HashesQuery = Type.Object(hashesQuery)

/** Returns the requested hashes without duplicates. @throws ApiError `invalid_input` for a query that is not JSON. */
export function hashesOf(request: Static<typeof HashesBody> | Static<typeof HashesQuery>): HashQuery {
  const hashes = typeof request.hashes === 'string' ? parseIds(request.hashes, 'hashes') : [...new Set(request.hashes)]
  if (hashes.some((hash) => hash.length > HASH_LENGTH_MAX))
    throw invalidInput(`A hash can have at most ${HASH_LENGTH_MAX} characters`, 'hashes')
  return { hashes, algorithm: request.algorithm ?? undefined }
}

export const UpdateBody = Type.Object({ ...hashesBody, ...filterBody })
const updateQuery = {
  ...filterQuery,
  version_types: Type.Optional(
    Type.String({
      maxLength: 256,
      describedAs: JSON_LIST,
      description: 'JSON array of accepted release channels: release, beta, alpha',
    }),
  ),
}
export const UpdateQuery = Type.Object({ ...hashesQuery, ...updateQuery })
export const IndividualBody = Type.Object({
  algorithm: hashesBody.algorithm,
  hashes: Type.Array(Type.Object({ hash: Type.String({ maxLength: HASH_LENGTH_MAX }), ...filterBody }), {
    maxItems: HASHES_MAX,
  }),
})

export function filterOfUpdateQuery(
  query: Static<typeof UpdateQuery> | Omit<Static<typeof UpdateQuery>, 'hashes'>,
  taxonomy: Taxonomy,
): VersionFilter {
  return { ...filterOfQuery(query, taxonomy), versionTypes: versionTypesOfQuery(query.version_types) }
}

/** A request for one file by its hash. */
export type NamedFile = Static<typeof HashParams> & Static<typeof FileQuery>

/** Response schema of results by hash. */
export const ByHash = <Schema extends Type.TSchema>(schema: Schema) => Type.Record(Type.String(), schema)

/** Query of an update check for one file. */
export const SingleUpdateQuery = Type.Object({ ...FileQuery.properties, ...updateQuery })
