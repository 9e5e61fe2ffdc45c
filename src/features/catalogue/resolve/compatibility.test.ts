// The game versions and loaders that fit several projects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
before(async () => {
  t = await testApp()
  for (const [slug, ...versions] of [
    ['lantern', ['fabric', '1.20.1', '1.20.4'], ['forge', '1.19.2', '1.20.1']],
    ['torch', ['fabric', '1.20.4', '1.21'], ['forge', '1.20.1']],
    ['paint', ['minecraft', '1.20.1', '1.20.4']],
    ['old', ['fabric', '1.16.5']],
    ['pack-file', ['datapack', '1.20.4']],
  ] as [string, ...[string, ...string[]][]][]) {
    const project = await t.make.project({ slug, name: `The ${slug}` })
    for (const [loader, ...game_versions] of versions)
      await t.make.version({ project, loaders: [loader], game_versions })
  }
})
after(() => t?.close())

const ask = (...names: string[]) =>
  t.anyone.get(`/v3/projects/compatibility?ids=${encodeURIComponent(JSON.stringify(names))}`)
const setupsOf = async (...names: string[]): Promise<string[]> =>
  (await ask(...names))
    .json()
    .setups.map(({ game_version, loader }: Record<string, string>) => `${game_version} ${loader}`)

test('finds the setups that fit all projects, the newest first', async () => {
  assert.deepEqual(await setupsOf('lantern', 'torch'), ['1.20.4 fabric', '1.20.1 forge'])
  assert.deepEqual(await setupsOf('lantern', 'torch', 'paint'), ['1.20.4 fabric', '1.20.1 forge'])
  assert.deepEqual(await setupsOf('lantern', 'pack-file'), ['1.20.4 fabric'])
  assert.deepEqual(await setupsOf('paint'), ['1.20.4 minecraft', '1.20.1 minecraft'])
})

test('without a common setup, names those that fit the most, with the projects that they lack', async () => {
  const { setups, nearest } = (await ask('lantern', 'torch', 'old')).json()
  assert.deepEqual(setups, [])
  const old = (await t.anyone.get('/v3/project/old')).json().id
  assert.deepEqual(nearest[0], { game_version: '1.20.4', loader: 'fabric', missing: [old] })
  assert.equal(nearest.length, 5)
})

test('hidden and unknown projects are errors that name their place', async () => {
  const draft = await t.make.project({ slug: 'draft', status: 'draft' })
  for (const name of ['draft', draft.id, 'nowhere'])
    assertError(await ask('lantern', name), 400, 'invalid_input', 'ids.1')
  assertError(await ask(), 400, 'invalid_input', 'ids')
  assertError(await ask(...Array.from({ length: 201 }, (_, n) => `p${n}`)), 400, 'invalid_input', 'ids')
})

test('the page of a pack links to the setups', async () => {
  const page = await visitor(t).get('/pack?projects=lantern,torch&loader=fabric&game_version=1.21')
  assertSays(page, 200, 'These setups fit all projects')
  assert.match(page.body, /href="\/pack\?projects=lantern%2Ctorch&amp;loader=fabric&amp;game_version=1\.20\.4"/)
  assertSays(await visitor(t).get('/pack?projects=lantern,old'), 200, 'without The old')
  assert.doesNotMatch((await visitor(t).get('/pack?projects=lantern')).body, /fit all projects/)
})
