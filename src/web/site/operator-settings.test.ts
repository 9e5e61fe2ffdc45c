// Settings that operators change at run time, on the pages.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const NOTHING = { name: null, accent_hue: null, about: null, rules: null, announcement: null }
const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>' </p></aside></title><!--`
/** Pages of the site, of the account, and those that report an error of either. */
const PAGES: readonly [path: string, status: number][] = [
  ['/', 200],
  ['/mods', 200],
  ['/nothing', 404],
  ['/account/sign-in', 200],
]

let t: TestApp
before(async () => {
  t = await testApp()
  await t.searchable()
})
after(() => t?.close())
afterEach(() => set(t, NOTHING))

async function set(at: TestApp, body: object): Promise<void> {
  const answer = await at.anyone.patch('/_internal/admin/settings', body, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(answer.statusCode, 204, answer.body)
}

const rootOf = (body: string) => /<html[^>]*>/.exec(body)?.[0]

test('an announcement and a hue appear on every page immediately, and disappear when they are reset', async () => {
  const someone = visitor(t)
  const tags = new Map<string, unknown>()
  for (const [path, status] of PAGES) {
    const answer = await someone.get(path)
    assert.equal(answer.statusCode, status, path)
    assert.doesNotMatch(answer.body, /class="announcement/, path)
    assert.equal(rootOf(answer.body), '<html lang="en">', path)
    tags.set(path, answer.headers.etag)
  }
  await set(t, { announcement: `Tea at five ${HOSTILE}`, accent_hue: 210 })
  for (const [path, status] of PAGES) {
    const answer = await someone.get(path)
    assertSays(answer, status, 'aria-label="Announcement"')
    assert.match(answer.body, /<aside class="announcement info"[^>]*>[\s\S]*?Tea at five "&gt;/, path)
    assert.equal(rootOf(answer.body), '<html lang="en" class="h210">', path)
    assert.ok(!answer.body.includes('<script>alert') && !answer.body.includes('<img src=x'), path)
    assertValidHtml(answer.body, path)
    if (status === 200 && tags.get(path) !== undefined) assert.notEqual(answer.headers.etag, tags.get(path), path)
  }
  const refused = await someone.post('/account/sign-in', { username: 'x' })
  assert.ok(refused.statusCode >= 400 && refused.statusCode < 500)
  assertSays(refused, refused.statusCode, 'aria-label="Announcement"')
  await set(t, NOTHING)
  assert.equal((await someone.get('/mods')).headers.etag, tags.get('/mods'))
})

test('every page announces read-only mode, in the language of the visitor or with the message of the operator', async () => {
  const someone = visitor(t)
  const label = 'aria-label="Read-only mode"'
  for (const [path] of PAGES) assert.ok(!(await someone.get(path)).body.includes(label), path)
  await set(t, { read_only: true, announcement: 'Tea at five' })
  for (const [path, status] of PAGES) {
    const answer = await someone.get(path)
    for (const text of [label, 'This site is currently read-only.', 'Tea at five']) assertSays(answer, status, text)
    assertValidHtml(answer.body, path)
  }
  const german = await t.anyone.get('/mods', { headers: { accept: 'text/html', 'accept-language': 'de' } })
  assertSays(german, 200, 'Diese Seite ist zurzeit schreibgeschützt.')
  await set(t, { read_only_message: `Back at six ${HOSTILE}` })
  for (const [path, status] of PAGES) {
    const answer = await someone.get(path)
    assertSays(answer, status, 'Back at six')
    assert.ok(!answer.body.includes('This site is currently read-only'), path)
    assertValidHtml(answer.body, path)
  }
  await set(t, { read_only: null, read_only_message: null })
  for (const [path] of PAGES) assert.ok(!(await someone.get(path)).body.includes(label), path)
})

test('a hue is shown as the nearest one that the style has', async () => {
  const someone = visitor(t)
  for (const [hue, name] of [
    [0, 'h0'],
    [7, 'h0'],
    [8, 'h15'],
    [218, 'h225'],
    [345, 'h345'],
    [353, 'h0'],
    [359, 'h0'],
  ] as const) {
    await set(t, { accent_hue: hue })
    assert.equal(rootOf((await someone.get('/account/sign-in')).body), `<html lang="en" class="${name}">`, String(hue))
  }
})

test('non-empty texts of the operator have pages, with links in the footer and the site map', async () => {
  const english = visitor(t)
  const german = visitor(t)
  german.cookies.set('__Host-depot-language', 'de')
  for (const blank of [null, '', ' \n\u200b']) {
    await set(t, { about: blank, rules: blank })
    for (const path of ['/about', '/rules']) assert.equal((await english.get(path)).statusCode, 404, path)
    for (const page of ['/', '/account/sign-in', '/sitemap-pages.xml'])
      assert.doesNotMatch((await english.get(page)).body, /\/(about|rules)\b/, page)
  }
  await set(t, { about: '# Lanterns\n\nMade of **paper**.', rules: '1. Be kind' })
  assertSays(await english.get('/about'), 200, /<h1>About<\/h1>[\s\S]*Lanterns<\/h2>[\s\S]*<strong>paper<\/strong>/)
  assertSays(await german.get('/about'), 200, /<h1>Über uns<\/h1>[\s\S]*<strong>paper<\/strong>/)
  assertSays(await english.get('/rules'), 200, /<h1>Rules<\/h1>[\s\S]*<li>Be kind<\/li>/)
  assertSays(await german.get('/rules'), 200, '<h1>Regeln</h1>')
  for (const page of ['/', '/account/sign-in'])
    assert.match((await english.get(page)).body, /href="[^"]*\/about">About<[\s\S]*href="[^"]*\/rules">Rules</, page)
  assert.match((await english.get('/sitemap-pages.xml')).body, /\/about<\/loc>[\s\S]*\/rules<\/loc>/)
  await set(t, { about: null })
  assert.equal((await english.get('/about')).statusCode, 404)
  const { body } = await english.get('/')
  assert.ok(!body.includes('/about"') && body.includes('/rules"'))
})

test('each page links to the documentation, if the operator names its URL', async (scope) => {
  const link = /<footer[\s\S]*href="https:\/\/docs\.example\.org\/\d[^"{]*\/">Documentation</
  assert.doesNotMatch((await visitor(t).get('/')).body, /Documentation</)
  const documented = await testApp({ env: { DOCS_URL: 'https://docs.example.org/{version}/' } })
  scope.after(() => documented.close())
  for (const page of ['/', '/account/sign-in', '/mods'])
    assert.match((await visitor(documented).get(page)).body, link, page)
})

test('a text of the operator is public, sanitized, and cached by its content', async () => {
  await set(t, { about: `First ${HOSTILE}\n\n[away](javascript:alert(1))`, rules: `${'*'.repeat(40_000)}\n${HOSTILE}` })
  const someone = visitor(t)
  for (const path of ['/about', '/rules']) {
    const answer = await someone.get(path)
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['cache-control'], 'public, max-age=0, must-revalidate')
    assertValidHtml(answer.body, path)
    assert.doesNotMatch(answer.body, /<script>alert|onerror=alert\(1\)>|href="javascript:/)
  }
  await set(t, { about: 'Second' })
  const { body } = await someone.get('/about')
  assert.ok(body.includes('Second') && !body.includes('First'))
})

test('settings cost a warm page no statement', async () => {
  await set(t, { announcement: 'Tea at five', accent_hue: 30, about: 'Lanterns', rules: 'Be kind' })
  const someone = visitor(t)
  for (const path of ['/about', '/rules', '/account/sign-in']) {
    await someone.get(path)
    const { result, queries } = await t.queriesOf(() => someone.get(path))
    assert.equal(result.statusCode, 200)
    assert.deepEqual(queries, [], path)
  }
})

test('without the public site, account pages show the announcement and link to no texts', async () => {
  const off = await testApp({ env: { SITE: 'off' } })
  try {
    await set(off, { announcement: 'Tea at five', about: 'Lanterns' })
    const { body } = await visitor(off).get('/account/sign-in')
    assert.ok(body.includes('Tea at five') && !body.includes('/about"'))
    assert.equal((await visitor(off).get('/about')).statusCode, 404)
  } finally {
    await off.close()
  }
})
