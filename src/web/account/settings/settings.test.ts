import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { scopeNames } from '#features/basics/access/scopes.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { mailsTo, makeMember, OTHER_PASSWORD, PASSWORD, totpCode } from '#test/support/http/account-steps.ts'
import { BASE, makeApplication } from '#test/support/http/oauth-steps.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'
import { qrCode } from './qr-code.ts'

const t = await testApp()
after(() => t.close())

const HOSTILE = '<script>alert("x")</script>\'&amp;'

test('each settings page asks visitors to sign in, and changes nothing', async () => {
  for (const path of [
    '',
    '/security',
    '/notifications',
    '/tokens',
    '/applications',
    '/applications/new',
    '/authorizations',
    '/data',
    '/authorize',
  ]) {
    const page = `/account${path}`
    assertLeads(await visitor(t).get(page), `/account/sign-in?return=${encodeURIComponent(page)}`)
  }
  const stranger = visitor(t)
  const csrf = hiddenFields(await stranger.get('/account/sign-in'), '/account/sign-in')
  for (const path of ['/notifications', '/data/devices/end', '/data/export'])
    assertLeads(await stranger.post(`/account${path}`, csrf), '/account/sign-in')
  // These forms keep what was entered.
  for (const path of ['', '/security', '/tokens', '/applications/new', '/data']) {
    const location = String((await stranger.post(`/account${path}`, csrf)).headers.location)
    const back = encodeURIComponent(`/account${path}?restore=`)
    assert.match(location, new RegExp(`^/account/sign-in\\?return=${back}[\\w-]+$`))
  }
})

test('the profile is changed by the rules of the API, and shown escaped', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const other = await makeMember(t)
  const send = (fields: { username?: string; bio?: string }) =>
    person.send('/account', '/account', { username: member.username, bio: '', ...fields })
  assertSays(await send({ username: other.username, bio: HOSTILE }), 409, 'The username is taken.')
  assertSays(await send({ bio: 'a'.repeat(161) }), 400, 'The text must have at most 160 characters.')
  const refused = await send({ username: HOSTILE })
  assertSays(refused, 400, 'The username must be 1-39 letters A-Z, digits, dots, underscores or hyphens')
  assert.ok(!refused.body.includes('<script>alert') && refused.body.includes('&lt;script&gt;'))
  assertLeads(await send({ bio: `${HOSTILE}\r\nsecond line` }), '/account?done=profile')
  assert.equal((await t.anyone.get(`/v3/user/${member.id}`)).json().bio, `${HOSTILE}\nsecond line`)
  const page = await person.get('/account?done=profile')
  assertSays(page, 200, 'Your profile was saved.')
  assert.ok(!page.body.includes('<script>alert'))
  assertLeads(await send({}), '/account?done=profile')
  assert.equal((await t.anyone.get(`/v3/user/${member.id}`)).json().bio, null)
})

/** Sends the form of a page with an image. */
async function sendPicture(person: Visitor, page: string, bytes: Buffer, name: string) {
  const { _csrf = '' } = hiddenFields(await person.get(page), page)
  const body = new FormData()
  body.append('_csrf', _csrf)
  body.append('do', 'picture')
  body.append('picture', new Blob([Uint8Array.from(bytes)]), name)
  const response = new Response(body)
  const cookie = [...person.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
  return t.inject({
    method: 'POST',
    url: page,
    payload: Buffer.from(await response.arrayBuffer()),
    headers: { cookie, 'user-agent': 'x', 'content-type': response.headers.get('content-type') ?? '' },
  })
}

test('an image is set and removed, for a user and for an application', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const { id } = await makeApplication(t, member)
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  for (const [page, read, key] of [
    ['/account', `/v3/user/${member.id}`, 'avatar_url'],
    [`/account/applications/${id}`, `${BASE}/app/${id}`, 'icon_url'],
  ] as const) {
    const url = async () => (await t.anyone.get(read)).json()[key]
    assertLeads(await sendPicture(person, page, png, 'me.PNG'), `${page}?done=picture`)
    assert.match(await url(), /^https:\/\/depot\.test\/data\//)
    assertSays(await sendPicture(person, page, png, 'me.webp'), 400, 'ext')
    assertSays(await sendPicture(person, page, Buffer.alloc(0), 'me.png'), 400, 'Choose an image first')
    assertSays(await sendPicture(person, page, Buffer.alloc(262_145), 'me.png'), 400, 'at most 256 KiB')
    assertLeads(await person.send(page, page, { do: 'remove-picture' }), `${page}?done=picture-removed`)
    assert.equal(await url(), null)
  }
  await t.runJobs()
})

test('address and password are changed, and other sessions end', async () => {
  const member = await makeMember(t)
  const elsewhere = await t.make.session(member.id)
  const person = visitor(t, member.token)
  const page = '/account/security'
  assertSays(
    await person.send(page, page, { do: 'email', email: 'nowhere' }),
    400,
    'The email address must be an email address.',
  )
  assertLeads(await person.send(page, page, { do: 'email', email: 'moved@example.org' }), `${page}?done=email`)
  const password = (new_password: string) => person.send(page, page, { do: 'password', new_password })
  assertSays(await password('short'), 400, 'The new password must have at least 8 characters.')
  assertLeads(await password(OTHER_PASSWORD), `${page}?done=password`)
  assertSays(await person.get(page), 200, 'moved@example.org')
  assert.equal((await t.as({ token: elsewhere }).get('/v3/user')).statusCode, 401)
  assert.equal((await mailsTo(t, member.email, /email address was changed/)).length, 1)
})

test('two-factor sign-in is turned on, shows its backup codes once, and is turned off', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/security'
  const started = await person.send(page, page, { do: 'start' })
  const secret = /id="key" data-text="([A-Z2-7]+)"/.exec(started.body)?.[1] ?? assert.fail(started.body)
  // The QR code is part of the page, so that the secret is in no URL, and contains the same text as the link.
  const link = /href="(otpauth:[^"]+)"/.exec(started.body)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(started.body)
  assert.ok(link.includes(`secret=${secret}`) && link.includes(member.username))
  assert.ok(started.body.includes(`<path fill="#000" d="${qrCode(link).path}"/></svg>`))
  assert.match(started.body, /<svg class="qr" role="img" aria-label="QR code/)
  assert.ok(started.body.includes(secret.replaceAll(/.{4}/g, '$& ').trim()))
  assert.equal(started.headers['cache-control'], 'no-store')
  assert.match(String(started.headers['content-security-policy']), /script-src 'self'; style-src 'self'; img-src/)
  const wrong = await person.sendFrom(started, page, { do: 'enable', code: '000000' })
  assertSays(wrong, 401, 'The code is wrong')
  assertSays(wrong, 401, secret)
  const on = await person.sendFrom(wrong, page, { do: 'enable', code: totpCode(t, secret) })
  assertSays(on, 200, 'Two-factor sign-in is on')
  const codes = [...on.body.matchAll(/<li>([0-9a-z]{4}(?:-[0-9a-z]{4}){2})<\/li>/g)].map(([, code = '']) => code)
  assert.equal(codes.length, 6)
  assertSays(await person.send(page, page, { do: 'disable', code: 'x' }), 401, 'The code is wrong')
  assertLeads(await person.send(page, page, { do: 'disable', code: codes[0] ?? '' }), `${page}?done=two-factor-off`)
  assertSays(await person.get(page), 200, 'Turn on')
})

test('sessions are listed, the current one is marked, and the others end one by one or together', async () => {
  const member = await makeMember(t)
  const [second, third] = [await t.make.session(member.id), await t.make.session(member.id)]
  const other = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/data'
  const devices = `${page}/devices`
  const shown = await person.get(page)
  assert.equal(shown.body.split('This device').length, 2)
  assert.equal(shown.body.split(`action="${devices}/end"`).length, 4)
  const end = async (id: string) => {
    const { _csrf = '' } = hiddenFields(await person.get(page), `${devices}/end`)
    return person.post(`${devices}/end`, { _csrf, id })
  }
  assertSays(await end(other.sessionId), 404, 'does not exist')
  assertSays(await end('not-an-id'), 400, 'not a base62 identifier')
  const ofSecond = await t.deps.db
    .selectFrom('session')
    .select('id')
    .where('account_id', '=', member.id)
    .where('id', '<>', member.sessionId)
    .limit(1)
    .executeTakeFirstOrThrow()
  assertLeads(await end(ofSecond.id), `${page}?done=session-ended`)
  assertLeads(await person.send(page, `${devices}/end-others`), `${page}?done=sessions-ended`)
  for (const token of [second, third]) assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 401)
  assert.equal((await t.as(other).get('/v3/user')).statusCode, 200)
  assertLeads(await end(member.sessionId), '/account/sign-in?done=signed-out')
  assertLeads(await person.get(page), `/account/sign-in?return=${encodeURIComponent(page)}`)
})

test('a token is created with chosen scopes, shown in one response that is never cached, and revoked', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/tokens'
  const fields = { do: 'make', name: HOSTILE, days: '30', scope: ['USER_READ', 'COLLECTION_CREATE'] }
  const review = await person.send(page, page, fields)
  assertSays(review, 200, 'This token can:')
  assertSays(review, 200, 'Create collections in your name')
  assert.deepEqual((await t.as(member).get('/_internal/pat')).json(), [])
  const made = await person.send(page, page, { ...fields, reviewed: 'yes' })
  assertSays(made, 200, 'Copy the token now')
  assert.equal(made.headers['cache-control'], 'no-store')
  assert.ok(!made.body.includes('<script>alert'))
  const token = /value="(dpp_[0-9A-Za-z]{60})"/.exec(made.body)?.[1] ?? assert.fail(made.body)
  assert.equal((await t.as({ token }).get('/v3/user')).json().id, member.id)
  const [row] = (await t.as(member).get('/_internal/pat')).json()
  assert.deepEqual([row.name, scopeNames(row.scopes)], [HOSTILE, ['USER_READ', 'COLLECTION_CREATE']])
  const list = await person.get(page)
  assert.ok(!list.body.includes(token) && !list.body.includes('<script>alert'))
  assertSays(list, 200, 'USER_READ, COLLECTION_CREATE')
  for (const [wrong, text] of [
    [{ name: 'ab' }, 'The name must be at least 3 characters long.'],
    [{ days: '0' }, 'The expiry must be in the future.'],
    [{ days: 'x' }, 'The expiry must be a valid time.'],
    [{ networks: '192.0.2.1 here' }, 'must be an IPv4 or IPv6 address'],
    [{ resource: 'project:AAAAAAAA' }, 'of which you are a member'],
    [{ days: '100000' }, 'The expiry must be at most 10 years away.'],
    [
      { scope: ['USER_READ', 'SESSION_ACCESS'] },
      'The choice contains scopes that an access token cannot have: SESSION_ACCESS.',
    ],
  ] as const) {
    const refused = await person.send(page, page, { ...fields, ...wrong })
    assertSays(refused, 400, text)
    assert.ok(!('scope' in wrong) ? refused.body.includes('value="COLLECTION_CREATE" checked') : true)
  }
  const [{ id }] = (await t.as(member).get('/_internal/pat')).json()
  assertLeads(await person.send(page, page, { do: 'revoke', id }), `${page}?done=token-revoked`)
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 401)
  const { _csrf = '' } = hiddenFields(await person.get(page), page)
  const foreign = (
    await t
      .as(await makeMember(t))
      .post('/_internal/pat', { name: 'not yours', scopes: 2, expires: new Date(t.deps.now() + DAY_MS) })
  ).json()
  assertSays(await person.post(page, { _csrf, do: 'revoke', id: foreign.id }), 404, 'does not exist')
})

test('the page of a new token asks for the password after ten minutes', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  t.advance(10 * MINUTE_MS)
  const page = '/account/tokens'
  const fields = { name: 'build server', days: '30', scope: ['USER_READ'] }
  assert.match((await person.send(page, page, fields)).body, /name="password"/)
  const without = await person.send(page, page, { ...fields, reviewed: 'yes' })
  assertSays(without, 401, 'The password is required')
  assert.match(without.body, /name="password"/)
  const reviewed = { ...fields, reviewed: 'yes', password: PASSWORD }
  assertSays(await person.send(page, page, reviewed), 200, 'Copy the token now')
})

test('a copy of the data is a file', async () => {
  const member = await makeMember(t)
  const file = await visitor(t, member.token).send('/account/data', '/account/data/export')
  assert.equal(file.headers['content-disposition'], 'attachment; filename="depot-account.json"')
  assert.equal(file.headers['cache-control'], 'no-store')
  assert.equal(file.json().user.id, member.id)
})

test('an account is deleted when its name is typed', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/data'
  assertSays(await person.send(page, page, { do: 'delete', username: 'somebody' }), 400, 'The username does not match')
  assertLeads(
    await person.send(page, page, { do: 'delete', username: member.username }),
    '/account/sign-in?done=account-deleted',
  )
  assert.equal((await t.anyone.get(`/v3/user/${member.id}`)).statusCode, 404)
  assert.equal(person.cookies.size, 0)
})

test('reloading the URL of a form leads to its parent page', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  for (const [form, page] of [
    ['/account/sign-in/code?x=1', '/account/sign-in'],
    ['/account/sign-out', '/account'],
    ['/account/data/devices/end', '/account/data'],
  ] as const)
    assertLeads(await person.get(form), page)
})

test('a form with an image that is too large shows the error at the field, and one that no browser sends is rejected', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  const { _csrf = '' } = hiddenFields(await person.get('/account'), '/account')
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
  const headers = { cookie, 'user-agent': 'x', 'content-type': `multipart/form-data; boundary=${boundary}` }
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="_csrf"\r\n\r\n${_csrf}\r\n--${boundary}\r\ncontent-disposition: form-data; name="do"\r\n\r\npicture\r\n--${boundary}\r\ncontent-disposition: form-data; name="picture"; filename="a.png"\r\n\r\n`
  function* long() {
    yield Buffer.from(head)
    for (let i = 0; i < 80; i += 1) yield Buffer.alloc(65_536)
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const send = (payload: Readable | string, more = {}) =>
    t.inject({ method: 'POST', url: '/account', payload, headers: { ...headers, ...more } })
  for (const body of [Readable.from(long()), `${head}${'x'.repeat(262_145)}\r\n--${boundary}--\r\n`]) {
    const refused = await send(body)
    assertSays(refused, 400, 'id="picture-error"')
    assertSays(refused, 400, 'The image must be at most 256 KiB.')
  }
  const empty = `${head.slice(0, head.lastIndexOf(`--${boundary}`))}--${boundary}--\r\n`
  assertSays(await send(empty), 400, 'Choose an image first')
  assertSays(await send('x'.repeat(400_000)), 400, 'truncated')
  assertSays(await send(head), 400, 'truncated')
  assertSays(await send('', { 'content-type': 'multipart/form-data' }), 400, 'boundary')
})

test('a settings page costs at most two statements, the page of tokens with its choice of projects three', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  for (const path of ['', '/security', '/notifications', '/tokens', '/applications', '/authorizations']) {
    await person.get(`/account${path}`)
    const { queries } = await t.queriesOf(() => person.get(`/account${path}`))
    assert.ok(queries.length <= (path === '/tokens' ? 3 : 2), `${path}: ${queries.length}`)
  }
})
