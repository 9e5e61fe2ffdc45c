// Every declared field of a create or update request changes the view, and null in a PATCH clears a field or changes nothing.
// These tests find fields that are declared but not saved, and new fields without a sample.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { ADMIN_KEY } from '#test/support/app/test-app.ts'
import { form } from '#test/support/http/forms.ts'
import { asList, asObject, type Json, type Operation, operationsOf, resolve } from '#test/support/http/openapi-rules.ts'
import { opened, t } from './fixture.ts'
import { authorizationOf, authorizedRequest, buildRequest, type Request, resolveGiven } from './requests.ts'
import type { Declared, FieldSample } from './sample.ts'
import { DECLARED } from './samples.ts'
import { createWorld, type World } from './world.ts'

let document: Json
let operations: Operation[]
before(async () => {
  await opened
  document = (await t.anyone.get('/docs/openapi.json')).json()
  operations = operationsOf(document)
})

/** Edits, and what answers 201: the operations that write the fields they declare. */
function writesOf(): { id: string; fields: string[] }[] {
  return operations
    .filter(
      ({ method, operation }) => method === 'patch' || (method === 'post' && '201' in asObject(operation['responses'])),
    )
    .map(({ operation }) => ({ id: String(operation['operationId']), fields: fieldsOf(operation) }))
}

/** The keys of the query and of the body; of a form, those of its description. */
function fieldsOf(operation: Operation['operation']): string[] {
  const query = asList(operation['parameters']).flatMap(({ name, in: place }) =>
    place === 'query' ? String(name) : [],
  )
  const bodies = Object.entries(asObject(asObject(operation['requestBody'])['content'])).map(([type, media]) => {
    const { properties } = resolve(document, asObject(asObject(media)['schema']))
    if (!type.startsWith('multipart/')) return asObject(properties)
    return asObject(resolve(document, asObject(asObject(properties)['data']))['properties'])
  })
  return [...new Set([...query, ...bodies.flatMap((properties) => Object.keys(properties))])]
}

test('every declared field has a sample in samples.test.ts, or a reason why no view shows it', () => {
  const declared = writesOf().flatMap(({ id, fields }) => fields.map((field) => `${id}.${field}`))
  const known = Object.entries(DECLARED).flatMap(([id, { fields = {}, unseen = {} }]) =>
    [...Object.keys(fields), ...Object.keys(unseen)].map((field) => `${id}.${field}`),
  )
  assert.deepEqual(
    declared.filter((field) => !known.includes(field)),
    [],
    'without a sample',
  )
  assert.deepEqual(
    known.filter((field, index) => !declared.includes(field) || known.indexOf(field) !== index),
    [],
    'of removed or duplicate fields',
  )
})

describe('every declared field is saved', () => {
  for (const [id, declared] of Object.entries(DECLARED)) {
    const samples = Object.entries(declared.fields ?? {})
    if (samples.length === 0) continue
    test(id, async () => {
      const route = routeOf(id)
      const create = createWithout(route, declared)
      const problems = await problemsOf(samples, async (world, [field, sample]) => {
        const problem = await problemOf(world, route, declared, field, sample, create)
        return problem === undefined ? [] : [`${id}.${field}: ${problem}`]
      })
      assert.deepEqual(problems, [])
    })
  }
})

/** Lists the problems of fields, each in the world that the field before it has changed. A problem counts in a new world. */
async function problemsOf<Field>(
  fields: Iterable<Field>,
  list: (world: World, field: Field) => Promise<string[]>,
): Promise<string[]> {
  const problems: string[] = []
  let world: World | undefined
  for (const field of fields) {
    const found = world === undefined ? undefined : await list(world, field).catch(() => undefined)
    if (found?.length === 0) continue
    world = createWorld(t)
    problems.push(...(await list(world, field)))
  }
  return problems
}

const routeOf = (id: string): RouteEntry =>
  t.app.routeTable().find(({ operationId }) => operationId === id) ?? assert.fail(`There is no operation ${id}`)

type Create = (sample: FieldSample) => Promise<Views | string>

/** Returns a function that creates a thing without the field of a sample, once for all that need nothing special for it. */
function createWithout(route: RouteEntry, declared: Declared): Create {
  let usual: ReturnType<Create> | undefined
  return (sample) => {
    const { by, before, view, url } = sample
    const isUsual = [by, before, view, url].every((each) => each === undefined)
    if (!isUsual) return write(createWorld(t), route, declared, sample)
    usual ??= write(createWorld(t), route, declared, sample)
    return usual
  }
}

/** Sends one field and reads the thing before and after; what a create makes without the field stands for before. */
async function problemOf(
  world: World,
  route: RouteEntry,
  declared: Declared,
  field: string,
  sample: FieldSample,
  create: Create,
): Promise<string | undefined> {
  const place = sample.at ?? field
  const earlier = route.method === 'POST' ? await create(sample) : undefined
  const value = await resolveGiven(sample.send, world)
  const later = await write(world, route, declared, sample, {
    ...(await resolveGiven(sample.needs, world)),
    [field]: value,
  })
  if (typeof later === 'string') return later
  const [old, now] = [
    valueAt(typeof earlier === 'object' ? earlier.after : later.before, place),
    valueAt(later.after, place),
  ]
  const expected = sample.shows === undefined ? value : await resolveGiven(sample.shows, world)
  if (typeof earlier === 'string') return `without it: ${earlier}`
  if (isDeepStrictEqual(old, now)) return `${place} is ${JSON.stringify(now)} before and after`
  if (!isDeepStrictEqual(now, expected)) return `${place} is ${JSON.stringify(now)}, not ${JSON.stringify(expected)}`
  return undefined
}

type Views = { before: unknown; after: unknown }

/** Sends the fields, of a create with those that it needs, and gives the views; a text says how it was refused. */
async function write(
  world: World,
  route: RouteEntry,
  declared: Declared,
  sample: FieldSample,
  fields?: Record<string, unknown>,
): Promise<Views | string> {
  const by = sample.by ?? declared.by ?? 'owner'
  const request = await buildRequest(world, route)
  await sample.before?.(world)
  const authorization = by === 'operator' ? undefined : await authorizationOf(world, by)
  const credentials = { 'x-admin-key': ADMIN_KEY, ...(authorization === undefined ? {} : { authorization }) }
  const read = async (url: string): Promise<unknown> => {
    const answer = await t.inject({ url, headers: { ...request.headers, ...credentials } })
    assert.equal(answer.statusCode, 200, `${url}: ${answer.body}`)
    return answer.json()
  }
  const view = sample.view ?? declared.view
  const isCreate = route.method === 'POST'
  const shown = isCreate ? undefined : await view(read, world, {})
  const filled = await fill(world, request, { route, declared, sample, fields })
  const url = sample.url === undefined ? filled.url : await sample.url(world)
  const answer = await t.inject({ ...filled, url: url ?? '', headers: { ...filled.headers, ...credentials } })
  if (answer.statusCode >= 300) return `${answer.statusCode} ${answer.body}`
  return { before: shown, after: await view(read, world, isCreate ? answer.json() : {}) }
}

type Filling = {
  route: RouteEntry
  declared: Declared
  sample: FieldSample
  fields: Record<string, unknown> | undefined
}

/** The request with these fields, in the query, the body or the form, wherever the operation has them. */
async function fill(world: World, request: Request, { route, declared, sample, fields }: Filling): Promise<Request> {
  if (declared.form !== undefined) {
    const files = [...declared.form.files(), ...(fields === undefined ? [] : (sample.files?.() ?? []))]
    const { payload, headers } = await form(defined({ ...(await declared.form.data(world)), ...fields }), files)
    return { ...request, payload, headers: { ...request.headers, ...headers } }
  }
  if (fields === undefined) return request
  const operation = operations.find(({ operation }) => operation['operationId'] === route.operationId)
  const isInQuery = asList(operation?.operation['parameters']).some(
    ({ name, in: place }) => place === 'query' && name !== 'ids' && String(name) in fields,
  )
  if (isInQuery) return { ...request, query: texts({ ...asObject(request.query), ...fields }) }
  const rest = route.method === 'POST' ? asObject(request.payload) : {}
  return { ...request, payload: defined({ ...rest, ...fields }) }
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function texts(fields: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(defined(fields)).map(([key, value]) => [key, String(value)]))
}

/** The value at a dotted place. */
function valueAt(view: unknown, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined | null)?.[key], view)
}

type Field = { id: string; field: string; isNullable: boolean }

/** The optional fields of the JSON body of each PATCH. */
async function optionalFields(url: string): Promise<Field[]> {
  const described: Json = (await t.anyone.get(url)).json()
  return operationsOf(described).flatMap(({ method, operation }) => {
    const content = asObject(asObject(operation['requestBody'])['content'])
    if (method !== 'patch' || content['application/json'] === undefined) return []
    const { properties, required = [] } = resolve(described, asObject(asObject(content['application/json'])['schema']))
    return Object.entries(asObject(properties)).flatMap(([field, schema]) => {
      if ((required as string[]).includes(field)) return []
      const { type, anyOf, nullable } = resolve(described, asObject(schema))
      const choices = [{ nullable }, ...((anyOf ?? []) as Json[])]
      const isNullable = (type ?? anyOf) === undefined || choices.some((choice) => choice['nullable'] === true)
      return [{ id: String(operation['operationId']), field, isNullable }]
    })
  })
}

const isEmpty = (value: unknown): boolean =>
  [undefined, null, ''].includes(value as '') || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)

/** Sets the field, sends null, and compares the views. */
async function problemOfNull(world: World, route: RouteEntry, field: string): Promise<string | undefined> {
  const declared = DECLARED[route.operationId]
  const sample = declared?.fields?.[field]
  if (declared === undefined || sample === undefined) {
    const request = await authorizedRequest(world, route)
    const answer = await t.inject({ ...request, payload: { ...asObject(request.payload), [field]: null } })
    return answer.statusCode < 300 ? undefined : `${answer.statusCode} ${answer.body}`
  }
  const value = typeof sample.send === 'function' ? await sample.send(world) : sample.send
  const needs = typeof sample.needs === 'function' ? await sample.needs(world) : sample.needs
  const sendNull = (by: FieldSample) => write(world, route, declared, by, { [field]: null })
  const untouched = await sendNull(sample)
  if (typeof untouched === 'string') return untouched
  const again = { ...sample, before: async () => {} }
  const set = await write(world, route, declared, again, { ...needs, [field]: value })
  if (typeof set === 'string') return `with a value: ${set}`
  const cleared = await sendNull(again)
  if (typeof cleared === 'string') return cleared
  const [old, now] = [cleared.before, cleared.after].map((view) => valueAt(view, sample.at ?? field))
  const initial = valueAt(untouched.after, sample.at ?? field)
  return isEmpty(now) || [old, initial].some((each) => isDeepStrictEqual(each, now))
    ? undefined
    : `${JSON.stringify(old)} became ${JSON.stringify(now)}`
}

describe('null in a PATCH', () => {
  for (const url of ['/docs/openapi.json', '/docs/v2/openapi.json']) {
    test(`of ${url} clears a field or changes nothing`, async () => {
      const fields = await optionalFields(url)
      assert.ok(fields.length > 40, `${fields.length} fields`)
      const problems = fields
        .filter(({ isNullable }) => !isNullable)
        .map(({ id, field }) => `${id}.${field}: not nullable`)
      const more = await problemsOf(fields, async (world, { id, field }) => {
        const problem = await problemOfNull(world, routeOf(id), field)
        return problem === undefined ? [] : [`${id}.${field}: ${problem}`]
      })
      assert.deepEqual([...problems, ...more], [])
    })
  }
})
