// Cached pages for several readers: each gets the parts that belong to them, nobody gets those of others, and what is
// hidden disappears for everyone immediately.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let user: MadeProject
let shared: MadeProject
let collection: string
let pages: string[]
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  project = await made('lantern', 'Lantern of all')
  user = await made('lamp', 'Lamp that needs it')
  shared = await made('torch', 'Torch of the guild')
  const { id } = await t.make.version({ project: user, version_number: '2.0' })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: id, project_id: project.id, dependency_type: 'required' })
    .execute()
  const organization = await t
    .as(owner)
    .post('/v3/organization', { name: 'Guild', slug: 'guild', description: 'Makers' })
  const added = await t.as(owner).post(`/v3/organization/${organization.json().id}/projects`, { project_id: shared.id })
  assert.ok(added.statusCode < 300, added.body)
  const answer = await t.as(owner).post('/v3/collection', { name: 'Lights', projects: [project.id, user.id] })
  collection = `/collection/${answer.json().id}`
  pages = ['/', '/mods', '/search?q=la', '/mod/lantern', '/mod/lantern/used-by', '/mod/lantern/statistics']
  pages.push('/mod/lantern/versions', '/user/keeper', '/organization/guild', collection)
  await t.searchable()
})
after(() => t?.close())

async function made(slug: string, name: string): Promise<MadeProject> {
  const one = await t.make.project({ owner, slug, name })
  await t.make.version({ project: one, version_number: '1.0' })
  return one
}

async function reader(username: string): Promise<Visitor> {
  return visitor(t, (await t.make.account({ username })).token)
}

const tokenOf = (answer: Awaited<ReturnType<Visitor['get']>>): string =>
  hiddenFields(answer, '/account/sign-out')['_csrf'] ?? ''

test('two readers and a visitor at the same time each get their own page', async () => {
  const [ada, bob, anyone] = [await reader('ada-reads'), await reader('bob-reads'), visitor(t)]
  for (const cached of [false, true, true])
    for (const path of pages) {
      if (!cached) t.deps.cache.clear()
      const crowd = [ada, bob, anyone, bob, ada, anyone, ada, bob]
      const answers = await Promise.all(crowd.map((who) => who.get(path)))
      for (const [index, answer] of answers.entries()) {
        const who = crowd[index]
        assert.equal(answer.statusCode, 200, path)
        const isPrivate = /private/.test(String(answer.headers['cache-control']))
        assert.equal(isPrivate, who !== anyone, path)
        assert.equal(answer.body.includes('ada-reads'), who === ada, path)
        assert.equal(answer.body.includes('bob-reads'), who === bob, path)
        assert.equal(answer.body.includes('name="_csrf"'), who !== anyone, path)
        assert.ok(!answer.body.includes('\0'), path)
        assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'/)
        assert.match(String(answer.headers['x-ratelimit-limit']), /^\d+$/)
      }
      if (cached) for (const answer of answers.slice(0, 3)) assertValidHtml(answer.body, path)
    }
})

test('the token of a cached page works for its reader, and for nobody else', async () => {
  const [ada, bob] = [await reader('ada-follows'), await reader('bob-follows')]
  const [own, other] = await Promise.all([ada.get('/mod/lantern'), bob.get('/mod/lantern')])
  const form = (token: string) => ({ _csrf: token })
  assert.equal((await ada.post('/mod/lantern/follow', form(tokenOf(other)))).statusCode, 403)
  assert.equal((await ada.post('/mod/lantern/follow', form(tokenOf(own)))).statusCode, 303)
  const state = async (who: Visitor) => (await who.get('/mod/lantern')).body
  assert.match(await state(ada), /action="\/mod\/lantern\/unfollow"/)
  for (const body of [await state(bob), await state(visitor(t))]) assert.doesNotMatch(body, /unfollow/)
  assert.match((await ada.get('/')).body, /Lantern of all<\/bdi> <bdi class="of">1\.0/)
  assert.doesNotMatch((await bob.get('/')).body, /class="of">1\.0<\/bdi><\/a><span class="soft">[\s\S]*by-rising/)
  assert.equal((await ada.post('/mod/lantern/unfollow', form(tokenOf(own)))).statusCode, 303)
  assert.doesNotMatch(await state(ada), /unfollow/)
})

test('a reader gets the page compressed, as others get it', async () => {
  const { token } = await t.make.account({ username: 'narrow-line' })
  const load = (encoding?: string) =>
    t.inject({
      method: 'GET',
      url: '/mod/lantern',
      headers: {
        accept: 'text/html',
        'user-agent': 'Mozilla/5.0',
        'x-ratelimit-key': BYPASS_KEY,
        cookie: `__Host-depot-session=${token}; __Host-depot-csrf=a-secret-of-the-browser`,
        ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
      },
    })
  const withoutToken = (text: string) => text.replaceAll(/(name="_csrf" value=")[^"]*/g, '$1')
  const plain = await load()
  for (const encoding of ['gzip, deflate, br, zstd', 'gzip']) {
    const packed = await load(encoding)
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.match(String(packed.headers.vary), /accept-encoding/)
    assert.match(String(packed.headers.etag), /-gzip"$/)
    assert.ok(packed.rawPayload.length < plain.rawPayload.length / 3)
    assert.equal(withoutToken(gunzipSync(packed.rawPayload).toString()), withoutToken(plain.body))
  }
  assert.equal((await load('gzip;q=0')).headers['content-encoding'], undefined)
})

test('members, owners and moderators see more on a cached page, and leave nothing of it behind', async () => {
  const stranger = await reader('stranger')
  const insiders = [visitor(t, owner.token), visitor(t, (await t.make.account({ role: 'moderator' })).token)]
  const draft = await t.make.project({ owner, slug: 'draft', name: 'Secret draft', status: 'draft' })
  await t.make.version({ project: draft })
  const changes = { '/organization/guild': '/organization/guild/settings', [collection]: `${collection}/edit` }
  for (const who of [stranger, ...insiders, visitor(t), ...insiders, stranger, visitor(t)]) {
    const isInsider = insiders.includes(who)
    assert.equal((await who.get(`/mod/${draft.slug}`)).statusCode, isInsider ? 200 : 404)
    assert.equal((await who.get('/user/keeper')).body.includes('Secret draft'), isInsider)
    for (const [path, link] of Object.entries(changes))
      assert.equal((await who.get(path)).body.includes(`href="${link}"`), isInsider, path)
  }
  const own = await reader('own-profile')
  assert.match((await own.get('/user/own-profile')).body, /href="\/account"[^>]*>.*Edit/)
  assert.doesNotMatch((await stranger.get('/user/own-profile')).body, /Edit/)
})

test('a cached page needs no statement, also for a signed-in reader', async () => {
  const who = await reader('calm-reader')
  t.freeze()
  for (const path of pages) {
    await who.get(path)
    await visitor(t).get(path)
    const { queries } = await t.queriesOf(async () => [await who.get(path), await visitor(t).get(path)])
    assert.deepEqual(queries, [], path)
  }
  t.thaw()
})

test('cached pages show each reader their own number of unread notifications', async () => {
  const [ada, bob] = [await t.make.account({ username: 'ada-waits' }), await t.make.account({ username: 'bob-waits' })]
  const [adas, bobs, anyone] = [visitor(t, ada.token), visitor(t, bob.token), visitor(t)]
  const check = async (of: Visitor, text: string): Promise<void> => {
    for (const path of [...pages, '/dashboard/notifications', '/account']) assertSays(await of.get(path), 200, text)
  }
  await check(adas, 'No unread notifications')
  await t.as(bob).post('/v3/project/lantern/follow')
  await t.as(ada).post('/v3/project/lantern/follow')
  const team = await t.as(owner).post(`/v3/team/${project.teamId}/members`, { user_id: ada.id })
  assert.ok(team.statusCode < 300, team.body)
  await check(adas, 'One unread notification')
  await check(bobs, 'No unread notifications')
  for (const path of pages) assert.doesNotMatch((await anyone.get(path)).body, /unread/, path)
  const [{ id }] = (await t.as(ada).get(`/v3/user/${ada.id}/notifications`)).json()
  await t.as(ada).patch(`/v3/notification/${id}`)
  await check(adas, 'No unread notifications')
  await t.as(owner).delete(`/v3/team/${project.teamId}/members/${ada.id}`)
})

test('a takedown removes a project from all pages immediately, for visitors and signed-in readers', async () => {
  const readers = [visitor(t), await reader('late-reader')]
  const moderator = await t.make.account({ role: 'moderator' })
  const shows = async (path: string, text: string) =>
    Promise.all(readers.map(async (who) => (await who.get(path)).body.includes(text)))
  const lists = ['/', '/mods', '/search?q=la', '/mod/lantern/used-by', '/user/keeper', collection]
  for (const path of lists) assert.deepEqual(await shows(path, 'Lamp that needs it'), [true, true], path)
  const hidden = await t.as(moderator).patch(`/v3/project/${user.id}`, { status: 'rejected' })
  assert.equal(hidden.statusCode, 204, hidden.body)
  for (const path of lists) assert.deepEqual(await shows(path, 'Lamp that needs it'), [false, false], path)
  // A withheld project has a page, but is in no list.
  const found = ['/', '/mods', '/organization/guild']
  for (const path of found) assert.deepEqual(await shows(path, 'Torch of the guild'), [true, true], path)
  await t.as(moderator).patch(`/v3/project/${shared.id}`, { status: 'withheld' })
  for (const path of found) assert.deepEqual(await shows(path, 'Torch of the guild'), [false, false], path)

  for (const path of ['/', '/user/keeper', collection])
    assert.deepEqual(await shows(path, 'Lights'), [true, true], path)
  const closed = await t
    .as(moderator)
    .patch(collection.replace('/collection', '/v3/collection'), { status: 'rejected' })
  assert.equal(closed.statusCode, 204, closed.body)
  for (const path of ['/', '/user/keeper', collection])
    assert.deepEqual(await shows(path, 'Lights'), [false, false], path)

  const profile = '/user/keeper'
  const bio = await t.as(owner).patch(`/v3/user/${owner.id}`, { bio: 'A long night' })
  assert.equal(bio.statusCode, 204, bio.body)
  assert.deepEqual(await shows(profile, 'A long night'), [true, true])
  const cleared = await t.as(moderator).patch(`/v3/user/${owner.id}`, { bio: '' })
  assert.equal(cleared.statusCode, 204, cleared.body)
  assert.deepEqual(await shows(profile, 'A long night'), [false, false])
})
