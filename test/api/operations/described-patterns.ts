// The server enforces every pattern of the API description: it rejects values that do not match. Separate code, not the
// schema, checks most patterns, so the description could otherwise promise too much.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { asList, asObject, type Json, operationsOf, resolve } from '#test/support/http/openapi-rules.ts'
import { t } from './fixture.ts'
import { authorizedRequest, type Request, unchanged } from './requests.ts'
import { createWorld } from './world.ts'

/** No pattern, enumeration or format of the description has it. */
const ODD = '!? /'

/** They tell the application by the address to which they send the browser back. */
const ANSWERED_ELSEWHERE = ['authorize query response_type', 'authorize query code_challenge_method']

type Place = { route: RouteEntry; in: 'path' | 'query' | 'body'; name: string }

const isPatterned = (document: Json, schema: unknown): boolean => {
  const { pattern, enum: words, format } = resolve(document, asObject(schema))
  return pattern !== undefined || words !== undefined || format === 'date-time' || format === 'date'
}

/** Every parameter of a path or query, and every field of a JSON body, that has a pattern. */
function places(name: string): Place[] {
  const routes = new Map(t.app.routeTable().map((route) => [route.operationId, route]))
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/generated', name), 'utf8'))
  return operationsOf(document).flatMap(({ operation }): Place[] => {
    const route = routes.get(String(operation['operationId']))
    assert.ok(route !== undefined)
    const parameters = asList(operation['parameters'])
      .filter(({ name, schema }) => ['ids', 'version_id'].includes(String(name)) || isPatterned(document, schema))
      .map((parameter) => ({ route, in: parameter['in'] as 'path', name: String(parameter['name']) }))
    const content = asObject(asObject(operation['requestBody'])['content'])
    const body = resolve(document, asObject(asObject(content['application/json'])['schema']))
    const fields = Object.entries(asObject(body['properties']))
      .filter(([, schema]) => isPatterned(document, schema))
      .map(([name]) => ({ route, in: 'body' as const, name }))
    return [...parameters, ...fields]
  })
}

function withOdd(request: Request, { in: part, name, route }: Place): Request {
  if (part === 'query') {
    const value = name === 'ids' ? JSON.stringify([ODD]) : ODD
    return { ...request, query: { ...(request.query as Record<string, string>), [name]: value } }
  }
  if (part === 'body') return { ...request, payload: { ...(request.payload as object), [name]: ODD } }
  const at = route.url.split('/').findIndex((part) => part.split('.')[0] === `:${name}`)
  const url = String(request.url).split('/').with(at, encodeURIComponent(ODD)).join('/')
  return { ...request, url }
}

test('rejects values that do not match a pattern of the description', async () => {
  const wrong: string[] = []
  const all = [...places('openapi.json'), ...places('openapi-v2.json')]
  // A rejected request changes nothing, so all places of an operation can share its request, and all operations a world.
  const requests = new Map<RouteEntry, Promise<Request>>()
  let world = createWorld(t)
  for (const place of all) {
    world = unchanged(world, place.route)
    const known = requests.get(place.route) ?? authorizedRequest(world, place.route)
    requests.set(place.route, known)
    const request = await known
    if (place.in === 'body' && (Buffer.isBuffer(request.payload) || typeof request.payload !== 'object')) continue
    const { statusCode, body } = await t.inject(withOdd(request, place))
    const name = `${place.route.operationId} ${place.in} ${place.name}`
    // No resource has this ID, which fits lists of slugs and of usernames.
    const isNothing = place.name === 'ids' && body === '[]'
    const isRefused = [400, 403, 404].includes(statusCode) || isNothing || ANSWERED_ELSEWHERE.includes(name)
    if (!isRefused) wrong.push(`${name}: ${statusCode} ${body.slice(0, 150)}`)
  }
  assert.ok(all.length > 100, `${all.length} places`)
  assert.deepEqual(wrong, [])
})
