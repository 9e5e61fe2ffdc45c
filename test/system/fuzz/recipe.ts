// Builds a generated request: from the sample of its operation with a change, or from the schemas only. A recipe
// contains no IDs, so it can be sent again, and reduced, in another world.
import fc from 'fast-check'
import { asList, asObject, type Json } from '#test/support/http/openapi-rules.ts'
import { allowedValue, oddText, oddValue } from './values.ts'

/** One change of a sample; `pick` chooses the place, whatever the sample has. */
export type Edit = {
  part: 'path' | 'query' | 'body' | 'bytes'
  action: 'replace' | 'remove' | 'add' | 'repeat'
  pick: number
  value: unknown
}

export type Body =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; text: string; type: string }
  | { kind: 'form'; data: unknown; files: number }
  | { kind: 'fields'; fields: Record<string, unknown> }

/** `asHead` sends a GET as HEAD; `ifMatching` then sends the request again with the ETag of its response. */
export type Recipe = { headers: Record<string, string>; asHead: boolean; ifMatching: boolean } & (
  | { from: 'sample'; edits: Edit[] }
  | { from: 'schema'; path: Record<string, string>; query: [name: string, value: unknown][]; body: Body }
)

/** Headers that change how a request is read or an answer is made. */
const ODD_HEADERS: readonly Record<string, string>[] = [
  { 'accept-encoding': 'gzip, br;q=0.5' },
  { 'accept-encoding': 'zstd' },
  { 'accept-encoding': '*;q=0' },
  { 'if-none-match': '*' },
  { 'if-none-match': '"x", W/"y", ' },
  { range: 'bytes=0-0' },
  { range: 'bytes=5-1,-0,9999999999999999999-' },
  { 'if-range': '"x"', range: 'bytes=1-' },
  { accept: 'text/html' },
  { accept: 'text/html;q=abc,,*/*' },
  { origin: 'null' },
  { referer: 'http://[' },
  { cookie: 'depot_session=x; =; a=%zz' },
  { 'content-encoding': 'gzip' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'multipart/form-data; boundary=' },
  { 'user-agent': 'x'.repeat(4000) },
  { 'x-forwarded-for': '::ffff:1.2.3.4.5' },
  { 'x-http-method-override': 'DELETE' },
]

const headers = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Record<string, string>>({}) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_HEADERS) },
)

const reading = { asHead: fc.boolean(), ifMatching: fc.boolean() }

const edit: fc.Arbitrary<Edit> = fc.record({
  part: fc.constantFrom<Edit['part']>('path', 'query', 'query', 'body', 'body', 'body', 'bytes'),
  action: fc.constantFrom<Edit['action']>('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  pick: fc.nat(1000),
  value: oddValue,
})

const BROKEN_JSON = ['', '{', '[1,', 'nul', '"', '\ufeff{}', '{"a":1}}', '[[[[', '{"a":1,"a":2}', '1e999', '\u0000']

/** Everything that may be sent to this operation. */
export function recipesOf(document: Json, path: string, operation: Json): fc.Arbitrary<Recipe> {
  const edits = fc.array(edit, { maxLength: 3 })
  const changed = fc.record({ from: fc.constant('sample' as const), edits, headers, ...reading })
  return fc.oneof({ weight: 3, arbitrary: changed }, { weight: 2, arbitrary: fromSchema(document, path, operation) })
}

function fromSchema(document: Json, path: string, operation: Json): fc.Arbitrary<Recipe> {
  const parameters = asList(operation['parameters'])
  const inQuery = parameters.filter((parameter) => parameter['in'] === 'query')
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => String(name))
  const pathValue = (name: string): fc.Arbitrary<string> => {
    const schema = parameters.find((parameter) => parameter['in'] === 'path' && parameter['name'] === name)?.['schema']
    return fc.oneof(
      { weight: 3, arbitrary: allowedValue(document, asObject(schema)).map(String) },
      { weight: 1, arbitrary: oddText },
    )
  }
  return fc.record({
    from: fc.constant('schema' as const),
    path: fc.record(Object.fromEntries(names.map((name) => [name, pathValue(name)]))),
    query: queryOf(document, inQuery),
    body: bodyOf(document, operation),
    headers,
    ...reading,
  })
}

function queryOf(document: Json, parameters: readonly Json[]): fc.Arbitrary<[string, unknown][]> {
  const each = parameters.map(({ name, schema, required }) =>
    fc
      .tuple(
        fc.boolean(),
        fc.oneof({ weight: 4, arbitrary: allowedValue(document, asObject(schema)) }, { weight: 1, arbitrary: oddText }),
      )
      .map(([given, value]): [string, unknown][] => (given || required === true ? [[String(name), value]] : [])),
  )
  const extra = fc.oneof(
    { weight: 4, arbitrary: fc.constant<[string, unknown][]>([]) },
    { weight: 1, arbitrary: fc.tuple(oddText, oddText).map((pair): [string, unknown][] => [pair]) },
  )
  return fc.tuple(fc.tuple(...each), extra).map(([known, more]) => [...known.flat(), ...more])
}

function bodyOf(document: Json, operation: Json): fc.Arbitrary<Body> {
  const content = asObject(asObject(operation['requestBody'])['content'])
  const schemaOf = (type: string): Json => asObject(asObject(content[type])['schema'])
  const kinds: fc.Arbitrary<Body>[] = []
  if ('application/json' in content)
    kinds.push(allowedValue(document, schemaOf('application/json')).map((value) => ({ kind: 'json', value })))
  if ('application/x-www-form-urlencoded' in content) {
    const fields = allowedValue(document, schemaOf('application/x-www-form-urlencoded'))
    kinds.push(fields.map((value) => ({ kind: 'fields', fields: asObject(value) })))
  }
  if ('multipart/form-data' in content) {
    const data = allowedValue(document, asObject(asObject(schemaOf('multipart/form-data')['properties'])['data']))
    kinds.push(fc.record({ kind: fc.constant('form' as const), data, files: fc.nat(2) }))
  }
  const types = fc.constantFrom(...Object.keys(content), 'application/json')
  const broken = fc.record({
    kind: fc.constant('text' as const),
    text: fc.oneof(
      fc.constantFrom(...BROKEN_JSON),
      oddText,
      oddValue.map((value) => JSON.stringify(value) ?? ''),
    ),
    type: types.map((type) => type.replace('*', 'png')),
  })
  const none = fc.constant<Body>({ kind: 'none' })
  if (kinds.length === 0) return fc.oneof({ weight: 5, arbitrary: none }, { weight: 1, arbitrary: broken })
  return fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...kinds) },
    { weight: 2, arbitrary: broken },
    { weight: 1, arbitrary: none },
  )
}
