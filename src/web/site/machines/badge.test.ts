// Badges of projects for other sites, and the page of the settings that shows their code.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'maker' })
  project = await t.make.project({ owner, slug: 'lamp', name: 'Lamp' })
  const licence = { license_id: 'LicenseRef-All-Rights-Reserved' }
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, licence)).statusCode, 204)
  await t.make.version({ project, version_number: '1.0<b>', loaders: ['fabric', 'neoforge'] })
  await t.make.project({ owner, slug: 'hidden-lamp', name: 'Hidden', status: 'draft' })
})
after(() => t?.close())

const titleOf = (svg: string) => /<title>([^<]*)<\/title>/.exec(svg)?.[1]

test('each badge names its fact, can be shown by other sites and is cached for 5 minutes', async () => {
  const titles: Record<string, RegExp> = {
    downloads: /^downloads: 0$/,
    version: /^version: 1\.0&lt;b&gt;$/,
    'game-versions': /^game versions: \d\S*$/,
    loaders: /^loaders: Fabric \| NeoForge$/,
    licence: /^licence: All Rights Reserved$/,
  }
  for (const [name, title] of Object.entries(titles))
    for (const style of ['', '?style=flat', '?style=flat-square']) {
      const badge = await t.anyone.get(`/badge/mod/lamp/${name}.svg${style}`)
      assert.equal(badge.statusCode, 200, badge.body)
      assert.match(titleOf(badge.body) ?? '', title)
      assert.equal(badge.headers['content-type'], 'image/svg+xml; charset=utf-8')
      assert.equal(badge.headers['cache-control'], 'public, max-age=300')
      assert.equal(badge.headers['cross-origin-resource-policy'], 'cross-origin')
      assert.match(String(badge.headers['content-security-policy']), /^default-src 'none'/)
      const { width = 0, height } = await sharp(badge.rawPayload).metadata()
      assert.ok(width > 60 && width < 300 && height === 20)
    }
})

test('a badge is read from caches, and shows a change', async () => {
  const path = '/badge/mod/lamp/version.svg'
  const first = await t.anyone.get(path)
  const { result, queries } = await t.queriesOf(() => t.anyone.get(path))
  assert.deepEqual([result.body, queries], [first.body, []])
  const known = await t.anyone.get(path, { headers: { 'if-none-match': String(first.headers.etag) } })
  assert.deepEqual([known.statusCode, known.body], [304, ''])
  await t.as(owner).patch(`/v3/project/${project.id}`, { license_id: 'MIT' })
  assert.equal(titleOf((await t.anyone.get('/badge/mod/lamp/licence.svg')).body), 'licence: MIT')
})

test('hidden projects and unknown badges have a badge with 404, also for members', async () => {
  for (const path of ['mod/hidden-lamp/version', 'mod/none/version', 'mod/lamp/stars', 'mods/lamp/version'])
    for (const someone of [visitor(t), visitor(t, owner.token)]) {
      const badge = await someone.get(`/badge/${path}.svg`)
      assert.equal(badge.statusCode, 404, path)
      assert.match(titleOf(badge.body) ?? '', /: not found$/)
    }
  const wrong = await t.anyone.get('/badge/mod/lamp/version.svg?style=round')
  assert.equal(wrong.statusCode, 400)
  assert.match(wrong.body, /style must be flat or flat-square/)
})

test('a badge follows its project to a new slug', async () => {
  const renamed = await t.make.project({ owner, slug: 'old-lamp', name: 'Renamed' })
  await t.as(owner).patch(`/v3/project/${renamed.id}`, { slug: 'new-lamp' })
  const moved = await t.anyone.get('/badge/mod/old-lamp/downloads.svg?style=flat-square')
  assert.equal(moved.statusCode, 301)
  assert.equal(moved.headers.location, '/badge/mod/new-lamp/downloads.svg?style=flat-square')
})

test('a badge under another type leads to that of the project', async () => {
  const other = await t.anyone.get('/badge/plugin/lamp/version.svg?style=flat')
  assert.deepEqual([other.statusCode, other.headers.location], [301, '/badge/mod/lamp/version.svg?style=flat'])
  assert.equal((await t.anyone.get('/badge/project/lamp/version.svg')).statusCode, 200)
})

test('the settings show each badge with its code', async () => {
  const page = await visitor(t, owner.token).get('/mod/lamp/settings/badges?style=flat-square')
  const image = 'https://depot.test/badge/mod/lamp/version.svg?style=flat-square'
  assertSays(page, 200, `[![version](${image})](https://depot.test/mod/lamp)`)
  assertSays(page, 200, `<a href="https://depot.test/mod/lamp"><img src="${image}" alt="version"></a>`)
  const hidden = await visitor(t, owner.token).get('/project/hidden-lamp/settings/badges')
  assertSays(hidden, 200, 'until everyone can see the project')
  assert.equal((await visitor(t).get('/mod/lamp/settings/badges')).statusCode, 303)
})
