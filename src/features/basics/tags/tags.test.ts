// The tag endpoints, with the taxonomy that Depot contains.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const PLAYERS = { name: 'players', type: 'array_integer', optional: true, created: '2024-01-01T00:00:00.000Z' } as const

let t: TestApp
before(async () => {
  t = await testApp({
    deps: ({ taxonomy }) => ({
      taxonomy: { ...taxonomy, fields: new Map([...taxonomy.fields, [PLAYERS.name, PLAYERS]]) },
    }),
  })
})
after(() => t.close())

type Row = Record<string, unknown> & { name: string }

async function list<T = Row>(path: string, key: string): Promise<T[]> {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()[key]
}

type Value = Record<string, unknown> & { value: string; created: string }

async function values(loader_field: string, filters?: unknown): Promise<Value[]> {
  const query = { loader_field, ...(filters === undefined ? {} : { filters: JSON.stringify(filters) }) }
  const answer = await t.anyone.get('/v3/loader_field', { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().values
}

async function refusal(query: Record<string, string>): Promise<[status: number, field: string, description: string]> {
  const answer = await t.anyone.get('/v3/loader_field', { query })
  const { details, description } = answer.json()
  return [answer.statusCode, details?.field, description]
}

test('lists loaders A-Z with their supported project types', async () => {
  const loaders = await list('/v3/tag/loader', 'loaders')
  const names = loaders.map(({ name }) => name)
  assert.equal(names.length, 29)
  assert.deepEqual(names, names.toSorted())
  const velocity = loaders.find(({ name }) => name === 'velocity')
  assert.deepEqual(velocity?.['supported_project_types'], ['plugin'])
  assert.deepEqual(velocity['metadata'], { platform: true })
  const fabric = loaders.find(({ name }) => name === 'fabric')
  assert.ok(fabric)
  assert.deepEqual((fabric['supported_fields'] as string[]).slice(0, 3), [
    'game_versions',
    'environment',
    'singleplayer',
  ])
  assert.match(String(fabric['icon']), /^<svg/)
})

test('categories are listed by ordering, then by name', async () => {
  const categories = await list('/v3/tag/category', 'categories')
  assert.deepEqual(
    categories.filter(({ header }) => header === 'resolutions').map(({ name }) => name),
    ['8x-', '16x', '32x', '48x', '64x', '128x', '256x', '512x-and-higher'],
  )
})

test('each game has a name, an icon and a banner, which Depot serves', async () => {
  const games = await list('/v3/games', 'games')
  assert.deepEqual(
    games.map(({ name }) => name),
    ['Minecraft: Java Edition', 'Minecraft: Bedrock Edition'],
  )
  const images = games.flatMap(({ icon, banner }) => [String(icon), String(banner)])
  assert.equal(new Set(images).size, 4)
  for (const image of images) {
    assert.ok(image.startsWith(`${t.deps.config.http.baseUrl}/assets/game-`), image)
    const answer = await t.anyone.get(new URL(image).pathname)
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/svg+xml'], image)
    assert.match(answer.body, /^<svg .*<\/svg>\n$/)
  }
})

test('games, platforms, report and project types keep the order of their files', async () => {
  const [game] = await list('/v3/games', 'games')
  assert.deepEqual([game?.['slug'], game?.['name']], ['minecraft-java', 'Minecraft: Java Edition'])
  const [platform] = await list('/v3/link_platform', 'platforms')
  assert.deepEqual(platform, { name: 'patreon', donation: true })
  assert.deepEqual(await list('/v3/project_type', 'project_types'), [
    'mod',
    'modpack',
    'plugin',
    'datapack',
    'resourcepack',
    'shader',
  ])
  assert.deepEqual(await list('/v3/report_type', 'report_types'), [
    'spam',
    'copyright',
    'inappropriate',
    'malicious',
    'name-squatting',
  ])
})

test('the values of game_versions are newest first, with their metadata nested and flat', async () => {
  const all = await values('game_versions')
  const created = all.map((value) => value.created)
  assert.deepEqual(created, created.toSorted().reverse())
  assert.deepEqual(
    all.find(({ value }) => value === '1.21'),
    {
      value: '1.21',
      created: '2024-06-13T12:00:00.000Z',
      metadata: { type: 'release', major: true },
      type: 'release',
      major: true,
      ordering: null,
    },
  )
})

test('filters choose by type and major; a value without metadata never matches', async () => {
  assert.equal((await values('game_versions', { type: 'release' })).length, 102)
  const major = await values('game_versions', { type: 'release', major: true })
  assert.deepEqual(
    major.slice(0, 2).map(({ value }) => value),
    ['26.2', '26.1'],
  )
  assert.ok((await values('game_versions', { type: 'snapshot' })).length >= 24)
  assert.deepEqual(await values('environment', { type: 'release' }), [])
  assert.deepEqual(await values('game_versions', { type: 'nightly' }), [])
  assert.equal((await values('game_versions', {})).length, (await values('game_versions')).length)
})

test('filters that could only be a typing error are rejected', async () => {
  for (const filters of ['null', '[]', '"type"', '{"kind": "release"}', '{"major": "true"}', '{"__proto__": 1}', '{']) {
    const [status, field] = await refusal({ loader_field: 'game_versions', filters })
    assert.deepEqual([status, field], [400, 'filters'], filters)
  }
})

test('a boolean field answers with true and false, an unknown one is rejected', async () => {
  assert.deepEqual(
    (await values('singleplayer')).map(({ value }) => value),
    ['true', 'false'],
  )
  for (const loader_field of ['nothing', '', '__proto__']) {
    const [status, field] = await refusal({ loader_field })
    assert.deepEqual([status, field], [400, 'loader_field'], loader_field)
  }
})

test('an integer or text field has no list of values, and the answer names its type', async () => {
  const [status, field, description] = await refusal({ loader_field: PLAYERS.name })
  assert.deepEqual([status, field], [400, 'loader_field'])
  assert.match(description, /array_integer/)
})

test('licences are listed, and each has its text', async () => {
  const licenses = await list<{ short: string; name: string }>('/v3/license', 'licenses')
  assert.ok(licenses.some(({ short, name }) => short === 'MIT' && name === 'MIT License'))
  const answer = await t.anyone.get('/v3/license/MIT')
  assert.equal(answer.json().title, 'MIT License')
  assert.match(answer.json().body, /Permission is hereby granted/)
  for (const id of ['mit', 'Mit', 'mIT+']) assert.equal((await t.anyone.get(`/v3/license/${id}`)).body, answer.body, id)
  for (const id of ['Unknown-1.0', 'MIT OR ISC', '(MIT)', 'MIT/..', '%', 'é', 'x'.repeat(2000)]) {
    const path = `license/${encodeURIComponent(id)}`
    assertError(await t.anyone.get(`/v3/${path}`), 404, 'not_found')
    assert.equal((await t.anyone.get(`/v2/tag/${path}`)).statusCode, 404, id)
  }
})
