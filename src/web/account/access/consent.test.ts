import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import {
  BASE,
  CALLBACK,
  exchange,
  makeApplication,
  statusOf,
  type TestApplication,
} from '#test/support/http/oauth-steps.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: { token: string; username: string }
let application: TestApplication
before(async () => {
  t = await testApp()
  owner = await makeMember(t)
  application = await makeApplication(t, owner, {
    description: 'Draws charts',
    url: 'https://charts.example.org/about',
  })
})
after(() => t.close())

const CONSENT = '/account/authorize'

function question(fields: Record<string, string> = {}): string {
  return `?${new URLSearchParams({ client_id: application.id, redirect_uri: CALLBACK, state: 'a b&c', ...fields })}`
}

test('a browser without a session is led through sign-in and consent, and back to the application', async () => {
  const { username } = await makeMember(t)
  const person = visitor(t)
  const start = await person.get(`${BASE}/authorize${question()}`)
  const page = assertLeads(start, `${CONSENT}${question()}`)
  const signIn = assertLeads(await person.get(page), `/account/sign-in?return=${encodeURIComponent(page)}`)
  const signedIn = await person.send(signIn, '/account/sign-in', { username, password: PASSWORD })
  assertSays(signedIn, 200, `<meta http-equiv="refresh" content="0; url=${page}">`)
  const asked = await person.get(page)
  for (const text of [
    'Allow <bdi>Chart Maker</bdi>?',
    owner.username,
    'charts.example.org',
    'Draws charts',
    'Create collections in your name',
    'delete your account',
    'app.example.org',
  ])
    assertSays(asked, 200, text)
  assert.match(String(asked.headers['content-security-policy']), /form-action 'self' https:\/\/app\.example\.org;/)
  const back = await person.sendFrom(asked, CONSENT, { decision: 'accept' })
  assert.equal(back.statusCode, 303)
  const url = new URL(String(back.headers.location))
  assert.deepEqual([`${url.origin}${url.pathname}`, url.searchParams.get('state')], [CALLBACK, 'a b&c'])
  const answer = await exchange(t, application, { code: url.searchParams.get('code') ?? '' })
  assert.equal(answer.json().scope, 'USER_READ PROJECT_READ COLLECTION_CREATE')
  const again = await person.get(page)
  assert.equal(again.statusCode, 303)
  assert.ok(String(again.headers.location).startsWith(`${CALLBACK}?code=`))
})

test('returns a denial to the application', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  const back = await person.send(`${CONSENT}${question()}`, CONSENT, { decision: 'reject' })
  const url = new URL(String(back.headers.location))
  assert.deepEqual([url.searchParams.get('error'), url.searchParams.get('state')], ['access_denied', 'a b&c'])
})

test('a form that is sent again, by another account, without a decision or with another request does nothing', async () => {
  const [person, other] = [visitor(t, (await makeMember(t)).token), visitor(t, (await makeMember(t)).token)]
  const asked = await person.get(`${CONSENT}${question()}`)
  const { flow = '' } = hiddenFields(asked, CONSENT)
  const theirs = hiddenFields(await other.get(`${CONSENT}${question()}`), CONSENT)
  assertSays(await other.post(CONSENT, { ...theirs, flow, decision: 'accept' }), 404, 'already answered')
  assertSays(await person.sendFrom(asked, CONSENT), 400, 'must be accept or reject')
  assertSays(await person.sendFrom(asked, CONSENT, { decision: 'maybe' }), 400, 'must be accept or reject')
  assertSays(
    await person.sendFrom(asked, CONSENT, { decision: 'accept', flow: 'x'.repeat(54) }),
    404,
    'already answered',
  )
  assert.equal((await person.sendFrom(asked, CONSENT, { decision: 'accept' })).statusCode, 303)
  assertSays(await person.sendFrom(asked, CONSENT, { decision: 'accept' }), 404, 'already answered')
})

test('redirects only to registered URIs of the application', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  for (const [fields, status, text] of [
    [{ redirect_uri: 'https://evil.test/' }, 400, 'not a registered redirect URI'],
    [{ redirect_uri: 'javascript:alert(1)' }, 400, 'not a registered redirect URI'],
    [{ client_id: 'zzzzzzzz' }, 404, 'does not exist'],
  ] as const) {
    const answer = await person.get(`${CONSENT}${question(fields)}`)
    assertSays(answer, status, text)
    assert.equal(answer.headers.location, undefined)
  }
  const problem = await person.get(`${CONSENT}${question({ scope: 'NO_SUCH' })}`)
  assert.equal(new URL(String(problem.headers.location)).searchParams.get('error'), 'invalid_scope')
})

test('words of an application are shown as words', async () => {
  const hostile = '<img src=x onerror=alert(1)>"\'<script>alert(2)</script>'
  const { id } = await makeApplication(t, owner, { name: hostile, description: hostile })
  const person = visitor(t, (await makeMember(t)).token)
  const asked = await person.get(`${CONSENT}${question({ client_id: id })}`)
  assertSays(asked, 200, hostile)
  assert.ok(!asked.body.includes('<img src=x') && !asked.body.includes('<script>alert'))
  await person.sendFrom(asked, CONSENT, { decision: 'accept' })
  for (const page of [
    await person.get('/account/authorizations'),
    await visitor(t, owner.token).get('/account/applications'),
    await visitor(t, owner.token).get(`/account/applications/${id}`),
  ]) {
    assertSays(page, 200, hostile)
    assert.ok(!page.body.includes('<img src=x') && !page.body.includes('<script>alert'))
  }
})

test('can redirect to the URI scheme of an installed program', async () => {
  const { id } = await makeApplication(t, owner, { redirect_uris: ['org.example.launcher:/cb'] })
  const person = visitor(t, (await makeMember(t)).token)
  const asked = await person.get(`${CONSENT}${question({ client_id: id, redirect_uri: 'org.example.launcher:/cb' })}`)
  assert.match(String(asked.headers['content-security-policy']), /form-action 'self' org\.example\.launcher:;/)
  const back = await person.sendFrom(asked, CONSENT, { decision: 'accept' })
  assert.ok(String(back.headers.location).startsWith('org.example.launcher:/cb?code='))
})

test('a program is named by its scheme, whatever stands where hosts do in its address', async () => {
  const uri = 'org.evil.program://accounts.example.com/cb'
  const { id } = await makeApplication(t, owner, { redirect_uris: [uri] })
  const person = visitor(t, (await makeMember(t)).token)
  const asked = await person.get(`${CONSENT}${question({ client_id: id, redirect_uri: uri })}`)
  assertSays(asked, 200, 'you will be sent to <strong>org.evil.program:</strong>')
})

test('an IPv6 address, which no policy can name, is let through by its scheme', async () => {
  const { id } = await makeApplication(t, owner, { redirect_uris: ['http://[::1]/cb'] })
  const person = visitor(t, (await makeMember(t)).token)
  const asked = await person.get(`${CONSENT}${question({ client_id: id, redirect_uri: 'http://[::1]:49152/cb' })}`)
  assert.match(String(asked.headers['content-security-policy']), /form-action 'self' http:;/)
  assertSays(asked, 200, 'you will be sent to <strong>[::1]:49152</strong>')
})

test('a host that is not a host name never reaches the policy of the page', async () => {
  const { id } = await makeApplication(t, owner)
  const uri = 'https://a;sandbox/cb'
  await t.deps.db.updateTable('oauth_redirect_uri').set({ uri }).where('client_id', '=', id).execute()
  await t.as(owner).patch(`${BASE}/app/${id}`, { name: 'Chart Maker 2' })
  const person = visitor(t, (await makeMember(t)).token)
  const asked = await person.get(`${CONSENT}${question({ client_id: id, redirect_uri: uri })}`)
  assert.equal(asked.statusCode, 200)
  assert.match(String(asked.headers['content-security-policy']), /form-action 'self' https:; base-uri 'none'/)
})

test('another user signs out and returns to the consent page', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  const page = `${CONSENT}${question()}`
  const asked = await person.get(page)
  const fields = Object.assign(
    {},
    ...asked.body
      .split('<form')
      .filter((part) => part.includes('action="/account/sign-out"'))
      .slice(-1)
      .map((part) => hiddenFields({ ...asked, body: `<form${part}` }, '/account/sign-out')),
  )
  assertLeads(await person.post('/account/sign-out', fields), `/account/sign-in?return=${encodeURIComponent(page)}`)
})

test('an authorized application is listed and revoked', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const back = await person.send(`${CONSENT}${question()}`, CONSENT, { decision: 'accept' })
  const code = new URL(String(back.headers.location)).searchParams.get('code') ?? ''
  const token = (await exchange(t, application, { code })).json().access_token
  assert.equal(await statusOf(t, token), 200)
  assertSays(await person.get('/account/authorizations'), 200, 'Create collections in your name')
  const ended = await person.send('/account/authorizations', '/account/authorizations/revoke')
  assertLeads(ended, '/account/authorizations?done=authorization-ended')
  assert.equal(await statusOf(t, token), 401)
  assertSays(await person.get('/account/authorizations'), 200, 'You have not authorized any applications.')
})

test('an application is made, edited, given a new secret and deleted on its pages', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/applications'
  const fields = {
    name: 'Paged',
    description: 'd',
    url: 'https://a.test/',
    redirect_uris: 'https://a.test/cb\r\nhttp://127.0.0.1/cb\r\n',
    scope: ['USER_READ'],
  }
  const refused = await person.send(`${page}/new`, `${page}/new`, {
    ...fields,
    redirect_uris: 'https://a.test/cb\nhttp://b.test',
  })
  assertSays(refused, 400, 'Each redirect URL must use https')
  assertSays(refused, 400, 'http://b.test')
  const made = await person.send(`${page}/new`, `${page}/new`, fields)
  assertSays(made, 200, 'Copy the client secret now')
  const id = /id="client-id" value="([^"]+)"/.exec(made.body)?.[1] ?? assert.fail(made.body)
  const secret = /id="secret" value="([^"]+)"/.exec(made.body)?.[1] ?? assert.fail(made.body)
  const own = `${page}/${id}`
  assertLeads(
    await person.send(own, own, { ...fields, name: 'Renamed', description: '', scope: ['USER_READ', 'USER_WRITE'] }),
    `${own}?done=application-saved`,
  )
  const view = (await t.anyone.get(`${BASE}/app/${id}`)).json()
  assert.deepEqual([view.name, view.description, view.max_scopes, view.redirect_uris.length], ['Renamed', null, 6, 2])
  const renewed = await person.send(own, own, { do: 'secret' })
  assert.ok(renewed.statusCode === 200 && !renewed.body.includes(secret))
  const stranger = visitor(t, owner.token)
  assertSays(await stranger.get(own), 404, 'does not exist')
  const { _csrf = '' } = hiddenFields(await stranger.get('/account'), '/account')
  for (const action of ['', 'secret', 'delete', 'picture', 'remove-picture'])
    assertSays(await stranger.post(own, { ...fields, _csrf, do: action }), 404, 'does not exist')
  assertLeads(await person.send(own, own, { do: 'delete' }), `${page}?done=application-deleted`)
  assert.equal((await t.anyone.get(`${BASE}/app/${id}`)).statusCode, 404)
})

test('saving an unchanged application ends no authorization request, and keeps what the form does not show', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const reserved = 2 ** 41
  const { id } = await makeApplication(t, member, { max_scopes: 2 + reserved })
  const own = `/account/applications/${id}`
  const asked = await person.get(`${CONSENT}${question({ client_id: id })}`)
  const fields = { name: 'Renamed', description: '', url: '', redirect_uris: CALLBACK, scope: 'USER_READ' }
  const more = { ...fields, redirect_uris: `${CALLBACK}\nhttps://second.example.org/` }
  for (const form of [fields, more]) assertLeads(await person.send(own, own, form), `${own}?done=application-saved`)
  assert.equal((await t.anyone.get(`${BASE}/app/${id}`)).json().max_scopes, 2 + reserved)
  assert.equal((await person.sendFrom(asked, CONSENT, { decision: 'accept' })).statusCode, 303)
  const again = await person.get(`${CONSENT}${question({ client_id: id, scope: 'USER_READ' })}`)
  const code = new URL(String(again.headers.location)).searchParams.get('code') ?? ''
  assertLeads(await person.send(own, own, fields), `${own}?done=application-saved`)
  const { client_secret: secret } = (await t.as(member).post(`${BASE}/app/${id}/secret`)).json()
  assert.equal((await exchange(t, { id, secret }, { code })).json().error, 'invalid_grant')
})

test('an application without redirect addresses is edited too, and one that has some keeps one', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const form = { name: 'Renamed', description: '', url: '', redirect_uris: ' \r\n' }
  const bare = `/account/applications/${(await makeApplication(t, member, { redirect_uris: [] })).id}`
  assertLeads(await person.send(bare, bare, form), `${bare}?done=application-saved`)
  const full = `/account/applications/${(await makeApplication(t, member)).id}`
  assertSays(await person.send(full, full, form), 400, 'The application needs at least one redirect URL.')
})

test('the page of an application without a secret says so', async () => {
  const person = visitor(t, (await makeMember(t)).token)
  const page = '/account/applications/new'
  const made = await person.send(page, page, {
    name: 'Launcher',
    description: '',
    url: '',
    redirect_uris: CALLBACK,
    public_client: 'yes',
  })
  const own = String(made.headers.location).split('?')[0] ?? ''
  assertLeads(made, `${own}?done=application-saved`)
  assert.ok(!(await person.get(own)).body.includes('Create new secret'))
})
