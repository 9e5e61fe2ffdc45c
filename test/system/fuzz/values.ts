// Values for generated requests: values that a schema allows, and values that often break programs.
import fc from 'fast-check'
import { THING_NAMES, type Thing } from '#test/api/operations/world.ts'
import { asList, asObject, type Json, resolve } from '#test/support/http/openapi-rules.ts'

const DEPTH_MAX = 6
/** Generated lists are short; the odd values include long lists. */
const ITEMS_MAX = 4

/** Stands for the ID of something that exists, until a request is sent. */
export const nameOf = (thing: Thing): string => `<<${thing}>>`
const PLACEHOLDER = /<<([A-Za-z]+)>>/g

/** Every placeholder in a text. */
export function thingsIn(text: string): Thing[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name as Thing)
}

export function putThings(text: string, ids: ReadonlyMap<Thing, string>): string {
  return text.replace(PLACEHOLDER, (_, name: Thing) => ids.get(name) ?? name)
}

const KNOWN = fc.constantFrom(...THING_NAMES).map(nameOf)

/** An own key that JavaScript gives a meaning; `JSON.stringify` writes it like any other. */
function withProto(value: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty({ ...value }, '__proto__', { value: { admin: true }, enumerable: true })
}

function nested(depth: number): unknown {
  let value: unknown = 0
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u200b\u200d',
  '\u202eabc',
  'é'.repeat(40),
  '👩‍👩‍👧‍👦',
  '..',
  '../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  "' or 1=1 --",
  '"}],{',
  '[]',
  '{}',
  'null',
  'NaN',
  '-1',
  '1e400',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '+275760-09-13T00:00:00Z',
  '2026-02-30T00:00:00Z',
  'http://[::1',
  'https://user:pass@example.org:99999/',
  'javascript:alert(1)',
  '<script>alert(1)</script>',
  'toString',
  'constructor',
  '__proto__',
]

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(65, 257, 2049, 65_537).map((length) => 'a'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom('(', '[', 'NOT ', 'a AND ').map((piece) => piece.repeat(500)) },
  { weight: 2, arbitrary: KNOWN },
)

const oddNumber = fc.constantFrom<number>(
  0,
  -0,
  -1,
  0.5,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 48,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
)

/** Any JSON value, mostly one that no schema expects. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 3, arbitrary: oddNumber },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { '': '' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(withProto({}), { constructor: { prototype: {} } }, { toString: 1 }),
  },
  { weight: 1, arbitrary: fc.constantFrom(100, 900).map(nested) },
  { weight: 1, arbitrary: fc.constantFrom(101, 1001, 9000).map((length) => Array(length).fill('x')) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(200, 3000)
      .map((count) => Object.fromEntries([...Array(count).keys()].map((n) => [`k${n}`, n]))),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Generates a value that the schema allows; strings are often an ID. */
export function allowedValue(document: Json, schema: Json, depth = 0): fc.Arbitrary<unknown> {
  const target = resolve(document, schema)
  if (target['nullable'] === true) {
    const { nullable: _, ...rest } = target
    return fc.oneof(
      { weight: 1, arbitrary: fc.constant(null) },
      { weight: 5, arbitrary: allowedValue(document, rest, depth) },
    )
  }
  if (Array.isArray(target['enum'])) return fc.constantFrom(...(target['enum'] as unknown[]))
  const choices = asList(target['anyOf'])
  if (choices.length > 0) return fc.oneof(...choices.map((choice) => allowedValue(document, choice, depth)))
  switch (target['type']) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: bound(target['minimum'], -1000), max: bound(target['maximum'], 100_000) })
    case 'number':
      return fc.double({ min: bound(target['minimum'], -1000), max: bound(target['maximum'], 1000), noNaN: true })
    case 'string':
      return textOf(target)
    case 'array':
      return depth > DEPTH_MAX
        ? fc.constant([])
        : fc.array(allowedValue(document, asObject(target['items']), depth + 1), {
            minLength: Math.min(Number(target['minItems'] ?? 0), ITEMS_MAX),
            maxLength: Math.min(Number(target['maxItems'] ?? ITEMS_MAX), ITEMS_MAX),
          })
    case 'object':
      return objectOf(document, target, depth)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** Returns a limit of a schema as an integer that fits a 32-bit generator. */
function bound(value: unknown, otherwise: number): number {
  if (typeof value !== 'number') return otherwise
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}

function objectOf(document: Json, schema: Json, depth: number): fc.Arbitrary<unknown> {
  if (depth > DEPTH_MAX) return fc.constant({})
  const properties = Object.entries(asObject(schema['properties']))
  const required = new Set((schema['required'] as string[] | undefined) ?? [])
  const known = fc.record(
    Object.fromEntries(properties.map(([name, inner]) => [name, allowedValue(document, asObject(inner), depth + 1)])),
    { requiredKeys: properties.map(([name]) => name).filter((name) => required.has(name)) },
  )
  const open = schema['additionalProperties']
  if (typeof open !== 'object') return known
  const more = fc.dictionary(
    fc.oneof(KNOWN, fc.string({ maxLength: 12 })),
    allowedValue(document, asObject(open), depth + 1),
    { maxKeys: 3 },
  )
  return fc.tuple(known, more).map(([own, others]) => ({ ...others, ...own }))
}

function textOf(schema: Json): fc.Arbitrary<string> {
  const { pattern, format } = schema
  const maxLength = Number(schema['maxLength'] ?? 200)
  const minLength = Math.min(Number(schema['minLength'] ?? 0), maxLength)
  const plain = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, Math.max(minLength, 60)) })
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  // A look-ahead is beyond the generator; such texts come as words.
  if (typeof pattern === 'string' && !pattern.includes('(?'))
    return fc.oneof(
      KNOWN,
      fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= maxLength),
    )
  const words = fc.stringMatching(/^[a-z][a-z0-9-]{2,20}$/)
  const lists = fc.array(fc.oneof(KNOWN, words), { maxLength: 5 }).map((list) => JSON.stringify(list))
  const longest = fc.constant('w'.repeat(Math.min(maxLength, 70_000)))
  return fc.oneof(
    { weight: 4, arbitrary: KNOWN },
    { weight: 3, arbitrary: words },
    { weight: 3, arbitrary: plain },
    { weight: 2, arbitrary: lists },
    { weight: 1, arbitrary: longest },
  )
}
