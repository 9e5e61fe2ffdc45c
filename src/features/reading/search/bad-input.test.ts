import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
before(async () => {
  t = await testApp()
  await t.searchable()
})
after(() => t.close())

type Problem = { error: string; description: string; details: { field: string; position?: number } }
const problem = (answer: LightMyRequestResponse): Problem => {
  assert.equal(answer.statusCode, 400, answer.body)
  return answer.json()
}
const get = (query: Record<string, string>) => t.anyone.get('/v3/search', { query })
const post = (body: unknown) => t.anyone.post('/v3/search', body)

test('a bad filter is invalid_input with the parameter and the position, by GET and by POST', async () => {
  const filters: [filter: string, position: number][] = [
    ['(categories=magic', 17],
    ['categories=magic)', 16],
    ['colour=red', 0],
    ['categories~magic', 10],
    ['downloads=many', 10],
    ['open_source=perhaps', 12],
    ['categories IN []', 15],
    ['categories=magic AND', 20],
    ['EXISTS', 0],
    ['name="unfinished', 5],
    ['😀=1', 0],
  ]
  for (const [filter, position] of filters) {
    for (const parameter of ['new_filters', 'filters', 'version']) {
      for (const answer of [await get({ [parameter]: filter }), await post({ [parameter]: filter })]) {
        const { error, details, description } = problem(answer)
        assert.deepEqual([error, details.field, details.position], ['invalid_input', parameter, position], filter)
        assert.match(description, new RegExp(`^${parameter}: .+ at position ${position}`, 'u'))
      }
    }
  }
})

test('bad facets are invalid_input with the position', async () => {
  for (const facets of [
    '[["categories:magic"]',
    '{}',
    '[[1]]',
    '[["magic"]]',
    '[["colour:red"]]',
    '[[[["a:b"]]]]',
    'x',
  ]) {
    for (const answer of [await get({ facets }), await post({ facets })]) {
      const { error, details } = problem(answer)
      assert.deepEqual([error, details.field, typeof details.position], ['invalid_input', 'facets', 'number'], facets)
    }
  }
  assert.equal(problem(await post({ facets: [['categories:magic', 7]] })).error, 'invalid_input')
  assert.equal(problem(await post({ facets: Array(1025).fill(['categories:magic']) })).error, 'validation_error')
  const nested = `{"facets":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  assert.equal(problem(await t.inject({ method: 'POST', url: '/v3/search', ...raw(nested) })).error, 'validation_error')
  assert.equal(problem(await post({ facets: ['x'.repeat(65_000), 'y'.repeat(65_000)] })).error, 'invalid_input')
})

test('limit, offset and index outside their ranges are rejected, by the word of their place', async () => {
  const bad: [name: string, values: unknown[]][] = [
    ['limit', ['0', '101', '-1', '1.5', 'ten', '1e1', '9'.repeat(30)]],
    ['offset', ['-1', '0.5', 'x', '9007199254740992']],
    ['index', ['popularity', 'Downloads', 'x'.repeat(65)]],
  ]
  for (const [name, values] of bad) {
    for (const value of values) {
      const byGet = problem(await get({ [name]: String(value) }))
      assert.deepEqual([byGet.error, byGet.details.field], ['invalid_input', name], `${name}=${value}`)
      assert.equal(problem(await post({ [name]: value })).details.field, name)
    }
  }
  for (const [name, value] of [
    ['limit', 101],
    ['limit', 0],
    ['limit', 2.5],
    ['offset', -1],
    ['index', 'best'],
  ] as const) {
    const { error, details } = problem(await post({ [name]: value }))
    assert.deepEqual([error, details.field], ['validation_error', name])
  }
})

test('bodies of another shape are rejected, null and absent keys mean the default', async () => {
  for (const body of [{ query: 5 }, { new_filters: ['a=b'] }, { limit: true }, { offset: {} }, { facets: {} }, []])
    assert.equal(problem(await post(body)).error, 'validation_error', JSON.stringify(body))
  assert.equal(problem(await t.inject({ method: 'POST', url: '/v3/search', ...raw('{"query":') })).error, 'json_error')
  assert.equal(
    problem(await t.inject({ method: 'POST', url: '/v3/search', ...raw('{"query":"\\u0000"}') })).error,
    'validation_error',
  )
  assert.equal(
    problem(await t.inject({ method: 'POST', url: '/v3/search', ...raw('{"query":"\\ud800"}') })).error,
    'validation_error',
  )
  const nothing = await post({ query: null, limit: null, offset: null, index: null, new_filters: null, facets: null })
  assert.deepEqual([nothing.statusCode, nothing.json().hits_per_page], [200, 10])
  const older = await post({ index: '', unknown: 1 })
  assert.equal(older.statusCode, 200)
})

test('rejects excessive input immediately', async () => {
  const long = `categories=${'x'.repeat(65_536)}`
  const list = `categories IN [${Array.from({ length: 10_000 }, (_, i) => i).join()}]`
  const deep = `${'('.repeat(200)}categories=magic${')'.repeat(200)}`
  const wide = Array(2000).fill('downloads>1').join(' OR ')
  // Few bytes that would cost the engine seconds.
  const numbers = `version_published_timestamp IN [${Array.from({ length: 1000 }, (_, i) => i).join()}]`
  const groups = Array.from({ length: 150 }, (_, i) => `(loaders!=a${i} AND game_versions!=b)`).join(' OR ')
  for (const new_filters of [long, list, deep, wide]) {
    const { error, details } = problem(await post({ new_filters }))
    assert.deepEqual([error, details.field], ['invalid_input', 'new_filters'], new_filters.slice(0, 20))
  }
  for (const new_filters of [numbers, groups]) assert.equal(problem(await get({ new_filters })).error, 'invalid_input')
  assert.equal(problem(await get({ query: 'x'.repeat(1025) })).error, 'invalid_input')
  assert.equal((await get({ query: '😀'.repeat(1024) })).statusCode, 200)
  assert.equal(problem(await post({ query: 'x'.repeat(1025) })).error, 'validation_error')
})

test('odd words find nothing, or everything, but break nothing', async () => {
  for (const query of [
    '.*',
    '^(a+)+$',
    '😀',
    '\\',
    '%',
    "'; drop table project; --",
    '\u202e',
    'a'.repeat(1024),
    '&&&',
    '"',
  ]) {
    const answer = await get({ query })
    assert.equal(answer.statusCode, 200, query)
    assert.deepEqual(answer.json().hits, [])
  }
})

function raw(payload: string) {
  return { payload, headers: { 'content-type': 'application/json', 'user-agent': 'depot-tests/1.0' } }
}
