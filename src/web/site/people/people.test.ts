// The lists of users, organizations and collections: filters by type and setup, and totals of everything.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let collection: string
before(async () => {
  t = await testApp()
  owner = await t.make.account()
  const projects = []
  for (const [slug, loaders] of [
    ['lantern', ['fabric']],
    ['boats', ['forge']],
    ['meadow', ['minecraft']],
  ] as const) {
    const project = await t.make.project({ owner, slug, name: slug })
    await t.make.version({ project, loaders: [...loaders], version_number: '1.0' })
    projects.push(project.id)
  }
  const made = await t.as(owner).post('/v3/collection', { name: 'On water', projects: projects.toReversed() })
  collection = `/collection/${made.json().id}`
  await t.searchable()
})
after(() => t?.close())

const shown = async (path: string, who = visitor(t)): Promise<{ body: string; names: string[] }> => {
  const { body, statusCode } = await who.get(path)
  assert.equal(statusCode, 200, path)
  assertValidHtml(body, path)
  const list = /<ol class="hits">[\s\S]*?<\/ol>/.exec(body)?.[0] ?? ''
  return { body, names: [...list.matchAll(/<h2><a href="\/\w+\/([^"]+)"/g)].map(([, name]) => name ?? '') }
}

test('a list is limited to a type, and its totals remain those of everything', async () => {
  const path = `/user/${owner.username}`
  const all = await shown(path)
  assert.deepEqual(all.names.toSorted(), ['boats', 'lantern', 'meadow'])
  const mods = await shown(`${path}?type=mod`)
  assert.deepEqual(mods.names.toSorted(), ['boats', 'lantern'])
  assert.match(mods.body, /3 projects<\/li>/)
  assert.match(mods.body, /<meta name="robots" content="noindex">/)
  assert.ok(mods.body.includes(`href="${path}?type=resourcepack"`))
  assert.doesNotMatch(mods.body, /type=plugin/, 'only types that the user has')
  assert.deepEqual((await shown(`${path}?type=nonsense`)).names.length, 3)
})

test('a list shows what is compatible with the setup, and leads to everything', async () => {
  const chosen = visitor(t)
  await chosen.send('/mods', '/setup', { loader: 'fabric', return: '/mods' })
  for (const path of [`/user/${owner.username}`, collection]) {
    const { names, body } = await shown(path, chosen)
    assert.deepEqual(names.toSorted(), ['lantern', 'meadow'], 'a resource pack runs on every loader')
    assert.match(body, /3 projects<\/li>/)
    assert.match(body, /For Fabric/)
    assert.ok(body.includes(`href="${path}?setup=any"`))
    assert.equal((await shown(`${path}?setup=any`, chosen)).names.length, 3)
  }
  await chosen.send('/mods', '/setup', { loader: 'quilt', return: '/mods' })
  const none = await shown(`/user/${owner.username}?type=mod`, chosen)
  assert.match(none.body, /Show all 3 projects/)
})

test('projects are in the order of their updates, or of their downloads', async () => {
  const path = `/user/${owner.username}`
  const { body, names } = await shown(path)
  assert.deepEqual(names, ['meadow', 'boats', 'lantern'])
  assert.match(body, /sort=downloads">Downloads</)
  assert.equal((await shown(`${path}?sort=downloads`)).names.length, 3)
  assert.doesNotMatch(body, /<span class="by">/, 'the page is that of the author')
})

test('a collection keeps the order of its owner', async () => {
  assert.deepEqual((await shown(collection)).names, ['meadow', 'boats', 'lantern'])
})

test('only the own profile leads to its settings, and it cannot be reported', async () => {
  const path = `/user/${owner.username}`
  assert.match((await shown(path, visitor(t, owner.token))).body, /href="\/account">[\s\S]{0,300}Edit profile/)
  const other = await t.make.account()
  assert.doesNotMatch((await shown(path, visitor(t, other.token))).body, /Edit profile/)
  assert.doesNotMatch((await shown(path)).body, /Edit profile/)
  assert.doesNotMatch((await shown(path, visitor(t, owner.token))).body, /href="\/report\?/)
  for (const person of [visitor(t, other.token), undefined])
    assert.match((await shown(path, person)).body, /href="\/report\?/)
})
