// Update checks: single, bulk and individual checks agree with each other and with the version list under the same
// filter.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

let t: TestApp
let project: MadeProject
/** Hash of the file on the oldest version. */
let hash: string
const versions: Record<string, string> = {}
before(async () => {
  t = await testApp()
  project = await t.make.project()
  const make = async (name: string, day: number, fields: object = {}) => {
    const date_published = new Date(Date.UTC(2026, 0, day))
    const { id } = await t.make.version({ project, version_number: name, date_published, ...fields })
    versions[name] = id
    return { id }
  }
  const oldest = await make('1', 1, { loaders: ['fabric', 'quilt'], game_versions: ['1.19.4', '1.20'] })
  await make('2', 2, { loaders: ['forge'], version_type: 'beta' })
  await make('3', 3, { loaders: ['fabric'], status: 'archived', game_versions: ['1.20', '1.20.1'] })
  await make('4', 4, { loaders: ['fabric', 'forge'], version_type: 'alpha', game_versions: ['1.20.1'] })
  await make('5', 5, { status: 'unlisted' })
  await make('6', 6, { status: 'draft' })
  hash = (await t.make.file({ version: oldest, project, bytes: randomBytes(16) })).sha1
})
after(() => t.close())

type Answer = { id: string }
const single = (path: string) => `/v3/version_file/${path}/update`

/** Bodies of update checks, and the same as queries of the version list. */
const FILTERS: { body: Record<string, unknown>; list: Record<string, string>; first: string | undefined }[] = [
  { body: {}, list: {}, first: '4' },
  {
    body: { loaders: [], version_types: [], game_versions: [], loader_fields: {} },
    list: { loaders: '[]' },
    first: '4',
  },
  { body: { loaders: null, version_types: null, loader_fields: null }, list: {}, first: '4' },
  { body: { loaders: ['quilt'] }, list: { loaders: '["quilt"]' }, first: '1' },
  { body: { loaders: ['quilt', 'forge'] }, list: { loaders: '["quilt","forge"]' }, first: '4' },
  { body: { version_types: ['release'] }, list: { version_type: 'release' }, first: '3' },
  { body: { version_types: ['beta'] }, list: { version_type: 'beta' }, first: '2' },
  { body: { game_versions: ['1.20'] }, list: { game_versions: '["1.20"]' }, first: '3' },
  {
    body: { loader_fields: { game_versions: ['1.19.4'] } },
    list: { loader_fields: '{"game_versions":["1.19.4"]}' },
    first: '1',
  },
  { body: { loader_fields: { game_versions: [] } }, list: { loader_fields: '{"game_versions":[]}' }, first: '4' },
  {
    body: { loader_fields: { environment: ['unknown'] } },
    list: { loader_fields: '{"environment":["unknown"]}' },
    first: '4',
  },
  {
    body: { loader_fields: { environment: ['server_only'] } },
    list: { loader_fields: '{"environment":["server_only"]}' },
    first: undefined,
  },
  {
    body: { loaders: ['fabric'], version_types: ['release'], game_versions: ['1.20.1'] },
    list: { loaders: '["fabric"]', version_type: 'release', game_versions: '["1.20.1"]' },
    first: '3',
  },
  { body: { loaders: ['rift'] }, list: { loaders: '["rift"]' }, first: undefined },
  ...longFilters(),
]

/** Lists so long that the database compares them in another way. */
function longFilters() {
  const many = Array.from({ length: 60 }, (_, i) => `other-${i}`)
  const cases: [Record<string, unknown[]>, string | undefined][] = [
    [{ loaders: [...many, 'quilt'] }, '1'],
    [{ loaders: many }, undefined],
    [{ game_versions: [...many, '1.20'] }, '3'],
    [{ game_versions: many }, undefined],
  ]
  const ofFields: [Record<string, unknown[]>, string | undefined][] = [
    [{ environment: [...many, 1, true, 'unknown'] }, '4'],
    [{ environment: many.map((_, i) => i) }, undefined],
  ]
  return [
    ...cases.map(([body, first]) => ({ body, list: queryOf(body), first })),
    ...ofFields.map(([loader_fields, first]) => ({ body: { loader_fields }, list: queryOf({ loader_fields }), first })),
  ]
}

for (const { body, list, first } of FILTERS) {
  test(`${JSON.stringify(body).slice(0, 100)} leads to version ${first ?? 'none'}, in every form and in the version list`, async () => {
    const expected = first === undefined ? undefined : versions[first]
    const listed = await t.anyone.get(`/v3/project/${project.id}/version`, { query: list })
    assert.equal(listed.statusCode, 200, listed.body)
    assert.equal(listed.json()[0]?.id, expected, 'the version list')
    const one = await t.anyone.post(single(hash), body)
    assert.equal(one.statusCode, expected === undefined ? 404 : 200, one.body)
    assert.equal(one.json().id, expected, 'single')
    const bulk = await t.anyone.post('/v3/version_files/update', { hashes: [hash], ...body })
    assert.equal(bulk.json()[hash]?.id, expected, 'bulk')
    const many = await t.anyone.post('/v3/version_files/update_many', { hashes: [hash], ...body })
    assert.deepEqual(
      (many.json()[hash] ?? []).map(({ id }: Answer) => id),
      expected === undefined ? [] : [expected],
    )
    const individual = await t.anyone.post('/v3/version_files/update_individual', { hashes: [{ hash, ...body }] })
    assert.equal(individual.json()[hash]?.id, expected, 'individual')
    const query = queryOf(body)
    const got = await t.anyone.get(single(hash), { query })
    assert.equal(got.json().id, expected, 'single by GET')
    for (const path of ['/v3/version_files/update', '/v3/version_files/update_many']) {
      const answer = await t.anyone.get(path, { query: { hashes: JSON.stringify([hash]), ...query } })
      assert.equal(answer.statusCode, 200, answer.body)
      assert.equal([answer.json()[hash]].flat()[0]?.id, expected, path)
    }
  })
}

function queryOf(body: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([key, value]) => [key, JSON.stringify(value)]))
}

test('a version with an ordering comes before newer ones, as in the list', async () => {
  const own = await t.make.project()
  const old = await t.make.version({ project: own, date_published: new Date(0), ordering: 7 })
  const file = await t.make.file({ version: old, project: own, bytes: randomBytes(16) })
  await t.make.version({ project: own })
  assert.equal((await t.anyone.post(single(file.sha512), {})).json().id, old.id)
})

test('each file has its own filter; of two entries with one hash the first counts; hashes of hidden projects lead nowhere', async () => {
  const hidden = await t.make.project({ status: 'draft' })
  const version = await t.make.version({ project: hidden })
  const secret = (await t.make.file({ version, project: hidden, bytes: randomBytes(16) })).sha1
  const own = await t.make.project()
  const newest = await t.make.version({ project: own })
  const other = (await t.make.file({ version: newest, project: own, bytes: randomBytes(16) })).sha512
  const hashes = [
    { hash, loaders: ['quilt'] },
    { hash: other, version_types: ['release'] },
    { hash: hash.toUpperCase(), loaders: ['forge'], version_types: ['beta'] },
    { hash: secret },
    { hash, loaders: ['forge'] },
    { hash: '0'.repeat(40) },
  ]
  const send = async (client: typeof t.anyone) => {
    const answer = await client.post('/v3/version_files/update_individual', { hashes })
    assert.equal(answer.statusCode, 200, answer.body)
    return Object.fromEntries(Object.entries(answer.json() as Record<string, Answer>).map(([key, { id }]) => [key, id]))
  }
  const shown = { [hash]: versions['1'], [other]: newest.id, [hash.toUpperCase()]: versions['2'] }
  assert.deepEqual(await send(t.anyone), shown)
  assert.deepEqual(await send(t.as(hidden.owner)), { ...shown, [secret]: version.id })
  assert.equal((await t.anyone.post(single(secret), {})).statusCode, 404)
  assert.deepEqual((await t.anyone.post('/v3/version_files/update', { hashes: [secret] })).json(), {})
})

describe('rejects an invalid filter and names it', () => {
  const bodies: [Record<string, unknown>, string][] = [
    [{ loaders: 'fabric' }, 'loaders'],
    [{ loaders: [1] }, 'loaders.0'],
    [{ version_types: ['stable'] }, 'version_types.0'],
    [{ loader_fields: { game_versions: '1.20' } }, 'loader_fields.game_versions'],
    [{ loader_fields: { game_versions: [['1.20']] } }, 'loader_fields.game_versions.0'],
    [{ game_versions: [null] }, 'game_versions.0'],
    [{ loader_fields: { game_versions: ['1.20'], unheard_of: [] } }, 'loader_fields.unheard_of'],
  ]
  for (const [body, field] of bodies) {
    test(JSON.stringify(body), async () => {
      for (const [path, sent, prefix] of [
        [single(hash), body, ''],
        ['/v3/version_files/update', { hashes: [hash], ...body }, ''],
        ['/v3/version_files/update_many', { hashes: [hash], ...body }, ''],
        ['/v3/version_files/update_individual', { hashes: [{ hash, ...body }] }, 'hashes.0.'],
      ] as const) {
        const answer = await t.anyone.post(path, sent)
        assert.deepEqual([answer.statusCode, answer.json().error], [400, 'validation_error'], answer.body)
        assert.equal(answer.json().details.field, prefix + field)
      }
    })
  }

  const queries: [Record<string, string>, string][] = [
    [{ loaders: 'fabric' }, 'loaders'],
    [{ loaders: '{}' }, 'loaders'],
    [{ version_types: '["stable"]' }, 'version_types'],
    [{ loader_fields: '[]' }, 'loader_fields'],
    [{ loader_fields: '{"a":1}' }, 'loader_fields'],
    [{ loader_fields: '{"unheard_of":["x"]}' }, 'loader_fields.unheard_of'],
    [{ loader_fields: `{"a":${'['.repeat(9000)}${']'.repeat(9000)}}` }, 'loader_fields'],
    [{ loader_fields: '{"a\\u0000":["x"]}' }, 'loader_fields'],
    [{ game_versions: '[1]' }, 'game_versions.0'],
    [{ algorithm: 'md5' }, 'algorithm'],
  ]
  for (const [query, field] of queries) {
    test(JSON.stringify(query).slice(0, 60), async () => {
      const answer = await t.anyone.get(single(hash), { query })
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'invalid_input', field],
      )
    })
  }

  test('an empty body where one is needed is json_error', async () => {
    const answer = await t.anyone.post(single(hash))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'json_error'])
  })
})

test('any number of hashes costs three queries when cold and none when warm', async () => {
  for (const count of [1, 50]) {
    const hashes: string[] = []
    for (let i = 0; i < count; i += 1) {
      const own = await t.make.project()
      const version = await t.make.version({ project: own })
      hashes.push((await t.make.file({ version, project: own, bytes: randomBytes(16) })).sha1)
    }
    for (const [path, body] of [
      ['/v3/version_files/update', { hashes }],
      [
        '/v3/version_files/update_individual',
        { hashes: hashes.map((each, i) => ({ hash: each, loaders: i % 2 ? [] : ['fabric'] })) },
      ],
    ] as const) {
      t.deps.cache.clear()
      const cold = await t.queriesOf(() => t.anyone.post(path, body))
      assert.equal(Object.keys(cold.result.json()).length, count)
      assert.equal(cold.queries.length, 3, path)
      assert.equal((await t.queriesOf(() => t.anyone.post(path, body))).queries.length, 0, path)
    }
  }
})

test('a file can come with many filters, up to a limit per project', async () => {
  const made = await Promise.all(
    [1, 2, 3].map(async () => {
      const own = await t.make.project()
      const version = await t.make.version({ project: own })
      const hashes = await Promise.all(
        Array.from({ length: 33 }, async (_, i) => {
          const bytes = randomBytes(16)
          return (await t.make.file({ version, project: own, bytes, filename: `${i}.jar`, primary: i === 0 })).sha1
        }),
      )
      return { id: version.id, hashes }
    }),
  )
  const entry = (hash: string, name: string) => ({ hash, loaders: ['fabric', name] })
  const ask = (hashes: object[]) => t.anyone.post('/v3/version_files/update_individual', { hashes })
  const entries = made.flatMap(({ hashes }, p) => hashes.slice(0, 32).map((each, i) => entry(each, `${p}-${i}`)))
  const { result: answer, queries } = await t.queriesOf(() => ask(entries))
  assert.equal(answer.statusCode, 200, answer.body)
  for (const { id, hashes } of made) {
    for (const each of hashes.slice(0, 32)) assert.equal(answer.json()[each]?.id, id)
  }
  assert.equal(queries.length, 4)
  const [first] = made
  const refused = await ask((first?.hashes ?? []).map((each, i) => entry(each, `${i}`)))
  assert.deepEqual(
    [refused.statusCode, refused.json().error, refused.json().details.field],
    [400, 'invalid_input', 'hashes'],
  )
  assert.equal((await ask((first?.hashes ?? []).map((each) => entry(each, 'one')))).statusCode, 200)
})

test('1000 hashes are taken, one more is rejected', async () => {
  const hashes = Array.from({ length: 1000 }, (_, i) => createHash('sha1').update(String(i)).digest('hex'))
  assert.deepEqual((await t.anyone.post('/v3/version_files/update', { hashes })).json(), {})
  const more = await t.anyone.post('/v3/version_files/update_individual', {
    hashes: [...hashes, hash].map((each) => ({ hash: each })),
  })
  assert.deepEqual([more.statusCode, more.json().details.field], [400, 'hashes'])
})
