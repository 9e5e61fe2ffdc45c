// Creates the errors of a value that does not match its schema, in one pass: at most 32, one for each property, those of the
// first three invalid items of a list. Checks the size of a list or an object before its content.
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { ERRORS_MAX, INVALID_ITEMS_MAX, type Refusals } from '#lib/schema/refusals.ts'
import { PATTERN_WORDS } from '#lib/text/text-rules.ts'
import { keepKnownKeys } from './known-keys.ts'

/** The subset of JSON Schema that request schemas use. */
type Schema = {
  type?: string
  minimum?: number
  maximum?: number
  anyOf?: Schema[]
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  maxProperties?: number
}

type Problem = { path: Path; keyword: string; message: string }

type Checker<T> = { Check(data: unknown): data is T; Type(): TSchema }

/**
 * Checks an untyped value (the `data` part of a form, JSON in a query) like a JSON body, and removes undeclared keys.
 * @param at dotted path of the value in its body, empty for the body itself.
 * @throws ApiError `validation_error` with the dotted field.
 */
export function checkBody<T>(validator: Checker<T>, data: unknown, at = ''): T {
  if (!validator.Check(data)) throw bodyError(validator.Type(), data, at)
  return keepKnownKeys(validator.Type(), data)
}

/**
 * Checks a value like `checkBody`, but adds its errors to `refusals`, and returns the properties that are valid.
 * @throws ApiError if the value is not an object.
 */
export function checkParts<T>(validator: Checker<T>, data: unknown, refusals: Refusals, at = ''): Partial<T> {
  if (validator.Check(data)) return keepKnownKeys(validator.Type(), data)
  const error = bodyError(validator.Type(), data, at)
  if (!isObject(data)) throw error
  refusals.check(() => {
    throw error
  })
  return keepKnownKeys(validator.Type(), validParts(validator.Type(), data)) as Partial<T>
}

/** Returns the properties of an object that its schema accepts. */
export function validParts(schema: TSchema, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const invalid = new Set<unknown>()
  // Every problem, because one that is not reported must not reach a rule either.
  for (const { path } of problemsOf(schema as Schema, data, [])) invalid.add(path[0])
  return Object.fromEntries(Object.entries(data).filter(([name]) => !invalid.has(name)))
}

/** Returns the error of an invalid or missing body, with the list of its errors. */
export function bodyError(schema: TSchema, data: unknown, at = ''): ApiError {
  // The framework passes null for a missing body. The parser rejects the JSON value null.
  if (data === undefined || data === null) return new ApiError('json_error', 'A JSON body is required')
  const listed = problemsOf(schema as Schema, data, [])
    .take(ERRORS_MAX)
    .toArray()
  const [first = validationError(at || 'body', 'is not valid'), ...others] = listed.map(({ path, message }) => {
    const place = [at, ...path].filter((part) => part !== '').join('.')
    return validationError(place === '' ? 'body' : place, message)
  })
  if (others.length === 0) return first
  const { kind, message, details = {} } = first
  return new ApiError(kind, message, { details, errors: [first, ...others].flatMap((error) => error.fieldErrors) })
}

/** Returns the error of an invalid path or query. */
export function queryError(schema: TSchema, data: unknown): ApiError {
  const [problem] = problemsOf(schema as Schema, data, [])
  const { path, message } = problem ?? { path: [], message: 'is not valid' }
  const field = path.join('.')
  return invalidInput(`${field} ${message}`, field)
}

type Problems = Generator<Problem, void>
type Path = (string | number)[]

function* problemsOf(schema: Schema, value: unknown, path: Path): Problems {
  if (schema.anyOf !== undefined) yield* problemsOfChoice(schema.anyOf, value, path)
  else if (schema.type === 'array' && Array.isArray(value)) yield* problemsOfArray(schema, value, path)
  else if (schema.type === 'object' && isObject(value)) yield* problemsOfObject(schema, value, path)
  else {
    const problem = problemOfLeaf(schema, value, path)
    if (problem !== undefined) yield problem
  }
}

const counted = (count: unknown, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const problemOfSize = (path: Path, keyword: string, message: string): Problem => ({ path, keyword, message })

function* problemsOfArray(schema: Schema, value: unknown[], path: Path): Problems {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema
  if (value.length < minItems)
    return void (yield problemOfSize(path, 'minItems', `must have at least ${counted(minItems, 'item')}`))
  if (value.length > maxItems)
    return void (yield problemOfSize(path, 'maxItems', `must have at most ${counted(maxItems, 'item')}`))
  if (items === undefined) return
  let invalid = 0
  for (const [index, item] of value.entries()) {
    let isInvalid = false
    for (const problem of problemsOf(items, item, [...path, index])) {
      isInvalid = true
      yield problem
    }
    if (isInvalid) invalid += 1
    if (invalid === INVALID_ITEMS_MAX) return
  }
}

function* problemsOfObject(schema: Schema, value: Record<string, unknown>, path: Path): Problems {
  const { properties = {}, required = [], patternProperties, additionalProperties, maxProperties } = schema
  for (const name of required) {
    if (!Object.hasOwn(value, name)) yield { path: [...path, name], keyword: 'required', message: 'is required' }
  }
  const names = Object.keys(value)
  if (maxProperties !== undefined && names.length > maxProperties)
    return void (yield problemOfSize(path, 'maxProperties', `must have at most ${counted(maxProperties, 'key')}`))
  const patterns = Object.entries(patternProperties ?? {}).map(([text, inner]) => [new RegExp(text), inner] as const)
  for (const name of names) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    const inner = known ?? patterns.find(([pattern]) => pattern.test(name))?.[1]
    const place = [...path, name]
    if (inner !== undefined) yield* problemsOf(inner, value[name], place)
    else if (additionalProperties === false) {
      yield { path: place, keyword: 'additionalProperties', message: 'is not a known key' }
    } else if (typeof additionalProperties === 'object') yield* problemsOf(additionalProperties, value[name], place)
  }
}

/** Yields the problems of the alternative with the matching type; otherwise a list of the allowed types. */
function* problemsOfChoice(alternatives: Schema[], value: unknown, path: Path): Problems {
  const found: { alternative: Schema; first: Problem }[] = []
  for (const alternative of alternatives) {
    const [first] = problemsOf(alternative, value, path).take(1)
    if (first === undefined) return
    found.push({ alternative, first })
  }
  const telling = found.find(
    ({ first: { keyword, path: place } }) => place.length > path.length || !TYPE_KEYWORDS.has(keyword),
  )
  if (telling !== undefined) return yield* problemsOf(telling.alternative, value, path)
  const accepted = alternatives.flatMap((alternative) => wordsOf(alternative) ?? [])
  yield { path, keyword: 'type', message: accepted.length > 0 ? `must be ${accepted.join(' or ')}` : 'is not valid' }
}

/** Returns the values that a schema without alternatives accepts, in words; undefined if it has no type. */
function wordsOf({ type, minimum, maximum }: Schema): string | undefined {
  if (type === undefined) return undefined
  const words = TYPE_WORDS[type] ?? type
  if (minimum !== undefined && maximum !== undefined) return `${words} from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${words} of at least ${minimum}`
  return maximum === undefined ? words : `${words} of at most ${maximum}`
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

/** Errors that state what the schema accepts. */
const KEYWORDS_OF_WORDS = new Set(['type', 'minimum', 'maximum'])
const TYPE_KEYWORDS = new Set(['type', 'const'])

/** Returns the problem of a value that has the wrong type or contains no other values. */
function problemOfLeaf(schema: Schema, value: unknown, path: Path): Problem | undefined {
  // For the wrong type, the library would also report the missing parts of a list or an object.
  const looked = schema.type === 'array' || schema.type === 'object' ? { type: schema.type } : schema
  const [first] = Value.Errors(looked as TSchema, value)
  if (first === undefined) return undefined
  const words = KEYWORDS_OF_WORDS.has(first.keyword) ? wordsOf(schema) : undefined
  return {
    path,
    keyword: first.keyword,
    message: words === undefined ? leafMessage(first as never) : `must be ${words}`,
  }
}

type LeafError = { keyword: string; params: Record<string, unknown>; message: string }

function leafMessage({ keyword, params, message }: LeafError): string {
  switch (keyword) {
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
    case 'pattern':
      return PATTERN_WORDS.get(String(params['pattern'])) ?? 'does not have the required format'
    case 'minLength':
      return `must have at least ${counted(params['limit'], 'character')}`
    case 'maxLength':
      return `must have at most ${counted(params['limit'], 'character')}`
    case 'format':
      return params['format'] === 'date-time'
        ? 'must be a date with a time, such as 2026-01-31T18:30:00Z'
        : `must be a ${params['format']}`
    default:
      return message
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
