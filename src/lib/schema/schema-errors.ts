// Creates the error of a value that does not match its schema. Reports only the first problem, and checks the size of a
// list or an object before its content, so that a request with many problems takes no longer.
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
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

type Problem = { path: (string | number)[]; keyword: string; message: string }

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

/** Returns the error of an invalid or missing body. */
export function bodyError(schema: TSchema, data: unknown, at = ''): ApiError {
  // The framework passes null for a missing body. The parser rejects the JSON value null.
  if (data === undefined || data === null) return new ApiError('json_error', 'A JSON body is required')
  const { field, message } = describe(schema, data)
  const place = [at, field].filter((part) => part !== '').join('.')
  return validationError(place === '' ? 'body' : place, message)
}

/** Returns the error of an invalid path or query. */
export function queryError(schema: TSchema, data: unknown): ApiError {
  const { field, message } = describe(schema, data)
  return invalidInput(`${field} ${message}`, field)
}

function describe(schema: TSchema, data: unknown): { field: string; message: string } {
  const problem = findProblem(schema as Schema, data, [])
  return problem === undefined
    ? { field: '', message: 'is not valid' }
    : { field: problem.path.join('.'), message: problem.message }
}

function findProblem(schema: Schema, value: unknown, path: (string | number)[]): Problem | undefined {
  if (schema.anyOf !== undefined) return problemOfChoice(schema.anyOf, value, path)
  if (schema.type === 'array' && Array.isArray(value)) return problemOfArray(schema, value, path)
  if (schema.type === 'object' && isObject(value)) return problemOfObject(schema, value, path)
  return problemOfLeaf(schema, value, path)
}

function problemOfArray(schema: Schema, value: unknown[], path: (string | number)[]): Problem | undefined {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema
  if (value.length < minItems) return { path, keyword: 'minItems', message: `must have at least ${minItems} items` }
  if (value.length > maxItems) return { path, keyword: 'maxItems', message: `must have at most ${maxItems} items` }
  if (items === undefined) return undefined
  for (const [index, item] of value.entries()) {
    const problem = findProblem(items, item, [...path, index])
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfObject(
  schema: Schema,
  value: Record<string, unknown>,
  path: (string | number)[],
): Problem | undefined {
  const { properties = {}, required = [], patternProperties, additionalProperties, maxProperties } = schema
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return { path: [...path, missing], keyword: 'required', message: 'is required' }
  const names = Object.keys(value)
  if (maxProperties !== undefined && names.length > maxProperties)
    return { path, keyword: 'maxProperties', message: `must have at most ${maxProperties} keys` }
  const patterns = Object.entries(patternProperties ?? {}).map(([text, inner]) => [new RegExp(text), inner] as const)
  for (const name of names) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    const inner = known ?? patterns.find(([pattern]) => pattern.test(name))?.[1]
    const place = [...path, name]
    if (inner !== undefined) {
      const problem = findProblem(inner, value[name], place)
      if (problem !== undefined) return problem
    } else if (additionalProperties === false) {
      return { path: place, keyword: 'additionalProperties', message: 'is not a known key' }
    } else if (typeof additionalProperties === 'object') {
      const problem = findProblem(additionalProperties, value[name], place)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

/** Returns the problem of the alternative with the matching type; otherwise a list of the allowed types. */
function problemOfChoice(alternatives: Schema[], value: unknown, path: (string | number)[]): Problem | undefined {
  const problems: Problem[] = []
  for (const alternative of alternatives) {
    const problem = findProblem(alternative, value, path)
    if (problem === undefined) return undefined
    problems.push(problem)
  }
  const telling = problems.find(({ keyword, path: { length } }) => length > path.length || !TYPE_KEYWORDS.has(keyword))
  if (telling !== undefined) return telling
  const accepted = alternatives.flatMap((alternative) => wordsOf(alternative) ?? [])
  return { path, keyword: 'type', message: accepted.length > 0 ? `must be ${accepted.join(' or ')}` : 'is not valid' }
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
function problemOfLeaf(schema: Schema, value: unknown, path: (string | number)[]): Problem | undefined {
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
      return `must have at least ${params['limit']} characters`
    case 'maxLength':
      return `must have at most ${params['limit']} characters`
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
