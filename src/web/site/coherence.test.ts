// Pages and the API agree: no page is older than a completed write, even with concurrent reads.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'writer' })
  project = await t.make.project({ owner, slug: 'changing', name: 'State 0' })
  await t.make.version({ project })
})
after(() => t?.close())

/** Loads a page as a browser revalidates it, with the ETag of its copy. */
async function load(path: string, known?: string) {
  const headers = {
    accept: 'text/html',
    'user-agent': 'Mozilla/5.0',
    'x-ratelimit-key': BYPASS_KEY,
    ...(known === undefined ? {} : { 'if-none-match': known }),
  }
  return t.inject({ method: 'GET', url: path, headers })
}

const PATHS = ['/mod/changing', '/mod/changing/versions', '/user/writer']

test('after each write every page that shows it is new, also for those who ask with a tag', async () => {
  const tags = new Map<string, string>()
  for (let state = 1; state <= 12; state += 1) {
    const name = `State ${state} of many`
    // Readers that began before the write may get either state, and must leave nothing old behind.
    const racing = PATHS.flatMap((path) => [load(path), load(path, tags.get(path))])
    const written = await t.as(owner).patch(`/v3/project/${project.id}`, { name, summary: `Summary of ${name}` })
    assert.equal(written.statusCode, 204, written.body)
    const fresh = await Promise.all(PATHS.map((path) => load(path, tags.get(path))))
    for (const [index, answer] of fresh.entries()) {
      const path = PATHS[index] ?? ''
      assert.equal(answer.statusCode, 200, `${path} ${state}`)
      assert.ok(answer.body.includes(name), `${path} shows ${name}`)
      const tag = String(answer.headers.etag)
      assert.notEqual(tag, tags.get(path))
      tags.set(path, tag)
      assert.equal((await load(path, tag)).statusCode, 304, path)
    }
    for (const answer of await Promise.all(racing)) assert.ok([200, 304].includes(answer.statusCode))
  }
})

test('a hidden project has no page after the response, with or without an ETag, until it is public again', async () => {
  for (const [status, expected] of [
    ['private', 404],
    ['approved', 200],
  ] as const) {
    const known = (await load('/mod/changing')).headers.etag
    await t.deps.db.updateTable('project').set({ requested_status: 'approved' }).where('id', '=', project.id).execute()
    const moderator = await t.make.account({ role: 'admin' })
    const racing = PATHS.map((path) => load(path))
    const written = await t.as(moderator).patch(`/v3/project/${project.id}`, { status })
    assert.equal(written.statusCode, 204, written.body)
    for (const path of [
      '/mod/changing',
      '/mod/changing/versions',
      '/mod/changing/versions.atom',
      `/card/${project.id}.png`,
    ]) {
      const tagged = await load(path, known === undefined ? undefined : String(known))
      assert.deepEqual([tagged.statusCode, (await load(path)).statusCode], [expected, expected], path)
    }
    // A project that appears on a profile can be a second late. One that is hidden disappears immediately.
    if (expected === 200) t.advance(1000)
    assert.equal((await load('/user/writer')).body.includes('State 12 of many'), expected === 200)
    assert.equal((await t.anyone.get('/v3/project/changing')).statusCode, expected)
    await Promise.all(racing)
  }
})

test('a cached page equals a new page after each kind of write', async () => {
  const maker = await t.make.account({ username: 'maker' })
  const stranger = await t.make.account()
  const shown = await t.make.project({ owner: maker, slug: 'shown', name: 'Shown' })
  const needed = await t.make.project({ owner: maker, slug: 'needed', name: 'Needed one' })
  const version = await t.make.version({ project: shown, version_number: '1.0.0', changelog: 'First words' })
  await t.make.file({ version, project: shown, bytes: Buffer.from('shown'), filename: 'shown.jar' })
  const other = await t.make.version({ project: needed, version_number: '7.7.7' })
  await t.make.file({ version: other, project: needed, bytes: Buffer.from('needed'), filename: 'needed.jar' })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: version.id, project_id: needed.id, dependency_type: 'required' })
    .execute()
  const admin = await t.make.account({ role: 'admin' })
  const [page, versions, one, changelog] = [
    '/mod/shown',
    '/mod/shown/versions',
    '/mod/shown/version/1.0.0',
    '/mod/shown/changelog',
  ]
  const pages = [page, versions, one, changelog, '/mod/shown/gallery']
  const team = (await t.anyone.get(`/v3/project/${shown.id}`)).json().team_id as string
  const writes: [does: string, act: () => Promise<{ statusCode: number; body: string }>, changes: string[]][] = [
    ['a summary', () => t.as(maker).patch(`/v3/project/${shown.id}`, { summary: 'Other words' }), [page]],
    ['a version', () => t.as(maker).patch(`/v3/version/${version.id}`, { name: 'A name' }), [versions, one]],
    ['a changelog', () => t.as(maker).patch(`/v3/version/${version.id}`, { changelog: 'Next' }), [one, changelog]],
    ['a follower', () => t.as(stranger).post(`/v3/project/${shown.id}/follow`), [page]],
    ['a role', () => t.as(maker).patch(`/v3/team/${team}/members/${maker.id}`, { role: 'Smith' }), [page]],
    ['a username', () => t.as(maker).patch(`/v3/user/${maker.id}`, { username: 'renamed' }), [page]],
    ['what is needed', () => t.as(maker).patch(`/v3/project/${needed.id}`, { name: 'Else' }), [page]],
    ['its file', () => t.as(maker).patch(`/v3/version/${other.id}`, { version_number: '8.8.8' }), [page]],
    ['its absence', () => t.as(admin).patch(`/v3/project/${needed.id}`, { status: 'private' }), [page]],
    ['the instance', () => t.as(admin).patch('/_internal/admin/settings', { announcement: 'Read this' }), pages],
    ['the last version', () => t.as(maker).delete(`/v3/version/${version.id}`), [page, versions, changelog]],
  ]
  const cookie = '__Host-depot-setup=1.20.1|fabric'
  const read = async (path: string, more: Record<string, string> = {}) => {
    const headers = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'x-ratelimit-key': BYPASS_KEY, ...more }
    const answer = await t.inject({ method: 'GET', url: path, headers })
    // The number of projects can be a minute old; clearing the cache counts them again.
    return answer.statusCode === 200 ? answer.body.replace(/placeholder="[^"]*"/, '') : String(answer.statusCode)
  }
  const readAll = async () => {
    const texts = new Map<string, string>()
    for (const path of pages) texts.set(path, await read(path))
    return { texts, own: await read(page, { cookie }) }
  }
  for (const [does, act, changes] of writes) {
    const before = await readAll()
    const written = await act()
    assert.ok(written.statusCode < 300, `${does}: ${written.body}`)
    const kept = await readAll()
    for (const path of changes) assert.notEqual(kept.texts.get(path), before.texts.get(path), `${does} ${path}`)
    t.deps.cache.clear()
    assert.deepEqual(kept, await readAll(), does)
  }
})

test('a cached page needs no query, and is sent in its compressed form with the ETag of that form', async () => {
  const headers = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'x-ratelimit-key': BYPASS_KEY }
  const get = (more: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    t.inject({ method, url: '/mod/changing', headers: { ...headers, ...more } })
  const plain = await get()
  const hits = () => t.deps.cache.stats().kinds['page']?.hits ?? 0
  const before = hits()
  const loads = t.deps.cache.stats().kinds['page']?.loads
  for (const [coding, unpack] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    for (const _ of [1, 2]) {
      const answer = await get({ 'accept-encoding': `${coding}, identity;q=0.5` })
      assert.equal(answer.headers['content-encoding'], coding)
      assert.equal(answer.headers.etag, `${String(plain.headers.etag).slice(0, -1)}-${coding}"`)
      assert.match(String(answer.headers.vary), /accept-encoding/)
      assert.equal(unpack(answer.rawPayload).toString(), plain.body)
      const again = await get({ 'accept-encoding': coding, 'if-none-match': String(answer.headers.etag) })
      assert.deepEqual([again.statusCode, again.body], [304, ''])
    }
  }
  const head = await get({}, 'HEAD')
  assert.deepEqual([head.statusCode, head.body, head.headers.etag], [200, '', plain.headers.etag])
  assert.equal(head.headers['content-length'], String(plain.rawPayload.length))
  assert.equal(hits() - before, 9)
  assert.equal(t.deps.cache.stats().kinds['page']?.loads, loads)
})
