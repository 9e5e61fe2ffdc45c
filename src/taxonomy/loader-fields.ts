// Validates the loader fields of versions, and orders their values.
import { validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { textProblem } from '#lib/text/text-rules.ts'
import { fieldsOf, type LoaderField, type Taxonomy } from './taxonomy.ts'

export type LoaderFieldValue = string | number | boolean | string[] | number[] | boolean[]
export type LoaderFieldValues = Record<string, LoaderFieldValue>

const INTEGER_MAX = 2 ** 31 - 1
const INTEGER_MIN = -(2 ** 31)
const LIST_MAX = 1024
const TEXT_MAX = 2048

// Keys of JavaScript objects are never fields. They are ignored, as in every request body.
const IGNORED = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Validates the loader fields of a version. `checkLoaders` must have validated its loaders. A field is accepted if any of
 * the loaders supports it, and required unless it is optional. null means absent, absent fields get their default, and
 * duplicates in enumerations are removed.
 * @param at Dotted path of the object with the fields ("initial_versions.0"), empty for the body.
 * @throws ApiError `validation_error` with the field and, in a list, the item.
 */
export function checkLoaderFields(
  taxonomy: Taxonomy,
  loaders: readonly string[],
  input: Readonly<Record<string, unknown>>,
  at = '',
): LoaderFieldValues {
  const prefix = at === '' ? '' : `${at}.`
  const refusals = new Refusals()
  const values = refusals.check(() => checkPresentFields(taxonomy, loaders, input, prefix)) ?? {}
  // Fields that are present and invalid are not missing.
  const missing = missingFields(taxonomy, loaders, values).filter((name) => input[name] == null)
  refusals.check(() => {
    if (missing[0] === undefined) return
    throw validationError(prefix + missing[0], `is required by these loaders. Missing fields: ${missing.join(', ')}`)
  })
  refusals.throwAny()
  return withDefaults(taxonomy, loaders, values)
}

/**
 * Validates the loader fields of a draft, which can lack any of them. An empty list means absent. A draft without loaders
 * accepts every field.
 * @throws ApiError like `checkLoaderFields`.
 */
export function checkDraftFields(
  taxonomy: Taxonomy,
  loaders: readonly string[],
  input: Readonly<Record<string, unknown>>,
  at = '',
): LoaderFieldValues {
  const present = Object.entries(input).filter(([, value]) => !(Array.isArray(value) && value.length === 0))
  return checkPresentFields(taxonomy, loaders, Object.fromEntries(present), at === '' ? '' : `${at}.`)
}

/** Returns the fields that these loaders require and that have no value. */
export function missingFields(
  taxonomy: Taxonomy,
  loaders: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string[] {
  return fieldsOf(taxonomy, loaders).filter(
    (name) => values[name] === undefined && !taxonomy.fields.get(name)?.optional,
  )
}

/** Adds the default of each absent field that these loaders support. */
export function withDefaults(
  taxonomy: Taxonomy,
  loaders: readonly string[],
  values: LoaderFieldValues,
): LoaderFieldValues {
  const defaults = fieldsOf(taxonomy, loaders).flatMap((name): [string, LoaderFieldValue][] => {
    const fallback = taxonomy.fields.get(name)?.default
    return fallback === undefined ? [] : [[name, fallback]]
  })
  return { ...Object.fromEntries(defaults), ...values }
}

function checkPresentFields(
  taxonomy: Taxonomy,
  loaders: readonly string[],
  input: Readonly<Record<string, unknown>>,
  prefix: string,
): LoaderFieldValues {
  const supported = loaders.length === 0 ? undefined : new Set(fieldsOf(taxonomy, loaders))
  const values: LoaderFieldValues = {}
  const refusals = new Refusals()
  for (const [name, value] of Object.entries(input)) {
    if (IGNORED.has(name) || value === null || value === undefined) continue
    refusals.check(() => {
      const field = taxonomy.fields.get(name)
      if (field === undefined) throw validationError(prefix + name, 'is not a known field')
      if (supported?.has(name) === false)
        throw validationError(prefix + name, `is not a field of ${loaders.join(', ')}`)
      values[name] = checkValue(field, value, prefix + name)
    })
    if (refusals.isFull) break
  }
  refusals.throwAny()
  return values
}

function checkValue(field: LoaderField, value: unknown, place: string): LoaderFieldValue {
  switch (field.type) {
    case 'integer':
      return checkInteger(field, value, place)
    case 'text':
      return checkText(value, place)
    case 'boolean':
      return checkBoolean(value, place)
    case 'enum':
      return checkEnum(field, value, place)
    case 'array_integer':
      return checkList(field, value, place, (item, at) => checkInteger({}, item, at))
    case 'array_text':
      return checkList(field, value, place, checkText)
    case 'array_boolean':
      return checkList(field, value, place, checkBoolean)
    case 'array_enum':
      return checkList(field, value, place, (item, at) => checkEnum(field, item, at), true)
  }
}

function checkList<Item>(
  bounds: { min?: number; max?: number; enumValues?: ReadonlyMap<string, unknown> },
  value: unknown,
  place: string,
  checkItem: (item: unknown, place: string) => Item,
  unique = false,
): Item[] {
  if (!Array.isArray(value)) throw validationError(place, 'must be a list')
  const min = bounds.min ?? 0
  const max = bounds.max ?? Math.max(LIST_MAX, bounds.enumValues?.size ?? 0)
  if (value.length < min) throw validationError(place, `must have at least ${min} value${min === 1 ? '' : 's'}`)
  if (value.length > max) throw validationError(place, `must have at most ${max} values`)
  const refusals = new Refusals()
  const items = refusals.each(value, (item: unknown, i) => checkItem(item, `${place}.${i}`))
  refusals.throwAny()
  return unique ? [...new Set(items)] : items
}

function checkInteger(bounds: { min?: number; max?: number }, value: unknown, place: string): number {
  const min = bounds.min ?? INTEGER_MIN
  const max = bounds.max ?? INTEGER_MAX
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw validationError(place, `must be an integer from ${min} to ${max}`)
  return value
}

function checkText(value: unknown, place: string): string {
  if (typeof value !== 'string') throw validationError(place, 'must be a string')
  const problem = textProblem(value, { min: 1, max: TEXT_MAX })
  if (problem !== undefined) throw validationError(place, problem)
  return value
}

function checkBoolean(value: unknown, place: string): boolean {
  if (typeof value !== 'boolean') throw validationError(place, 'must be true or false')
  return value
}

function checkEnum(field: LoaderField, value: unknown, place: string): string {
  if (typeof value !== 'string' || !field.enumValues?.has(value))
    throw validationError(
      place,
      `is not a known value of ${field.name}: GET /v3/loader_field?loader_field=${field.name} lists them`,
    )
  return value
}
