import { ApiError } from '#lib/errors.ts'

/** The request parameter that contains a filter. A `legacy` parameter accepts previous names of fields. */
export type FilterSource = { readonly parameter: string; readonly legacy: boolean }

/** Maximum size of a filter parameter in bytes of UTF-8. */
export const MAX_FILTER_BYTES = 65_536
/** Maximum number of operators, groups and predicates per query. */
export const MAX_FILTER_NODES = 1024
/** Maximum depth of groups and negations. */
export const MAX_FILTER_DEPTH = 64
/** Maximum number of values per query, in all lists together. */
export const MAX_FILTER_VALUES = 1024
/** Maximum number of numbers to compare with per query, including lists. Each needs a pass over a whole column. */
export const MAX_FILTER_COMPARISONS = 32
/** Maximum number of groups with predicates on versions per query. Each can need a pass over all versions. */
export const MAX_FILTER_VERSION_GROUPS = 64

/** Returns `invalid_input`. `position` counts the UTF-16 code units of the parameter from 0. */
export function filterError(source: FilterSource, position: number, problem: string, expected: string): ApiError {
  const field = source.parameter
  const message = `${problem} at position ${position}, expected ${expected}`
  return new ApiError('invalid_input', `${field}: ${message}`, { details: { field, message, position, expected } })
}

/** Rejects a parameter over the size limit before it is parsed. */
export function checkFilterSize(text: string, source: FilterSource): void {
  if (text.length > MAX_FILTER_BYTES || Buffer.byteLength(text) > MAX_FILTER_BYTES)
    throw filterError(source, MAX_FILTER_BYTES, `Longer than ${MAX_FILTER_BYTES} bytes`, 'the end')
}

/** Quotes and shortens a part of the parameter for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text)
}
