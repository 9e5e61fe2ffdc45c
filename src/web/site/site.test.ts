// The public site over HTTP: the content of each page for each visitor, and errors for invalid URLs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let version: { id: string }
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern', categories: ['magic'] })
  await t.make.version({
    project,
    version_number: '1.0.0',
    changelog: 'First.',
    game_versions: ['1.19.2'],
    date_published: new Date('2024-01-01'),
  })
  version = await t.make.version({ project, version_number: '2.0.0', changelog: 'Second **bold**.' })
  await t.make.file({ version, project, bytes: Buffer.from('jar'), filename: 'lantern.jar' })
  const user = await t.make.project({ slug: 'user-of-lantern', name: 'Needs Lantern' })
  const other = await t.make.version({ project: user })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: other.id, project_id: project.id, dependency_type: 'required' })
    .execute()
  await t.searchable()
})
after(() => t?.close())

const PAGES = [
  '/',
  '/mods',
  '/modpacks',
  '/search?q=lantern',
  '/search?q=qqqqqqqq&c=magic&c=-mobs',
  '/mod/lantern',
  '/mod/lantern/gallery',
  '/mod/lantern/versions',
  '/mod/lantern/version/2.0.0',
  '/mod/lantern/changelog',
  '/mod/lantern/changelog?from=1.0.0&to=2.0.0',
  '/mod/lantern/dependencies',
  '/mod/lantern/used-by',
  '/mod/user-of-lantern',
  '/mod/user-of-lantern/dependencies',
  '/user/keeper',
]

test('each page is valid HTML and the same for every visitor, in both languages', async () => {
  for (const language of ['en', 'de']) {
    const someone = visitor(t)
    someone.cookies.set('__Host-depot-language', language)
    for (const path of PAGES) {
      const answer = await someone.get(path)
      assert.equal(answer.statusCode, 200, `${path} ${answer.body.slice(0, 2000)}`)
      assertValidHtml(answer.body, path)
      assert.equal(answer.headers['cache-control'], 'public, max-age=0, must-revalidate', path)
      assert.match(String(answer.headers.vary), /cookie/)
      assert.equal(answer.cookies.length, 0, path)
      const again = await t.inject({
        method: 'GET',
        url: path,
        headers: {
          accept: 'text/html',
          'user-agent': 'x',
          cookie: `__Host-depot-language=${language}`,
          'if-none-match': String(answer.headers.etag),
          'x-ratelimit-key': 'test-bypass-key-0123456789abcdefghij',
        },
      })
      assert.equal(again.statusCode, 304, path)
    }
  }
})

test('the root is JSON for programs and a page for browsers', async () => {
  const cases: [string | undefined, RegExp][] = [
    [undefined, /json/],
    ['*/*', /json/],
    ['application/json', /json/],
    ['text/html', /html/],
    ['text/html,application/xhtml+xml,*/*;q=0.8', /html/],
    ['text/html;q=0.5, application/json', /json/],
    ['application/json;q=0.5, text/html;q=0.6', /html/],
    ['text/html;q=0', /json/],
    [';;;,q=', /json/],
    ['x'.repeat(5000), /json/],
  ]
  for (const [accept, type] of cases) {
    const headers = {
      'user-agent': 'tests',
      'x-ratelimit-key': 'test-bypass-key-0123456789abcdefghij',
      ...(accept === undefined ? {} : { accept }),
    }
    const answer = await t.inject({ method: 'GET', url: '/', headers })
    assert.match(String(answer.headers['content-type']), type, accept)
    assert.match(String(answer.headers.vary), /accept/, accept)
    assert.equal(answer.statusCode, 200)
  }
})

test('unknown URLs return a page to browsers and JSON to programs', async () => {
  const someone = visitor(t)
  for (const path of [
    '/nothing',
    '/mod/none',
    '/mod/lantern/nothing',
    '/mod/lantern/version/9',
    '/user/nobody-here',
    '/organization/none',
    '/collection/none',
    `/collection/${newId()}`,
    '/mods?page=99',
    '/mod/lantern/versions?page=7',
    '/mod/lantern/used-by?page=3',
    '/user/keeper?page=9',
    '/v3/nothing',
    '/mod/%00',
    '/mod/lantern/version/%00',
  ]) {
    const answer = await someone.get(path)
    assert.ok([404, 400].includes(answer.statusCode), `${path} ${answer.statusCode}`)
    assert.match(String(answer.headers['content-type']), /html/, path)
    assertValidHtml(answer.body, path)
  }
  const program = await t.anyone.get('/nothing')
  assert.deepEqual([program.statusCode, program.json().error], [404, 'not_found'])
})

test('other URLs of a project redirect to the canonical URL, with the query', async () => {
  const someone = visitor(t)
  const cases = [
    [`/project/${project.id}`, '/mod/lantern'],
    ['/project/lantern/versions?page=1', '/mod/lantern/versions?page=1'],
    ['/plugin/lantern/gallery', '/mod/lantern/gallery'],
    ['/mod/LANTERN', '/mod/lantern'],
    ['/discover', '/search'],
    ['/discover/mods?q=a', '/mods?q=a'],
    ['/user/KEEPER', '/user/keeper'],
    [`/user/${owner.id}`, '/user/keeper'],
  ]
  for (const [path = '', to] of cases) {
    const answer = await someone.get(path)
    assert.deepEqual([answer.statusCode, answer.headers.location], [301, to], path)
  }
})

test('filters of every kind answer honestly', async () => {
  const someone = visitor(t)
  const many = Array.from({ length: 500 }, (_, index) => `c=x${index}`).join('&')
  for (const query of [
    many,
    'c=magic&c=-magic',
    'v=1.20.1&l=fabric',
    'l=-fabric',
    'e=client&e=-server',
    'o=open&o=closed',
    'u=week',
    'u=never',
    'sort=x',
    'page=-1',
    'page=1e9',

    `q=${'a'.repeat(3000)}`,
    'dep=x',
    'all=c&all=v',
    '__proto__=1',
    'c[]=1',
    'view=grid',
    'setup=any',
  ]) {
    const answer = await someone.get(`/search?${query}`)
    assert.equal(answer.statusCode, 200, `${query} ${answer.body.slice(answer.body.indexOf('<main'), 1500)}`)
    assertValidHtml(answer.body, query)
  }
  for (const query of ['q=%00', 'q=%ED%A0%80'])
    assert.equal((await someone.get(`/search?${query}`)).statusCode, 400, query)
  assertSays(await someone.get('/mods?v=1.20.1&l=fabric'), 200, 'Lantern')
  // Rows, or the grid, which is the default for types that users choose by their looks.
  assertSays(await someone.get('/mods?q=lantern'), 200, 'class="hits"')
  assertSays(await someone.get('/mods?q=lantern&view=grid'), 200, 'class="cards"')
  assertSays(await someone.get('/mods?q=lantern&view=grid'), 200, 'href="/mods?q=lantern"')
  assert.doesNotMatch((await someone.get('/mods?c=-magic')).body, />Lantern</)
  assertSays(await someone.get('/mods?c=magic&c=mobs'), 200, /Without “Mobs”: 1/)
  assertSays(await someone.get(`/search?${many}`), 200, /Only the first 50 filters/)
})

test('a setup is stored in a cookie, filters lists and chooses the file', async () => {
  const someone = visitor(t)
  const set = await someone.post(
    '/setup',
    { game_version: '1.19.2', loader: 'fabric', return: '/mods' },
    { 'sec-fetch-site': 'same-origin' },
  )
  assert.deepEqual([set.statusCode, set.headers.location], [303, '/mods'])
  const list = await someone.get('/mods')
  assertSays(list, 200, 'One mod for 1.19.2 on Fabric')
  assert.equal(list.headers['cache-control'], 'private, no-cache')
  assert.doesNotMatch(list.body, /Needs Lantern/)
  assertSays(await someone.get('/mods?setup=any'), 200, 'Needs Lantern')
  assertSays(await someone.get('/mod/lantern'), 200, 'There are no files')
  await someone.post('/setup', { game_version: '1.20.4', loader: '', return: '//evil.example' })
  assertSays(await someone.get('/mod/lantern'), 200, 'No version for 1.20.4')
  for (const garbage of ['|', '<b>|<i>', '%', 'x'.repeat(9000), '1.20.1|constructor']) {
    someone.cookies.set('__Host-depot-setup', garbage)
    assert.equal((await someone.get('/mods')).statusCode, 200)
  }
  const elsewhere = await someone.post('/setup', { game_version: '1.20.1' }, { 'sec-fetch-site': 'cross-site' })
  assert.equal(elsewhere.statusCode, 403)
})

test('following from a page is visible immediately; signed-out visitors sign in and return', async () => {
  const someone = visitor(t)
  assertSays(
    await someone.get('/mod/lantern'),
    200,
    'href="/account/sign-in?return=%2Fmod%2Flantern%3Fdone%3Dcan-follow"',
  )
  const person = visitor(t, (await t.make.account()).token)
  const before = await person.get('/mod/lantern')
  assert.equal(before.headers['cache-control'], 'private, no-cache')
  const followed = await person.sendFrom(before, '/mod/lantern/follow')
  assert.deepEqual([followed.statusCode, followed.headers.location], [303, '/mod/lantern?done=followed'])
  const after = await person.get('/mod/lantern?done=followed')
  assertSays(after, 200, 'Following')
  assertSays(after, 200, 'You follow this project.')
  assertValidHtml(after.body)
  assertSays(await person.get('/mod/lantern?done=<b>'), 200, 'Following')
  const undone = await person.sendFrom(after, '/mod/lantern/unfollow')
  assertSays(await person.get(String(undone.headers.location)), 200, 'You no longer follow this project.')
  assertSays(await person.get('/mod/lantern'), 200, /Follow</)
  const forged = await person.post('/mod/lantern/follow', {})
  assert.equal(forged.statusCode, 403)
  assert.equal((await person.get('/mod/lantern/follow')).headers.location, '/mod/lantern')
})

test('no page shows what the API would hide from the same viewer', async () => {
  const stranger = await t.make.account()
  const moderator = await t.make.account({ role: 'moderator' })
  const viewers: [string, Visitor, (path: string) => Promise<{ statusCode: number }>][] = [
    ['visitor', visitor(t), (path) => t.anyone.get(path)],
    ['stranger', visitor(t, stranger.token), (path) => t.as(stranger).get(path)],
    ['member', visitor(t, owner.token), (path) => t.as(owner).get(path)],
    ['moderator', visitor(t, moderator.token), (path) => t.as(moderator).get(path)],
  ]
  for (const status of [
    'approved',
    'archived',
    'unlisted',
    'withheld',
    'draft',
    'processing',
    'rejected',
    'scheduled',
    'private',
  ]) {
    const secret = await t.make.project({ owner, name: `Secret ${status}`, slug: `secret-${status}`, status })
    const listed = await t.make.version({ project: secret, version_number: '1' })
    const hidden = await t.make.version({ project: secret, version_number: 'hidden', status: 'draft' })
    const collection = newId()
    const values = {
      id: collection,
      account_id: owner.id,
      name: `Of ${status}`,
      status: status === 'draft' ? ('private' as const) : ('listed' as const),
    }
    await t.deps.db
      .insertInto('collection')
      .values({ ...values, created: new Date(), updated: new Date() })
      .execute()
    await t.deps.db
      .insertInto('collection_project')
      .values({ collection_id: collection, project_id: secret.id, position: 0 })
      .execute()
    await t.searchable()
    for (const [name, person, api] of viewers) {
      const expected = (await api(`/v3/project/${secret.id}`)).statusCode
      for (const below of [
        '',
        '/gallery',
        '/versions',
        '/version/1',
        `/version/${listed.id}`,
        '/changelog',
        '/dependencies',
        '/used-by',
        '/statistics',
      ])
        assert.equal(
          (await person.get(`/mod/secret-${status}${below}`)).statusCode,
          expected,
          `${name} ${status} ${below}`,
        )
      const draft = (await api(`/v3/version/${hidden.id}`)).statusCode
      assert.equal(
        (await person.get(`/mod/secret-${status}/version/${hidden.id}`)).statusCode,
        expected === 404 ? 404 : draft,
        `${name} ${status} version`,
      )
      const kept = (await api(`/v3/collection/${collection}`)).statusCode
      const page = await person.get(`/collection/${collection}`)
      assert.equal(page.statusCode, kept, `${name} collection ${status}`)
      if (status === 'processing' && expected === 200)
        assert.match((await person.get('/mod/secret-processing')).body, /Only its members can see it/, name)
      if (expected === 404) {
        assert.doesNotMatch(page.body, new RegExp(`Secret ${status}`), name)
        assert.doesNotMatch((await person.get('/user/keeper')).body, new RegExp(`Secret ${status}<`), name)
        assert.doesNotMatch((await person.get(`/search?q=secret`)).body, new RegExp(`Secret ${status}<`), name)
      }
    }
  }
})

test('user content cannot run code or break a page', async () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\u202e`
  const wide = '\u{1f9d9}'.repeat(64)
  for (const name of [hostile, wide]) {
    const bad = await t.make.project({ owner, name: name.slice(0, 64), slug: `bad-${t.make.next()}` })
    const description = `${hostile}\n\n[x](javascript:alert(1)) <iframe src="https://evil.example"></iframe> <form action="https://evil.example"><input name=a></form>\n\n${'- '.repeat(200)}x`
    await t.deps.db
      .updateTable('project')
      .set({
        summary: hostile,
        description,
        license_url: 'javascript:alert(1)',
        link_urls: JSON.stringify({ source: 'javascript:alert(1)' }),
      })
      .where('id', '=', bad.id)
      .execute()
    const ugly = await t.make.version({
      project: bad,
      name: hostile.slice(0, 60),
      version_number: '"><b>/x',
      changelog: description,
    })
    await t.make.file({ version: ugly, project: bad, bytes: Buffer.from(`x${name}`), filename: '"><b>.jar' })
    await t.searchable()
    for (const path of [
      '',
      '/versions',
      `/version/${ugly.id}`,
      '/changelog',
      '/gallery',
      '/dependencies',
      '/used-by',
    ]) {
      const answer = await visitor(t).get(`/mod/${bad.slug}${path}`)
      assert.equal(answer.statusCode, 200, path)
      assertValidHtml(answer.body, path)
      assert.doesNotMatch(
        answer.body,
        /<script>|<iframe|onerror=alert\(1\)>(?!&)|href="javascript|<form action="https:/i,
        path,
      )
    }
    assertValidHtml((await visitor(t).get('/mods?sort=newest')).body)
  }
})

test('a version with its dependencies, and a collection, can be downloaded as one archive', async () => {
  const needy = await t.make.project({ owner, slug: 'needy' })
  const needing = await t.make.version({ project: needy })
  await t.make.file({ version: needing, project: needy, bytes: Buffer.from('needy'), filename: 'needy.jar' })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: needing.id, project_id: project.id, dependency_type: 'required' })
    .execute()
  const collection = newId()
  await t.deps.db
    .insertInto('collection')
    .values({ id: collection, account_id: owner.id, name: 'Lamps', status: 'listed' })
    .execute()
  await t.deps.db
    .insertInto('collection_project')
    .values({ collection_id: collection, project_id: needy.id, position: 0 })
    .execute()
  for (const path of [`/mod/needy/version/${needing.id}`, `/collection/${collection}`]) {
    const { body } = await visitor(t).get(path)
    assertValidHtml(body, path)
    const href = /href="(\/v3\/[^"]+\/archive[^"]*)"/.exec(body)?.[1] ?? ''
    const archive = await t.anyone.get(href.replaceAll('&amp;', '&'))
    assert.equal(archive.statusCode, 200, path)
    for (const name of ['needy.jar', 'lantern.jar']) assert.ok(archive.rawPayload.includes(name), `${path} ${name}`)
  }
  // One file alone is what the button above gives.
  assert.doesNotMatch((await visitor(t).get('/mod/lantern/version/2.0.0')).body, /\/archive/)
})
