// Requests of the tag endpoints.
import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { parseJsonValue } from '#platform/http/query-values.ts'

export const LoaderFieldQuery = Type.Object({
  loader_field: Type.String({ maxLength: 64, description: 'Name of the loader field' }),
  filters: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'Conditions as a JSON object; game versions support `type` and `major`',
    }),
  ),
})

export type ValueFilters = { type?: string; major?: boolean }

/**
 * Parses `filters`.
 * @throws ApiError `invalid_input` if it is not an object or has unknown keys: a typing error must not be ignored.
 */
export function parseValueFilters(text: string | undefined): ValueFilters {
  if (text === undefined) return {}
  const filters = parseJsonValue(text, 'filters')
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters))
    throw invalidInput('filters must be a JSON object', 'filters')
  for (const [key, value] of Object.entries(filters)) {
    const expected = key === 'type' ? 'string' : key === 'major' ? 'boolean' : undefined
    if (expected === undefined)
      throw invalidInput(`filters must not contain ${key}; it can contain type and major`, 'filters')
    if (typeof value !== expected) throw invalidInput(`filters.${key} must be a ${expected}`, 'filters')
  }
  return filters
}

export const LicenseParams = Type.Object({
  id: Type.String({ maxLength: 2048, description: 'SPDX identifier, or ARR' }),
})
