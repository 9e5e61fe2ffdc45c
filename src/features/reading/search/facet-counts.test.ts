import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
before(async () => {
  t = await testApp()
  const first = await t.make.project({ name: 'Countable One', categories: ['magic'] })
  await t.make.version({ project: first, loaders: ['fabric'], game_versions: ['1.20.1'] })
  await t.make.version({ project: first, loaders: ['forge'], game_versions: ['1.19.2'] })
  const second = await t.make.project({ name: 'Countable Two', categories: ['mobs'] })
  await t.make.version({ project: second, loaders: ['fabric'], game_versions: ['1.19.2'] })
  const hidden = await t.make.project({ name: 'Countable Three', categories: ['magic'], status: 'draft' })
  await t.make.version({ project: hidden })
  await t.searchable()
})
after(() => t?.close())

const count = async (query: Record<string, string> = {}) => (await t.anyone.get('/v3/search/facets', { query })).json()

test('counts each value together with the search, on one and the same version', async () => {
  const all = await count({ query: 'countable' })
  assert.deepEqual([all.total_hits, all.categories.magic, all.categories.mobs, all.categories.food], [2, 1, 1, 0])
  assert.deepEqual([all.loaders.fabric, all.loaders.forge, all.project_types.mod], [2, 1, 2])
  assert.deepEqual([all.game_versions['1.20.1'], all.game_versions['1.19.2']], [1, 2])
  assert.deepEqual([all.environment.unknown, all.open_source.true, all.open_source.false], [2, 2, 0])
  const fabric = await count({ query: 'countable', new_filters: 'loaders = fabric' })
  assert.deepEqual([fabric.total_hits, fabric.game_versions['1.20.1'], fabric.game_versions['1.19.2']], [2, 1, 1])
  const older = await count({ facets: '[["versions:1.19.2"],["project_type:mod"]]' })
  assert.deepEqual([older.total_hits, older.loaders.fabric, older.loaders.forge], [2, 1, 1])
})

test('bad filters are rejected with the parameter that is wrong', async () => {
  for (const query of [{ new_filters: 'nothing = 1' }, { facets: '{}' }, { query: 'x'.repeat(1025) }]) {
    const answer = await t.anyone.get('/v3/search/facets', { query })
    assert.equal(answer.statusCode, 400, answer.body)
  }
  const long = await t.anyone.get('/v3/search/facets', { query: { new_filters: ' '.repeat(8193) } })
  assert.equal(long.statusCode, 400)
})
