import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import {
  assertOAuthError,
  BASE,
  CALLBACK,
  exchange,
  getCode,
  getToken,
  makeApplication,
  oauthApp,
  postForm,
  SCOPES,
  statusOf,
  type TestApplication,
} from '#test/support/http/oauth-steps.ts'

const { t, owner, application } = await oauthApp()

const codeOf = (person: { token: string } = owner) => getCode(t, person, { client_id: application.id })
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const pkce = {
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}

test('a code is exchanged for a token with the granted scopes, in a response that is never cached', async () => {
  const answer = await exchange(t, application, { code: await codeOf() })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['pragma'], 'no-cache')
  const { access_token: token, ...rest } = answer.json()
  assert.deepEqual(rest, {
    token_type: 'Bearer',
    expires_in: 1_209_600,
    scope: 'USER_READ PROJECT_READ COLLECTION_CREATE',
  })
  assert.match(token, /^dpo_[0-9A-Za-z]{60}$/)
  const user = await t.as({ token: `Bearer ${token}` }).get('/v3/user')
  assert.deepEqual([user.json().id, user.json().email], [owner.id, null])
  assert.equal((await t.as({ token }).patch(`/v3/user/${owner.id}`, { bio: 'x' })).statusCode, 403)
  assert.equal((await t.as({ token }).get('/_internal/session/list')).statusCode, 403)
  const stored = JSON.stringify(await t.deps.db.selectFrom('oauth_token').selectAll().execute())
  assert.ok(!stored.includes(token))
})

test('the secret comes as a field, as Basic, as Bearer or raw, at every prefix', async () => {
  const { id, secret } = application
  const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
  for (const [fields, authorization] of [
    [{ client_id: id }, basic],
    [{}, basic],
    [{}, basic.replace('Basic', 'basic')],
    [{ client_id: id }, `Bearer ${secret}`],
    [{ client_id: id }, secret],
  ] as const) {
    const form = { ...fields, code: await codeOf(), redirect_uri: CALLBACK }
    const answer = await postForm(t, 'token', form, { authorization })
    assert.equal(answer.statusCode, 200, answer.body)
  }
  for (const base of ['/_internal/oauth', '/v3/oauth']) {
    const form = {
      client_id: id,
      client_secret: secret,
      code: await codeOf(),
      redirect_uri: CALLBACK,
      grant_type: 'authorization_code',
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await t.anyone.post(`${base}/token`, new URLSearchParams(form).toString(), { headers })
    assert.equal(answer.statusCode, 200, answer.body)
  }
})

test('an application that does not prove itself gets nothing, and uses no code up', async () => {
  const code = await codeOf()
  const refused = [
    { client_secret: undefined },
    { client_secret: '' },
    { client_secret: 'x'.repeat(54) },
    { client_secret: application.secret.slice(0, -1) },
    { client_id: 'zzzzzzzz' },
    { client_id: 'not-an-id' },
  ]
  for (const fields of refused) {
    const answer = await exchange(t, application, { code, ...fields })
    assertOAuthError(answer, 401, 'invalid_client')
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="Depot"')
  }
  const form = { client_id: application.id, code, redirect_uri: CALLBACK }
  for (const authorization of [
    'Bearer wrong',
    'wrong',
    `Basic ${Buffer.from(`${application.id}:wrong`).toString('base64')}`,
    `Basic ${Buffer.from(application.id).toString('base64')}`,
    'Digest x="y"',
  ])
    assertOAuthError(await postForm(t, 'token', form, { authorization }), 401, 'invalid_client')
  const basic = `Basic ${Buffer.from(`${application.id}:${application.secret}`).toString('base64')}`
  assertOAuthError(
    await postForm(t, 'token', { ...form, client_id: 'zzzzzzzz' }, { authorization: basic }),
    400,
    'invalid_request',
  )
  const both = { ...form, client_secret: application.secret }
  assertOAuthError(await postForm(t, 'token', both, { authorization: basic }), 400, 'invalid_request')
  assert.equal((await exchange(t, application, { code })).statusCode, 200)
})

test('missing, empty and doubled fields and other bodies have other errors than wrong codes', async () => {
  const code = await codeOf()
  for (const fields of [
    { code: undefined },
    { code: '' },
    { code, redirect_uri: undefined },
    { code: [code, code] },
    { code, redirect_uri: [CALLBACK, CALLBACK] },
    { code, client_id: undefined },
    { code, client_id: [application.id, application.id] },
    { code, client_secret: [application.secret, application.secret] },
    { code, grant_type: ['authorization_code', 'authorization_code'] },
    { code, code_verifier: 'short' },
    { code, code_verifier: 'a'.repeat(129) },
    { code, code_verifier: `${'a'.repeat(43)}!` },
  ])
    assertOAuthError(await exchange(t, application, fields), 400, 'invalid_request')
  for (const grant_type of ['refresh_token', 'client_credentials', 'password'])
    assertOAuthError(await exchange(t, application, { code, grant_type }), 400, 'unsupported_grant_type')
  const json = await t.anyone.post(`${BASE}/token`, { client_id: application.id, code })
  assertOAuthError(json, 400, 'invalid_request')
  const large = await exchange(t, application, { code, padding: 'x'.repeat(40_000) })
  assertOAuthError(large, 400, 'invalid_request')
  assertOAuthError(await postForm(t, 'token', {}), 400, 'invalid_request')
  assert.equal((await exchange(t, application, { code })).statusCode, 200)
})

test('a wrong try uses a code up: another application, another address, a wrong verifier', async () => {
  const other = await makeApplication(t, owner)
  for (const attempt of [
    async (code: string) => exchange(t, other, { code }),
    async (code: string) => exchange(t, application, { code, redirect_uri: `${CALLBACK}/` }),
    async (code: string) => exchange(t, application, { code, redirect_uri: CALLBACK.replace('https', 'http') }),
    async (code: string) => exchange(t, application, { code, code_verifier: VERIFIER }),
  ]) {
    const code = await codeOf()
    assertOAuthError(await attempt(code), 400, 'invalid_grant')
    assertOAuthError(await exchange(t, application, { code }), 400, 'invalid_grant')
  }
  assertOAuthError(await exchange(t, application, { code: 'x'.repeat(54) }), 400, 'invalid_grant')
})

test('a code lives for ten minutes', async () => {
  const [early, late] = [await codeOf(), await codeOf()]
  t.advance(9 * MINUTE_MS)
  assert.equal((await exchange(t, application, { code: early })).statusCode, 200)
  t.advance(60_001)
  assertOAuthError(await exchange(t, application, { code: late }), 400, 'invalid_grant')
})

test('a code asked for with a challenge needs its verifier', async () => {
  const asked = { client_id: application.id, ...pkce }
  const answer = await exchange(t, application, { code: await getCode(t, owner, asked), code_verifier: VERIFIER })
  assert.equal(answer.statusCode, 200, answer.body)
  for (const code_verifier of [undefined, `${VERIFIER}x`, 'a'.repeat(43), pkce.code_challenge]) {
    const code = await getCode(t, owner, asked)
    assertOAuthError(await exchange(t, application, { code, code_verifier }), 400, 'invalid_grant')
  }
})

test('compares a loopback redirect URI with the requested port', async () => {
  const program = await makeApplication(t, owner, { redirect_uris: ['http://127.0.0.1/cb'] })
  const redirect_uri = 'http://127.0.0.1:49152/cb'
  const ask = () => getCode(t, owner, { client_id: program.id, redirect_uri })
  assert.equal((await exchange(t, program, { code: await ask(), redirect_uri })).statusCode, 200)
  assertOAuthError(
    await exchange(t, program, { code: await ask(), redirect_uri: 'http://127.0.0.1/cb' }),
    400,
    'invalid_grant',
  )
})

test('a public client exchanges with its verifier and no secret', async () => {
  const body = { name: 'Launcher', max_scopes: 2, redirect_uris: [CALLBACK], public_client: true }
  const { id } = (await t.as(owner).post(`${BASE}/app`, body)).json()
  const ask = () => getCode(t, owner, { client_id: id, ...pkce })
  const form = { client_id: id, redirect_uri: CALLBACK, code_verifier: VERIFIER }
  assert.equal((await postForm(t, 'token', { ...form, code: await ask() })).statusCode, 200)
  // Some libraries send this header if there is no secret.
  const authorization = `Basic ${Buffer.from(`${id}:`).toString('base64')}`
  const asBasic = await postForm(t, 'token', { ...form, code: await ask(), client_secret: '' }, { authorization })
  assert.equal(asBasic.statusCode, 200, asBasic.body)
  assertOAuthError(
    await postForm(t, 'token', { ...form, code: await ask(), code_verifier: undefined }),
    400,
    'invalid_grant',
  )
  assertOAuthError(
    await postForm(t, 'token', { ...form, code: await ask(), client_secret: 'x' }),
    401,
    'invalid_client',
  )
})

test('a token keeps its scopes when less is allowed later, and works for fourteen days', async () => {
  const person = await t.make.account()
  const token = await getToken(t, application, person)
  await getCode(t, person, { client_id: application.id, scope: 'PROJECT_READ' })
  const [allowed] = (await t.as(person).get(`${BASE}/authorizations`)).json()
  assert.equal(allowed.scopes, SCOPES)
  t.advance(14 * DAY_MS - 60_000)
  assert.equal(await statusOf(t, token), 200)
  t.advance(60_001)
  assert.equal(await statusOf(t, token), 401)
  owner.token = await t.make.session(owner.id)
})

test('an application sees the state of only its own tokens', async () => {
  const person = await t.make.account()
  const token = await getToken(t, application, person)
  const other = await makeApplication(t, owner)
  const look = (as: TestApplication, text: string) =>
    postForm(t, 'introspect', { client_id: as.id, client_secret: as.secret, token: text })
  const state = await look(application, token)
  const { exp, iat, ...rest } = state.json()
  assert.deepEqual(rest, {
    active: true,
    scope: 'USER_READ PROJECT_READ COLLECTION_CREATE',
    client_id: application.id,
    username: person.username,
    sub: person.id,
    token_type: 'Bearer',
  })
  assert.equal(exp - iat, 1_209_600)
  assert.equal(state.headers['cache-control'], 'no-store')
  const anonymous = await exchange(t, application, {
    code: await getCode(t, person, { client_id: application.id, scope: 'PROJECT_READ' }),
  })
  const unseen = (await look(application, anonymous.json().access_token)).json()
  assert.deepEqual(
    [unseen.active, unseen.scope, unseen.username, unseen.sub],
    [true, 'PROJECT_READ', undefined, undefined],
  )
  const expired = { active: false }
  assert.deepEqual((await look(other, token)).json(), expired)
  for (const text of ['nonsense', person.token, `${token}x`])
    assert.deepEqual((await look(application, text)).json(), expired)
  assertOAuthError(await look({ ...application, secret: 'x' }, token), 401, 'invalid_client')
  assertOAuthError(await look(application, ''), 400, 'invalid_request')
})

test('an application can revoke only its own tokens', async () => {
  const token = await getToken(t, application, await t.make.account())
  const other = await makeApplication(t, owner)
  const revoke = (as: TestApplication, text: string) =>
    postForm(t, 'revoke', { client_id: as.id, client_secret: as.secret, token: text, token_type_hint: 'access_token' })
  assertOAuthError(await revoke(other, token), 400, 'unauthorized_client')
  assertOAuthError(await revoke({ ...application, secret: 'x' }, token), 401, 'invalid_client')
  assert.equal(await statusOf(t, token), 200)
  for (let i = 0; i < 2; i += 1) {
    const answer = await revoke(application, token)
    assert.deepEqual([answer.statusCode, answer.body], [200, ''])
    assert.equal(await statusOf(t, token), 401)
  }
  assert.equal((await revoke(application, 'nonsense')).statusCode, 200)
})

test('the fifty-first token of one authorization ends the oldest', async () => {
  const person = await t.make.account()
  const first = await getToken(t, application, person)
  assert.equal(await statusOf(t, first), 200)
  for (let i = 0; i < 50; i += 1) {
    t.advance(1)
    await getToken(t, application, person)
  }
  assert.equal(await statusOf(t, first), 401)
})

test('an exchange costs no more statements than making an access token, and a warm token none', async () => {
  const code = await codeOf()
  const { result, queries } = await t.queriesOf(() => exchange(t, application, { code }))
  const expires = new Date(t.deps.now() + DAY_MS).toISOString()
  await t.as(owner).get('/v3/user')
  const pat = await t.queriesOf(() => t.as(owner).post('/_internal/pat', { name: 'beside', scopes: 2, expires }))
  assert.equal(pat.result.statusCode, 201)
  assert.ok(queries.length <= pat.queries.length, `${queries.length} and ${pat.queries.length}`)
  const token = result.json().access_token
  const own = { token: pat.result.json().access_token }
  for (const as of [{ token }, own]) assert.equal(await statusOf(t, as.token), 200)
  const warm = async (as: { token: string }) =>
    (await t.queriesOf(() => t.as(as).get('/v3/limits/projects'))).queries.length
  assert.equal(await warm({ token }), await warm(own))
  assert.equal((await t.queriesOf(() => t.as({ token }).get('/v3/user'))).queries.length, 0)
})

test('deletes expired rows', async () => {
  await codeOf()
  await getToken(t, application, owner)
  t.advance(15 * DAY_MS)
  await t.runJob('oauth.expire')
  for (const table of ['oauth_flow', 'oauth_code', 'oauth_token'] as const)
    assert.deepEqual(await t.deps.db.selectFrom(table).selectAll().execute(), [])
  owner.token = await t.make.session(owner.id)
})
