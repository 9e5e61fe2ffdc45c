import { ApiError } from '#lib/errors.ts'

/** The parameter a filter came in, for messages; `legacy` ones accept the fields' old names. */
export type FilterSource = { readonly parameter: string; readonly legacy: boolean }

/** At most this many bytes of UTF-8 in one filter parameter. */
export const MAX_FILTER_BYTES = 65_536
/** At most this many operators, groups and predicates in one query. */
export const MAX_FILTER_NODES = 1024
/** Groups and negations may nest this deep. */
export const MAX_FILTER_DEPTH = 64
/** At most this many values in one query, all lists together. */
export const MAX_FILTER_VALUES = 1024
/** At most this many numbers to compare with in one query, those in lists too: each is a pass over a whole column. */
export const MAX_FILTER_COMPARISONS = 32
/** At most this many groups with predicates on versions in one query: each may be a pass over all versions. */
export const MAX_FILTER_VERSION_GROUPS = 64

/** 400 `invalid_input`: `position` counts UTF-16 units of the parameter's text from 0. */
export function filterError(source: FilterSource, position: number, problem: string, expected?: string): ApiError {
  const wish = expected === undefined ? '' : `, expected ${expected}`
  const message = `${problem} at position ${position}${wish}`
  return new ApiError('invalid_input', `${source.parameter}: ${message}`, {
    details: { field: source.parameter, message, position, ...(expected === undefined ? {} : { expected }) },
  })
}

/** Refuses a parameter over the size limit before anything reads it. */
export function checkFilterSize(text: string, source: FilterSource): void {
  if (text.length > MAX_FILTER_BYTES || Buffer.byteLength(text) > MAX_FILTER_BYTES) {
    throw filterError(source, MAX_FILTER_BYTES, `Longer than ${MAX_FILTER_BYTES} bytes`, 'the end')
  }
}

/** What stands in a message for a piece of the client's text: short, and quoted. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text)
}
