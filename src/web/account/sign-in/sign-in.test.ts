import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { takeAnswer } from '#features/people/accounts/sign-up/taken-answers.ts'
import { testApp } from '#test/support/app/test-app.ts'
import {
  enableTwoFactor,
  mailedFlow,
  mailsTo,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'
import { returnPath } from '#web/kit/paths.ts'

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())

const SIGN_IN = '/account/sign-in'
const COOKIE = '__Host-depot-session'

test('a user signs up, opens the emailed link and is verified', async () => {
  const person = visitor(t)
  const fields = { username: 'page.person', email: 'page@example.org', password: PASSWORD }
  const done = await person.send('/account/sign-up', '/account/sign-up', fields)
  assertLeads(done, '/account/check-mail')
  const cookie = String(done.headers['set-cookie'])
  assert.match(
    cookie,
    /__Host-depot-session=dps_[0-9A-Za-z]{60}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax/,
  )
  assertSays(await person.get('/account'), 200, 'is not verified')
  const flow = await mailedFlow(t, 'page@example.org', /Verify/)
  const link = `/account/verify-email?flow=${flow}`
  assertSays(await person.get(link), 200, 'Verify address')
  assertSays(await person.get('/account'), 200, 'is not verified')
  assertLeads(await person.send(link, '/account/verify-email'), '/account?done=verified')
  assert.ok(!(await person.get('/account')).body.includes('is not verified'))
  assertSays(await person.send(link, '/account/verify-email'), 400, 'The link is unknown')
})

test('after the sign-up a page names the address, sends the link again and leads on', async () => {
  const person = visitor(t)
  const fields = { username: 'next.person', email: 'next@example.org', password: PASSWORD }
  const done = await person.send('/account/sign-up?return=%2Fmods', '/account/sign-up', fields)
  const path = '/account/check-mail?return=%2Fmods'
  assertLeads(done, path)
  const page = await person.get(path)
  assertSays(page, 200, 'next@example.org')
  assert.match(page.body, /class="button main" href="\/mods"/)
  assertValidHtml(page.body)
  const sent = await person.send(path, '/account/check-mail')
  assertSays(await person.get(assertLeads(sent, '/account/check-mail?done=link-sent&return=%2Fmods')), 200, 'sent')
  assertLeads(await visitor(t).get(path), `${SIGN_IN}?return=${encodeURIComponent(path)}`)
  await person.send(
    `/account/verify-email?flow=${await mailedFlow(t, 'next@example.org', /Verify/)}`,
    '/account/verify-email',
  )
  assertLeads(await person.get(path), '/mods')
  assertSays(await person.get('/account/security'), 200, /next@example.org<\/bdi> <span class="badge good">Verified/)
})

test('all wrong fields are shown together, each next to its field', async () => {
  await makeMember(t, { username: 'owned' })
  const fields = { username: 'owned', email: 'nowhere', password: 'password123' }
  const answer = await visitor(t).send('/account/sign-up', '/account/sign-up', fields)
  assertSays(answer, 409, 'There are 3 problems')
  for (const field of ['username', 'email', 'password']) {
    assert.match(answer.body, new RegExp(`<p class="error" id="${field}-error"`), field)
    assert.ok(answer.body.includes(`href="#${field}"`), field)
  }
  assertValidHtml(answer.body)
})

test('the sign-up page shows errors next to the entered values, and never the password', async () => {
  await makeMember(t, { username: 'taken' })
  const person = visitor(t)
  const valid = { username: 'fresh', email: 'fresh@example.org', password: PASSWORD }
  for (const [fields, status, text] of [
    [{ username: 'taken' }, 409, 'The username is taken.'],
    [{ username: 'not valid' }, 400, 'The username must be'],
    [{ email: 'nowhere' }, 400, 'The email address must be an email address.'],
    [{ email: 'taken@example.org' }, 409, 'The email address is taken.'],
    [{ password: 'short' }, 400, 'The password must be at least 8 characters long.'],
    [{ password: 'password123' }, 400, 'The password is too easy to guess'],
    [{ account_consent: 'yes' }, 400, 'must not be set'],
  ] as const) {
    const answer = await person.send('/account/sign-up', '/account/sign-up', { ...valid, ...fields })
    assertSays(answer, status, text)
    assert.ok(!person.cookies.has(COOKIE))
    if (!('password' in fields)) assert.ok(!answer.body.includes(PASSWORD))
  }
})

test('users sign in with name or email address and reach the requested page', async () => {
  const { username, email } = await makeMember(t)
  for (const name of [username, email]) {
    const person = visitor(t)
    const asked = await person.get('/account/tokens?x=1')
    const page = assertLeads(asked, `${SIGN_IN}?return=${encodeURIComponent('/account/tokens?x=1')}`)
    assertLeads(await person.send(page, SIGN_IN, { username: name, password: PASSWORD }), '/account/tokens?x=1')
    assertSays(await person.get('/account/tokens'), 200, 'New token')
    assertLeads(await person.get(page), '/account/tokens?x=1')
  }
})

test('a wrong password results in an error, counts like one of the API, and is never shown again', async () => {
  const { username } = await makeMember(t)
  const person = visitor(t)
  const wrong = await person.send(SIGN_IN, SIGN_IN, { username, password: OTHER_PASSWORD })
  assertSays(wrong, 401, 'The username or the password is wrong')
  assert.ok(wrong.body.includes(`value="${username}"`) && !wrong.body.includes(OTHER_PASSWORD))
  for (let i = 0; i < 9; i += 1) await t.anyone.post('/_internal/auth/login', { username, password: 'wrong' })
  assertSays(await person.send(SIGN_IN, SIGN_IN, { username, password: PASSWORD }), 429, 'Too many failed sign-ins')
  assertSays(await person.send(SIGN_IN, SIGN_IN, { username: 'a'.repeat(300), password: 'b' }), 400, 'The name must')
})

test('two-factor sign-in requires a code or a backup code', async () => {
  const member = await makeMember(t)
  const { secret, backupCodes } = await enableTwoFactor(t, member)
  for (const code of [totpCode(t, secret), backupCodes[0] ?? '']) {
    const person = visitor(t)
    const page = `${SIGN_IN}?return=%2Faccount%2Fdata`
    const asked = await person.send(page, SIGN_IN, { username: member.username, password: PASSWORD })
    assertSays(asked, 200, 'Two-factor code')
    assert.ok(!person.cookies.has(COOKIE))
    const wrong = await person.sendFrom(asked, `${SIGN_IN}/code`, { code: '000000' })
    assertSays(wrong, 401, 'The code is wrong')
    assertLeads(await person.sendFrom(wrong, `${SIGN_IN}/code`, { code }), '/account/data')
    assertSays(await person.get('/account/data'), 200, 'This device')
  }
})

test('signing out ends the session itself, not only the cookie', async () => {
  const { token } = await makeMember(t)
  const person = visitor(t, token)
  assertLeads(await person.send('/account', '/account/sign-out'), `${SIGN_IN}?done=signed-out`)
  assert.ok(!person.cookies.has(COOKIE))
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 401)
  assertSays(await person.get(`${SIGN_IN}?done=signed-out`), 200, 'You are signed out.')
  assertSays(await person.get(`${SIGN_IN}?done=<script>`), 200, 'Sign in')
  assertSays(await person.get(`${SIGN_IN}?done=__proto__`), 200, 'Sign in')
})

test('a forgotten password is set again by the mailed link, and every session ends', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/forgot-password'
  const known = await person.send(page, page, { username: member.username })
  const unknown = await person.send(page, page, { username: 'nobody-there' })
  const said = (body: string) => body.replace(/value="[^"]*"/g, '')
  assert.equal(said(known.body), said(unknown.body))
  const flow = await mailedFlow(t, member.email, /Reset/)
  const link = `/account/reset-password?flow=${flow}`
  assertSays(await person.send(link, '/account/reset-password', { new_password: 'password1' }), 400, 'too easy')
  const done = await person.send(link, '/account/reset-password', { new_password: OTHER_PASSWORD })
  assertLeads(done, `${SIGN_IN}?done=password-reset`)
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 401)
  assertSays(await person.send(link, '/account/reset-password', { new_password: PASSWORD }), 401, 'The link is unknown')
  const back = await visitor(t).send(SIGN_IN, SIGN_IN, { username: member.username, password: OTHER_PASSWORD })
  assertLeads(back, '/account')
  assert.equal((await mailsTo(t, member.email, /password was changed/)).length, 1)
})

test('the API never takes the cookie, and pages take no header and no other token', async () => {
  const member = await makeMember(t)
  for (const path of ['/v3/user', '/_internal/session/list', '/_internal/oauth/authorizations']) {
    const headers = { cookie: `${COOKIE}=${member.token}`, 'user-agent': 'x' }
    assert.equal((await t.inject({ method: 'GET', url: path, headers })).statusCode, 401)
  }
  const withHeader = await t.as(member).get('/account')
  assert.equal(withHeader.statusCode, 303)
  const pat = await t.make.pat(member)
  for (const token of [pat.token, 'nonsense', `Bearer ${member.token}x`])
    assert.equal((await visitor(t, token).get('/account')).statusCode, 303)
})

test('a form is accepted only with the token of its browser, and from a page of Depot', async () => {
  const member = await makeMember(t)
  const other = await makeMember(t)
  const [person, stranger] = [visitor(t, member.token), visitor(t, other.token)]
  const fields = {
    ...hiddenFields(await person.get('/account'), '/account'),
    username: member.username,
    bio: 'changed',
  }
  const foreign = hiddenFields(await stranger.get('/account'), '/account')
  for (const csrf of ['', 'nonsense', foreign['_csrf'] ?? ''])
    assertSays(await person.post('/account', { ...fields, _csrf: csrf }), 403, 'This form is too old')
  assertSays(await person.post('/account', { username: member.username, bio: 'changed' }), 403, 'This form is too old')
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.test' },
    { origin: 'null' },
  ])
    assertSays(await person.post('/account', fields, headers), 403, 'sent from another site')
  assert.equal((await t.anyone.get(`/v3/user/${member.id}`)).json().bio, null)
  const own = { 'sec-fetch-site': 'same-origin', origin: 'https://depot.test' }
  assertLeads(await person.post('/account', fields, own), '/account?done=profile')
  assert.equal((await t.anyone.get(`/v3/user/${member.id}`)).json().bio, 'changed')
})

test('bodies of other kinds, doubled fields and unstorable text are rejected', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const fields = hiddenFields(await person.get('/account'), '/account')
  assertSays(await person.post('/account', { ...fields, username: ['a', 'b'] }), 400, 'twice')
  assertSays(await person.post('/account', { ...fields, username: 'a\0b' }), 400, 'NUL')
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const json = { 'content-type': 'application/json', cookie, 'user-agent': 'x' }
  const answer = await t.inject({ method: 'POST', url: '/account', payload: '{}', headers: json })
  assertSays(answer, 400, 'Content-Type')
  const large = { ...fields, username: 'a'.repeat(70_000) }
  assertSays(await person.post('/account', large), 400, 'too large')
})

test('every page carries the headers that keep hostile text from running, framing and sending', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  for (const answer of [
    await person.get('/account'),
    await visitor(t).get(SIGN_IN),
    await person.get('/account/applications/zzzzzzzz'),
  ]) {
    const { headers, body } = answer
    const policy = String(headers['content-security-policy'])
    assert.equal(
      policy,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://depot.test; font-src 'self'; manifest-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    assert.deepEqual(
      [
        headers['x-frame-options'],
        headers['x-content-type-options'],
        headers['referrer-policy'],
        headers['cache-control'],
      ],
      ['DENY', 'nosniff', 'same-origin', 'no-store'],
    )
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.equal(headers['etag'], undefined)
    assert.ok(!/<script(?! src=)| style=| on[a-z]+=/.test(body), body)
  }
})

test('sends page assets as immutable, compressed if the browser supports it, with a strong ETag', async () => {
  const { body } = await visitor(t).get(SIGN_IN)
  const paths = new Set([...body.matchAll(/"(\/assets\/[^"#]+)/g)].map(([, path = '']) => path))
  const style = [...paths].find((path) => path.endsWith('.css')) ?? ''
  assert.equal(paths.size, 5)
  // The style sheet refers to two fonts in the same folder.
  for (const [name] of (await t.anyone.get(style)).body.matchAll(/[\w.-]+\.woff2/g)) paths.add(`/assets/${name}`)
  assert.equal(paths.size, 7)
  for (const path of paths) {
    const answer = await t.anyone.get(path)
    assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-credentials']], [200, undefined], path)
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
    const etag = String(answer.headers.etag)
    assert.match(etag, /^"[^"]+"$/)
    const again = await t.anyone.get(path, { headers: { 'if-none-match': etag } })
    assert.equal(again.statusCode, 304)
    if (path.endsWith('.woff2')) continue
    const encoded = await t.anyone.get(path, { headers: { 'accept-encoding': 'gzip, br' } })
    assert.deepEqual([encoded.headers['content-encoding'], encoded.headers.vary], ['br', 'accept-encoding'])
    assert.equal(brotliDecompressSync(encoded.rawPayload).toString(), answer.body)
    const plain = await t.anyone.get(path, { headers: { 'accept-encoding': 'br;q=0, identity' } })
    assert.equal(plain.headers['content-encoding'], undefined)
  }
  assert.equal((await t.anyone.get('/assets/site.000000000000.css')).statusCode, 404)
})

test('colours and language are chosen without an account, and come back to the page', async () => {
  const person = visitor(t)
  const chosen = await person.send(SIGN_IN, '/preferences', { theme: 'dark', language: 'de' })
  assertLeads(chosen, SIGN_IN)
  const page = await person.get(SIGN_IN)
  assert.match(page.body, /<html lang="de" data-theme="dark">/)
  assertSays(page, 200, 'Benutzername oder E-Mail-Adresse')
  for (const theme of ['purple', '"><script>', '__proto__']) {
    assertLeads(await person.post('/preferences', { theme, language: theme, return: '//evil.test' }), '/')
    assert.match((await person.get(SIGN_IN)).body, /<html lang="de" data-theme="dark">/)
  }
  for (const to of ['https://evil.test/', '/\\evil.test', '/..//evil.test', '/./\tevil', 'javascript:alert(1)', ''])
    assertLeads(await person.post('/preferences', { theme: 'light', return: to }), '/')
  const headers = { 'sec-fetch-site': 'cross-site' }
  assertSays(
    await person.post('/preferences', { theme: 'dark' }, headers),
    403,
    'Eine andere Website hat dieses Formular gesendet.',
  )
  person.cookies.set('__Host-depot-language', '\u0000<script>')
  person.cookies.set('__Host-depot-theme', '{}')
  assert.equal((await person.get(SIGN_IN)).statusCode, 200)
})

test('a sign-in leads only to pages of Depot', () => {
  for (const path of [
    '/account',
    '/account/tokens',
    '/account?x=1',
    '/',
    '/mod/lantern?x=1',
    '/account.evil.test',
    '/account/authorize?redirect_uri=https%3A%2F%2Fa.test',
  ])
    assert.equal(returnPath(path), path)
  for (const path of [
    '',
    'https://evil.test/account',
    '//evil.test/account',
    '/\\evil.test/account',
    '/account\\..\\..\\evil.test',
    '/account/..//evil.test',
    '/account/%2e%2e//evil.test',
    'account',
    ' /account',
    'javascript:alert(1)',
    '/account\nSet-Cookie: x=1',
    `/account?${'a'.repeat(20_000)}`,
  ])
    assert.equal(returnPath(path), '/account', path)
})

test('shows that registration is closed, and rejects it', async () => {
  const closed = await testApp({ env: { REGISTRATION: 'closed' } })
  try {
    const page = await visitor(closed).get('/account/sign-up')
    assertSays(page, 200, 'does not accept new accounts')
    const person = visitor(closed)
    const { _csrf = '' } = hiddenFields(await person.get(SIGN_IN), SIGN_IN)
    const fields = { _csrf, username: 'late', email: 'late@example.org', password: PASSWORD }
    assertSays(await person.post('/account/sign-up', fields), 403, 'does not accept new accounts')
  } finally {
    await closed.close()
  }
})

test('a sign-up that must say nothing about the email address continues by email', async () => {
  for (let n = 0; n < 5; n += 1) await takeAnswer(t.deps.counters, '127.0.0.1')
  const person = visitor(t)
  const fields = { username: 'mailed.person', email: 'mailed@example.org', password: PASSWORD }
  const sent = await person.send('/account/sign-up', '/account/sign-up', fields)
  assertSays(sent, 200, 'This instance does not send emails.')
  assertValidHtml(sent.body)
  const [mail = ''] = await mailsTo(t, fields.email, /Continue your sign-up/)
  const link = new URL(/^(https:\/\/depot\.test\/\S+)\r$/m.exec(mail)?.[1] ?? assert.fail(mail))
  const done = await person.send(`${link.pathname}${link.search}`, '/account/sign-up', fields)
  assert.equal(done.statusCode, 303, done.body)
  t.advance(60 * 60_000)
})
