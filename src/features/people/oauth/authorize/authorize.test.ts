import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { GRANTABLE_SCOPES, scopeNames } from '#features/basics/access/scopes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import {
  authorize,
  BASE,
  CALLBACK,
  exchange,
  getCode,
  getToken,
  makeApplication,
  parametersOf,
  SCOPES,
  statusOf,
} from '#test/support/http/oauth-steps.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const ISS = 'https://depot.test'

test('an authorization request is shown, accepted once, and the user returns with a code and the state', async () => {
  const application = await makeApplication(t, owner)
  const person = await t.make.account()
  const asked = await authorize(t, person, { client_id: application.id, redirect_uri: CALLBACK, state: 'a b&=é' })
  assert.equal(asked.headers['cache-control'], 'no-store')
  const { flow_id: flow, ...question } = asked.json()
  assert.deepEqual(question, {
    client_id: application.id,
    client_name: 'Chart Maker',
    client_icon: null,
    requested_scopes: SCOPES,
  })
  const accepted = await t.as(person).post(`${BASE}/accept`, { flow })
  const { code, ...rest } = parametersOf(accepted)
  assert.match(code ?? '', /^[0-9A-Za-z]{54}$/)
  assert.deepEqual(rest, { state: 'a b&=é', iss: ISS })
  assert.ok(accepted.body.startsWith(`${CALLBACK}?`))
  for (const name of ['accept', 'reject'])
    assertError(await t.as(person).post(`${BASE}/${name}`, { flow }), 404, 'not_found')
})

test('a refusal comes back as access_denied, once', async () => {
  const application = await makeApplication(t, owner, { redirect_uris: [`${CALLBACK}?keep=1`] })
  const asked = await authorize(t, owner, { client_id: application.id, redirect_uri: `${CALLBACK}?keep=1`, state: 's' })
  const body = { flow: asked.json().flow_id }
  const { error_description: description, ...rest } = parametersOf(await t.as(owner).post(`${BASE}/reject`, body))
  assert.deepEqual(rest, { keep: '1', error: 'access_denied', state: 's', iss: ISS })
  assert.ok(description !== undefined && description !== '')
  assertError(await t.as(owner).post(`${BASE}/accept`, body), 404, 'not_found')
})

test('a user who already granted the scopes sees no prompt; additional scopes show one', async () => {
  const application = await makeApplication(t, owner)
  const person = await t.make.account()
  const query = { client_id: application.id, redirect_uri: CALLBACK }
  await getCode(t, person, { client_id: application.id, scope: 'USER_READ PROJECT_READ' })
  for (const scope of ['USER_READ', 'PROJECT_READ+USER_READ', 'PROJECT_READ USER_READ', ''])
    assert.ok('code' in parametersOf(await authorize(t, person, { ...query, scope })), scope)
  assert.equal((await authorize(t, person, { ...query, scope: 'COLLECTION_CREATE' })).json().requested_scopes, 2 ** 31)
  assert.equal((await authorize(t, person, query)).json().requested_scopes, SCOPES)
  assert.equal((await authorize(t, owner, { ...query, scope: 'USER_READ' })).json().requested_scopes, 2)
})

test('rejects a caller without a session or with fewer scopes, and the authorization request remains', async () => {
  const application = await makeApplication(t, owner)
  const person = await t.make.account()
  const other = await t.make.account()
  const pat = await t.make.pat(person, GRANTABLE_SCOPES)
  const query = { client_id: application.id, redirect_uri: CALLBACK }
  const anonymous = await t.anyone.get(`${BASE}/authorize`, { query })
  assertError(anonymous, 401, 'unauthorized')
  assertError(await t.anyone.get(`${BASE}/authorize`), 401, 'unauthorized')
  const withToken = await authorize(t, pat, query)
  assertError(withToken, 403, 'unauthorized')
  assert.match(withToken.json().description, /USER_AUTH_WRITE/)
  const flow = (await authorize(t, person, query)).json().flow_id
  for (const name of ['accept', 'reject']) {
    assertError(await t.anyone.post(`${BASE}/${name}`, { flow }), 401, 'unauthorized')
    assertError(await t.as(pat).post(`${BASE}/${name}`, { flow }), 403, 'unauthorized')
    const theirs = await t.as(other).post(`${BASE}/${name}`, { flow })
    assertError(theirs, 404, 'not_found')
    const unknown = await t.as(other).post(`${BASE}/${name}`, { flow: 'x'.repeat(54) })
    assert.deepEqual(theirs.json(), unknown.json())
    assertError(await t.as(person).post(`${BASE}/${name}`, { flow: 'x'.repeat(54) }), 404, 'not_found')
    assertError(await t.as(person).post(`${BASE}/${name}`, { flow: 'x'.repeat(129) }), 400, 'validation_error', 'flow')
    assertError(await t.as(person).post(`${BASE}/${name}`, {}), 400, 'validation_error', 'flow')
  }
  assert.equal((await t.as(person).post(`${BASE}/accept`, { flow })).statusCode, 200)
})

test('of parallel answers one counts', async () => {
  const application = await makeApplication(t, owner)
  const flow = (await authorize(t, owner, { client_id: application.id, redirect_uri: CALLBACK })).json().flow_id
  const names = ['accept', 'reject', 'accept', 'reject']
  const answers = await Promise.all(names.map((name) => t.as(owner).post(`${BASE}/${name}`, { flow })))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404, 404])
})

test('an authorization request expires after thirty minutes', async () => {
  const application = await makeApplication(t, owner)
  const ask = async () =>
    (await authorize(t, owner, { client_id: application.id, redirect_uri: CALLBACK })).json().flow_id
  const [early, late] = [await ask(), await ask()]
  t.advance(29 * MINUTE_MS)
  assert.equal((await t.as(owner).post(`${BASE}/reject`, { flow: early })).statusCode, 200)
  t.advance(60_001)
  assertError(await t.as(owner).post(`${BASE}/reject`, { flow: late }), 404, 'not_found')
})

test('redirects only to exactly registered URIs', async () => {
  const application = await makeApplication(t, owner, { redirect_uris: [CALLBACK, 'http://127.0.0.1/cb'] })
  const without = await makeApplication(t, owner, { redirect_uris: [] })
  for (const redirect_uri of [
    `${CALLBACK}/`,
    `${CALLBACK}?x=1`,
    `${CALLBACK}#x`,
    `${CALLBACK}/..`,
    CALLBACK.replace('callback', '%63allback'),
    CALLBACK.replace('.org', '.org.'),
    CALLBACK.replace('.org', '.org:443'),
    CALLBACK.replace('.org', '.org:8443'),
    CALLBACK.replace('https', 'http'),
    CALLBACK.replace('app.', 'user@app.'),
    CALLBACK.toUpperCase(),
    'https://evil.test/callback',
    'http://127.0.0.1:5000/other',
    'http://127.0.0.1:5000@evil.test/cb',
    'x'.repeat(2049),
  ]) {
    const answer = await authorize(t, owner, { client_id: application.id, redirect_uri })
    assertError(answer, 400, 'invalid_input', 'redirect_uri')
    assert.equal(answer.headers.location, undefined)
  }
  assertError(await authorize(t, owner, { client_id: application.id }), 400, 'invalid_input', 'redirect_uri')
  assertError(
    await authorize(t, owner, { client_id: without.id, redirect_uri: CALLBACK }),
    400,
    'invalid_input',
    'redirect_uri',
  )
  const loopback = { client_id: application.id, redirect_uri: 'http://127.0.0.1:49152/cb' }
  assert.equal((await authorize(t, owner, loopback)).statusCode, 200)
})

test('an unknown, absent or doubled application is answered here', async () => {
  const { id } = await makeApplication(t, owner)
  const redirect_uri = CALLBACK
  assertError(await authorize(t, owner, { client_id: 'zzzzzzzz', redirect_uri }), 404, 'not_found')
  assertError(await authorize(t, owner, { client_id: 'not-an-id', redirect_uri }), 400, 'decoding_error')
  assertError(await authorize(t, owner, { redirect_uri }), 400, 'invalid_input', 'client_id')
  const doubled = `client_id=${id}&client_id=${id}&redirect_uri=${encodeURIComponent(redirect_uri)}`
  assertError(await t.as(owner).get(`${BASE}/authorize?${doubled}`), 400, 'invalid_input', 'client_id')
  const twice = `client_id=${id}&redirect_uri=${encodeURIComponent(redirect_uri)}&redirect_uri=https://evil.test`
  assertError(await t.as(owner).get(`${BASE}/authorize?${twice}`), 400, 'invalid_input', 'redirect_uri')
})

test('other errors are sent to the application', async () => {
  const { id } = await makeApplication(t, owner)
  const code_challenge = CHALLENGE
  for (const [query, error] of [
    ['scope=NO_SUCH_SCOPE', 'invalid_scope'],
    ['scope=user_read', 'invalid_scope'],
    ['scope=USER_READ%2CPROJECT_READ', 'invalid_scope'],
    ['scope=USER_READ%09PROJECT_READ', 'invalid_scope'],
    ['scope=USER_READ+USER_WRITE', 'invalid_scope'],
    ['scope=SESSION_ACCESS', 'invalid_scope'],
    ['scope=USER_READ&scope=USER_READ', 'invalid_request'],
    ['response_type=token', 'unsupported_response_type'],
    ['response_type=code&response_type=code', 'invalid_request'],
    ['state=b&state=a', 'invalid_request'],
    [`state=${'a'.repeat(2049)}`, 'invalid_request'],
    ['code_challenge_method=S256', 'invalid_request'],
    [`code_challenge=${code_challenge}`, 'invalid_request'],
    [`code_challenge=${code_challenge}&code_challenge_method=plain`, 'invalid_request'],
    [`code_challenge=${code_challenge}x&code_challenge_method=S256`, 'invalid_request'],
    [`code_challenge=${code_challenge}&code_challenge=x&code_challenge_method=S256`, 'invalid_request'],
  ]) {
    const state = query?.startsWith('state') ? '' : '&state=s'
    const url = `${BASE}/authorize?client_id=${id}&redirect_uri=${encodeURIComponent(CALLBACK)}&${query}${state}`
    const parameters = parametersOf(await t.as(owner).get(url))
    assert.equal(parameters['error'], error, query)
    assert.equal(parameters['state'], state === '' ? undefined : 's')
    assert.ok(!('code' in parameters))
  }
})

test('an application without a secret must use PKCE, and its users see the prompt each time', async () => {
  const made = await t
    .as(owner)
    .post(`${BASE}/app`, { name: 'Launcher', max_scopes: 2, redirect_uris: [CALLBACK], public_client: true })
  const { id, client_secret, public_client } = made.json()
  assert.deepEqual([client_secret, public_client], [null, true])
  const query = { client_id: id, redirect_uri: CALLBACK }
  assert.equal(parametersOf(await authorize(t, owner, query))['error'], 'invalid_request')
  const pkce = { ...query, code_challenge: CHALLENGE, code_challenge_method: 'S256' }
  await getCode(t, owner, pkce)
  assert.ok('flow_id' in (await authorize(t, owner, pkce)).json())
  assertError(await t.as(owner).post(`${BASE}/app/${id}/secret`), 400, 'invalid_input')
})

test('a browser without a token is led to the page, with its query letter by letter', async () => {
  const query = '?client_id=abc&redirect_uri=https%3A%2F%2Fa.test%2F&scope=A+B&state=%26x'
  for (const base of [BASE, '/_internal/oauth', '/v3/oauth']) {
    const answer = await t.anyone.get(`${base}/authorize${query}`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    assert.deepEqual([answer.statusCode, answer.headers.location], [303, `/account/authorize${query}`])
  }
})

test('lists authorized applications; revoking one immediately ends its tokens and codes', async () => {
  const application = await makeApplication(t, owner)
  const person = await t.make.account()
  const token = await getToken(t, application, person)
  assert.equal(await statusOf(t, token), 200)
  const code = await getCode(t, person, { client_id: application.id })
  const path = `${BASE}/authorizations`
  const [allowed, ...others] = (await t.as(person).get(path)).json()
  assert.deepEqual([allowed.app_id, allowed.user_id, allowed.scopes, others], [application.id, person.id, SCOPES, []])
  assertError(await t.as({ token }).get(path), 403, 'unauthorized')
  assertError(await t.anyone.get(path), 401, 'unauthorized')
  assertError(await t.as(person).delete(path), 400, 'invalid_input', 'client_id')
  const end = (client_id: string) => t.as(person).delete(path, undefined, { query: { client_id } })
  assertError(await end('zzzzzzzz'), 404, 'not_found')
  assert.equal((await end(application.id)).statusCode, 204)
  assert.equal(await statusOf(t, token), 401)
  assert.deepEqual((await t.as(person).get(path)).json(), [])
  assert.equal((await exchange(t, application, { code })).json().error, 'invalid_grant')
  assert.equal((await end(application.id)).statusCode, 204)
})

test('the number of statements of a list does not grow with it', async () => {
  const person = await t.make.account()
  const count = async () => (await t.queriesOf(() => t.as(person).get(`${BASE}/authorizations`))).queries.length
  await getToken(t, await makeApplication(t, owner), person)
  await count()
  const one = await count()
  for (let i = 0; i < 5; i += 1) await getToken(t, await makeApplication(t, owner), person)
  assert.equal(await count(), one)
})

test('the names of scopes in a request are those of the table', async () => {
  const application = await makeApplication(t, owner, { max_scopes: GRANTABLE_SCOPES })
  const scope = scopeNames(GRANTABLE_SCOPES).join(' ')
  const asked = await authorize(t, owner, { client_id: application.id, redirect_uri: CALLBACK, scope })
  assert.equal(asked.json().requested_scopes, GRANTABLE_SCOPES)
})
