// Files of the site for programs: feeds, site map, search description, previews.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'maker' })
  project = await t.make.project({ owner, slug: 'lamp', name: 'Lamp & <b>Co</b>' })
  await t.make.version({ project, version_number: '1.0', changelog: 'It <i>began</i>.\u0007' })
  await t.make.project({ owner, slug: 'hidden-lamp', name: 'Hidden', status: 'draft' })
  await t.searchable()
})
after(() => t?.close())

test('each list has feeds that are well-formed for any user text and contain nothing hidden', async () => {
  for (const path of ['/mods', '/search', '/mod/lamp/versions', '/user/maker']) {
    const atom = await t.anyone.get(`${path}.atom`)
    assert.equal(atom.statusCode, 200, path)
    assert.match(String(atom.headers['content-type']), /^application\/atom\+xml/)
    assert.match(atom.body, /Lamp &amp; &lt;b&gt;Co&lt;\/b&gt;/)
    assert.doesNotMatch(atom.body, /Hidden|<b>/)
    assert.ok(!atom.body.includes('\u0007'), path)
    const json = await t.anyone.get(`${path}.json`)
    assert.equal(json.json().items.length, 1, path)
    assert.equal(json.json().version, 'https://jsonfeed.org/version/1.1')
  }
  for (const path of [
    '/user/nobody.atom',
    '/organization/none.json',
    '/collection/none.atom',
    '/mod/none/versions.atom',
    '/mod/hidden-lamp/versions.atom',
  ])
    assert.equal((await t.anyone.get(path)).statusCode, 404, path)
  const own = await visitor(t, owner.token).get('/mod/hidden-lamp/versions.json')
  assert.deepEqual([own.statusCode, own.headers['cache-control']], [200, 'private, no-cache'])
})

test('the site map lists all public pages, in parts', async () => {
  const index = await t.anyone.get('/sitemap.xml')
  assert.match(index.body, /https:\/\/depot\.test\/sitemap-1\.xml/)
  const part = await t.anyone.get('/sitemap-1.xml')
  assert.match(part.body, /<loc>https:\/\/depot\.test\/mod\/lamp<\/loc>/)
  assert.doesNotMatch(part.body, /hidden/)
  for (const number of ['0', '2', 'x', '99999'])
    assert.equal((await t.anyone.get(`/sitemap-${number}.xml`)).statusCode, 404)
  assert.match((await t.anyone.get('/robots.txt')).body, /^Sitemap: https:\/\/depot\.test\/sitemap\.xml$/m)
  assert.match((await t.anyone.get('/opensearch.xml')).body, /search\?q=\{searchTerms\}/)
})

test('a project can be embedded by its address, and says what it is to machines', async () => {
  const embedded = await t.anyone.get('/oembed', { query: { url: 'https://depot.test/mod/lamp' } })
  assert.deepEqual([embedded.json().type, embedded.json().title], ['link', 'Lamp & <b>Co</b>'])
  for (const url of [
    '',
    'x',
    'https://elsewhere.test/mod/lamp',
    'https://depot.test/mod/hidden-lamp',
    'https://depot.test/mod/%zz',
  ])
    assert.ok([400, 404].includes((await t.anyone.get('/oembed', { query: { url } })).statusCode), url)
  const page = (await visitor(t).get('/mod/lamp')).body
  assert.match(page, /<link rel="canonical" href="https:\/\/depot\.test\/mod\/lamp">/)
  assert.match(page, /"@type":"SoftwareApplication"/)
  assert.match(page, /property="og:title"/)
  assert.match((await visitor(t).get('/mods?c=magic')).body, /name="robots" content="noindex"/)
})

test('each public project has a card, which is drawn once and again after a change of its content', async () => {
  const head = (await visitor(t).get('/mod/lamp')).body
  const path = `/card/${project.id}.png`
  assert.ok(head.includes(`<meta property="og:image" content="https://depot.test${path}">`))
  assert.match(head, /property="og:image:width" content="1200"/)
  const icon = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#d22' } })
    .png()
    .toBuffer()
  const [first, together] = await Promise.all([t.anyone.get(path), t.anyone.get(path)])
  assert.equal(first.headers['content-type'], 'image/png')
  assert.equal(first.headers['cache-control'], 'public, max-age=0, must-revalidate')
  assert.deepEqual(together.rawPayload, first.rawPayload)
  assert.equal((await sharp(first.rawPayload).metadata()).width, 1200)
  const asked = { headers: { 'if-none-match': String(first.headers.etag) } }
  assert.equal((await t.anyone.get(path, asked)).statusCode, 304)
  const sent = await t
    .as(owner)
    .patch(`/v3/project/${project.id}/icon?ext=png`, icon, { headers: { 'content-type': 'image/png' } })
  assert.equal(sent.statusCode, 204, sent.body)
  const second = await t.anyone.get(path, asked)
  assert.equal(second.statusCode, 200)
  assert.notDeepEqual(second.rawPayload, first.rawPayload)
})

test('a hidden project has no card, and a card has only one URL', async () => {
  const { id } = (await t.as(owner).get('/v3/project/hidden-lamp')).json()
  for (const path of [`/card/${id}.png`, '/card/lamp.png', '/card/AAAAAAAA.png', '/card/..%2Fx.png', '/card/x.jpg'])
    for (const someone of [visitor(t), visitor(t, owner.token)]) assert.equal((await someone.get(path)).statusCode, 404)
  assert.doesNotMatch((await visitor(t, owner.token).get('/project/hidden-lamp')).body, /og:image/)
})

test('heads announce both formats of each feed, which answer', async () => {
  for (const path of ['/', '/mods?c=magic', '/mod/lamp', '/user/maker']) {
    const { body } = await visitor(t).get(path)
    const feeds = [...body.matchAll(/<link rel="alternate" type="application\/(\w+)\+\w+" href="([^"]+)"/g)]
    assert.deepEqual(
      feeds.map(([, type]) => type),
      ['atom', 'feed'],
      path,
    )
    for (const [, , href = ''] of feeds) {
      const { pathname, search } = new URL(href.replaceAll('&amp;', '&'))
      assert.equal((await t.anyone.get(`${pathname}${search}`)).statusCode, 200, href)
    }
  }
})
