// The reference of the API: its pages, search and links, and examples that work as they are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertSays } from '#test/support/http/visitor.ts'
import { type ApiDocument, describeResources } from './describe.ts'
import { EXAMPLE_LANGUAGES, writeExample } from './examples.ts'

let t: TestApp
let document: ApiDocument
before(async () => {
  t = await testApp()
  document = (await t.anyone.get('/docs/openapi.json')).json()
})
after(() => t?.close())

test('each operation and object of the description is on one page, and links between objects lead to them', async () => {
  const index = await t.anyone.get('/docs')
  assert.equal(index.statusCode, 200)
  const pages = [...index.body.matchAll(/<li><a href="(\/docs\/[\w-]+)"/g)].map(([, path = '']) => path)
  const bodies = new Map(await Promise.all(pages.map(async (path) => [path, (await t.anyone.get(path)).body] as const)))
  const ids = [...bodies.values()].flatMap((body) => [...body.matchAll(/<h[23] id="(\w+)"/g)].map(([, id = '']) => id))
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  for (const id of operations) assert.equal(ids.filter((each) => each === id).length, 1, id)
  assert.equal(
    new Set(ids).size + pages.filter((path) => bodies.get(path)?.includes('id="objects"')).length - 1,
    ids.length,
  )
  for (const body of bodies.values())
    for (const [, path = '', id = ''] of body.matchAll(/href="(\/docs\/[\w-]+)#(\w+)"/g))
      assert.ok(bodies.get(path)?.includes(`id="${id}"`), `${path}#${id}`)
})

test('the search finds operations by path, name and field; an unknown resource is 404', async () => {
  assertSays(await t.anyone.get('/docs?q=dry_run%20publish'), 200, 'Publish a version with its files')
  assertSays(await t.anyone.get('/docs?q=no-such-thing-%3Cb%3E'), 200, 'No operation contains “no-such-thing-<b>”')
  assert.equal((await t.anyone.get('/docs/no-such-resource')).statusCode, 404)
  assert.equal((await t.anyone.get('/docs/')).headers.location, '/docs')
  const go = await t.anyone.get('/docs/search?code=go')
  assert.match(go.body, /package main/)
  assert.doesNotMatch(go.body, /curl &#39;|curl '/)
})

test('an example names the instance, the token, the required values and the body', () => {
  const all = describeResources(document).flatMap(({ operations }) => operations)
  const write = (id: string, language: (typeof EXAMPLE_LANGUAGES)[number]): string => {
    const operation = all.find((each) => each.id === id)
    assert.ok(operation !== undefined, id)
    return writeExample(language, operation, 'https://mods.example.org/depot')
  }
  for (const language of EXAMPLE_LANGUAGES) {
    const text = write('createVersion', language)
    for (const part of [
      'https://mods.example.org/depot/v3/version',
      'DEPOT_TOKEN',
      'lantern-1.0.0.jar',
      'my-program/1.0',
    ])
      assert.ok(text.includes(part), `${language}: ${part}`)
    assert.ok(!write('getProject', language).includes('DEPOT_TOKEN'), 'the token is optional')
  }
  for (const operation of all)
    for (const language of EXAMPLE_LANGUAGES)
      assert.doesNotMatch(
        writeExample(language, operation, 'https://x.example'),
        /undefined|\[object|x\.example[^'"\s]*\{/,
        operation.id,
      )
})
