import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFeed } from 'feedsmith'
import { DAY_MS } from '#lib/time.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()
const owner = await t.make.account({ username: 'maker' })
const fan = await t.make.account({ username: 'fan' })
const organization = await make.organization(owner)
const project = await t.make.project({ owner, slug: 'lamp', name: 'Lamp & <b>Co</b>' })
const group = await t.make.project({ owner, slug: 'group-lantern', name: 'Lantern', organization_id: organization.id })
await t.make.version({ project: group, date_published: new Date(t.deps.now() - 90 * DAY_MS) })
for (let n = 0; n < 60; n += 1) {
  const date_published = new Date(t.deps.now() - (60 - n) * DAY_MS)
  const changelog = `Warmer **light** & ${n}\u0007`
  await t.make.version({ project, version_number: `1.${n}`, date_published, changelog })
}
const version = await t.make.version({ project, version_number: '1.60', changelog: 'With a file', loaders: ['fabric'] })
await t.make.file({ project, version, filename: 'lamp.jar', bytes: Buffer.from('lamp') })
const hidden = await t.make.project({ owner, slug: 'hidden-lamp', status: 'withheld' })
await t.make.version({ project: hidden })
const created = await t.as(owner).post('/v3/collection', { name: 'Bright things', projects: [project.id] })
const collection = created.json().id
assert.equal((await t.as(fan).post(`/v3/project/${project.id}/follow`)).statusCode, 204)
await t.searchable()

const RELEASES = ['/user/maker/releases', '/mod/lamp/versions', '/mods/releases', '/search/releases']
/** Number of releases after the first 50. */
const OLDER: Record<string, number> = { '/mod/lamp/versions': 11, '/user/maker/releases': 11 }
const all = () => [
  ...RELEASES,
  `/organization/${organization.slug}/releases`,
  `/collection/${collection}/releases`,
  '/mods',
  '/search',
  '/user/maker',
  '/user/fan',
  `/organization/${organization.slug}`,
  `/collection/${collection}`,
]

const read = async (path: string) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path} ${answer.body}`)
  return answer
}

/** The rules of RFC 4287 for a feed and its entries. */
function checkAtom(path: string, text: string): void {
  assert.match(
    text,
    /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/,
    path,
  )
  const entries = [...text.matchAll(/<entry>(.*?)<\/entry>/gs)].map(([, entry = '']) => entry)
  const head = text.replace(/<entry>.*?<\/entry>/gs, '')
  for (const part of [head, ...entries]) {
    for (const name of ['id', 'title', 'updated'])
      assert.equal(part.match(new RegExp(`<${name}>`, 'g'))?.length, 1, `${path} ${name}`)
    assert.match(part, /<updated>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z<\/updated>/)
    assert.equal(part.match(/<link rel="alternate"/g)?.length, 1, path)
  }
  for (const entry of entries) assert.match(entry, /<published>\d{4}-[^<]+<\/published>.*<author><name>/s, path)
  const ids = [...text.matchAll(/<id>([^<]*)<\/id>/g)].map(([, id = '']) => id)
  assert.equal(new Set(ids).size, ids.length, path)
  for (const id of ids) assert.match(id, /^urn:depot:[0-9A-Za-z]{16}:(feed|project|version):/, path)
  assert.ok(!text.includes('\u0007'), path)
  assert.doesNotMatch(text, /<b>|hidden-lamp|1970-/, path)
}

test('every feed is valid Atom and JSON Feed', async () => {
  for (const path of all()) {
    const atom = await read(`${path}.atom`)
    checkAtom(path, atom.body)
    assert.equal(atom.headers['cache-control'], 'public, max-age=300')
    const { version, feed_url, items, ...feed } = (await read(`${path}.json`)).json()
    assert.equal(version, 'https://jsonfeed.org/version/1.1')
    assert.equal(feed_url, `https://depot.test${path}.json`)
    for (const key of ['title', 'home_page_url', 'icon', 'language']) assert.ok(feed[key], `${path} ${key}`)
    for (const item of items) {
      assert.ok(typeof item.id === 'string' && (item.content_text ?? item.content_html) !== undefined, path)
      assert.ok(Date.parse(item.date_published) > 0 && Date.parse(item.date_modified) > 0)
    }
  }
})

test('an independent reader finds the same entries in both formats', async () => {
  for (const path of all()) {
    const [atom, json] = [parseFeed((await read(`${path}.atom`)).body), parseFeed((await read(`${path}.json`)).body)]
    assert.ok(atom.format === 'atom' && json.format === 'json', path)
    const entries = (atom.feed.entries ?? []).map(({ id, title, published, updated, content, links }) => ({
      id,
      title: typeof title === 'string' ? title : title?.value,
      dates: [published, updated],
      has_content: content !== undefined,
      files: links?.filter((link) => link.rel === 'enclosure').map((link) => [link.href, link.length]) ?? [],
    }))
    const items = (json.feed.items ?? []).map((item) => ({
      id: item.id,
      title: item.title,
      dates: [item.date_published, item.date_modified],
      has_content: item.content_html !== undefined,
      files: item.attachments?.map((file) => [file.url, file.size_in_bytes]) ?? [],
    }))
    assert.deepEqual(entries, items, path)
    assert.equal(
      atom.feed.links?.find((link) => link.rel === 'next')?.href?.replace('.atom', '.json'),
      json.feed.next_url,
    )
  }
})

test('an entry of a release has its changelog, its tags and its file', async () => {
  for (const path of RELEASES) {
    const [item] = (await read(`${path}.json`)).json().items
    assert.equal(item.title, 'Lamp & <b>Co</b> 1.60')
    assert.match(item.content_html, /With a file/)
    assert.ok(item.tags.includes('fabric') && item.tags.includes('1.20.1'), JSON.stringify(item.tags))
    assert.deepEqual([item.authors[0].name, item.attachments[0].title], ['maker', 'lamp.jar'])
    assert.deepEqual(
      [item.attachments[0].size_in_bytes, item.attachments[0].mime_type],
      [4, 'application/java-archive'],
    )
    const { body } = await read(`${path}.atom`)
    assert.match(
      body,
      /<link rel="enclosure" type="application\/java-archive" length="4" title="lamp\.jar" href="https:/,
    )
    assert.match(body, /<category term="fabric"\/>/)
    assert.match(body, /<content type="html">[^<]*&lt;strong&gt;light&lt;\/strong&gt; &amp;amp; 59/)
  }
})

test('older entries are on further pages, until the last', async () => {
  for (const path of RELEASES) {
    const first = (await read(`${path}.json`)).json()
    assert.equal(first.items.length, 50)
    const second = (await read(first.next_url.replace('https://depot.test', ''))).json()
    assert.equal(second.items.length, OLDER[path] ?? 12, path)
    assert.equal(second.next_url, undefined)
    const ids = [...first.items, ...second.items].map(({ id }: { id: string }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.match(
      (await read(`${path}.atom`)).body,
      /<link rel="next" type="application\/atom\+xml" href="[^"]*page=2"\/>/,
    )
  }
  for (const page of ['0', '-1', 'x', '9999']) await read(`/user/maker/releases.json?page=${page}`)
})

test('a search of releases takes the query of its page', async () => {
  assert.equal((await read('/search/releases.json?q=lamp')).json().items.length, 50)
  assert.equal((await read('/search/releases.json?q=nothing-like-this')).json().items.length, 0)
  assert.equal((await read('/mods/releases.json?l=forge')).json().items.length, 0)
  checkAtom('empty', (await read('/search/releases.atom?q=nothing-like-this')).body)
})

test('a program that has a feed gets 304, and IDs do not depend on the address', async () => {
  for (const path of all()) {
    const { etag, 'last-modified': modified } = (await read(`${path}.atom`)).headers
    for (const headers of [{ 'if-none-match': String(etag) }, { 'if-modified-since': String(modified) }]) {
      const again = await t.anyone.get(`${path}.atom`, { headers })
      assert.deepEqual([again.statusCode, again.body], [304, ''], path)
    }
  }
  const changed = await t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Lamp & <b>Co</b>', summary: 'Another' })
  assert.equal(changed.statusCode, 204)
})

const create = (person: Person, of = person) => t.as(person).post(`/v3/user/${of.id}/feed`)

test('the feed of followed projects has a secret address, which can be renewed and deleted', async () => {
  const created = await create(fan)
  assert.equal(created.statusCode, 201, created.body)
  const { atom, json } = created.json()
  assert.match(atom, /^https:\/\/depot\.test\/feed\/dph_[0-9A-Za-z]{60}\.atom$/)
  const path = (address: string) => address.replace('https://depot.test', '')
  const answer = await read(path(json))
  assert.equal(answer.json().items[0].title, 'Lamp & <b>Co</b> 1.60')
  const { 'x-robots-tag': robots, 'referrer-policy': referrer, 'cache-control': cache } = answer.headers
  assert.deepEqual([robots, referrer, cache], ['noindex', 'no-referrer', 'private, no-cache'])
  checkAtom('follows', (await read(path(atom))).body)

  const renewed = (await create(fan)).json()
  assert.equal((await t.anyone.get(path(atom))).statusCode, 404)
  await read(path(renewed.atom))
  assert.equal((await t.as(fan).delete(`/v3/user/${fan.username}/feed`)).statusCode, 204)
  assert.equal((await t.anyone.get(path(renewed.atom))).statusCode, 404)
  assert.equal((await t.as(fan).delete(`/v3/user/${fan.id}/feed`)).statusCode, 204, 'again')
})

test('only the user can create the address, and it shows only what everyone can see', async () => {
  assertError(await create(owner, fan), 403, 'unauthorized')
  assert.equal((await t.anyone.post(`/v3/user/${fan.id}/feed`)).statusCode, 401)
  assertError(await t.as(fan).post('/v3/user/nobody-here/feed'), 404, 'not_found')
  const own = await t.make.project({ owner: fan, slug: 'secret-lamp' })
  await t.make.version({ project: own })
  assert.equal((await t.as(fan).post(`/v3/project/${own.id}/follow`)).statusCode, 204)
  await t.deps.db.updateTable('project').set({ status: 'private' }).where('id', '=', own.id).execute()
  t.deps.cache.clear()
  const { json } = (await create(fan)).json()
  const { body } = await t.as(fan).get(json.replace('https://depot.test', ''))
  assert.doesNotMatch(body, /secret-lamp/)
  assert.match(body, /lamp\.jar/)
})
