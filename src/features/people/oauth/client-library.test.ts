// The whole flow with a third-party client library, from discovery to revocation.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import * as client from 'openid-client'
import { testApp } from '#test/support/app/test-app.ts'
import { authorize, BASE, CALLBACK, makeApplication, statusOf } from '#test/support/http/oauth-steps.ts'

const t = await testApp()
after(() => t.close())

const SERVER = new URL('https://depot.test')

/** The library's requests, answered by the application without a network. */
const fetchFromApp: client.CustomFetch = async (url, { method, headers, body }) => {
  assert.ok(url.startsWith(SERVER.href), url)
  const answer = await t.inject({
    method: method as 'GET' | 'POST',
    url: url.slice(SERVER.origin.length),
    headers: { 'user-agent': 'client-library-test', ...headers },
    ...(body === undefined || body === null ? {} : { payload: String(body) }),
  })
  const lines = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Response(answer.body === '' ? null : answer.body, { status: answer.statusCode, headers: lines })
}

async function discover(
  id: string,
  secret: string | undefined,
  authentication: client.ClientAuth,
): Promise<client.Configuration> {
  return client.discovery(SERVER, id, secret, authentication, {
    algorithm: 'oauth2',
    [client.customFetch]: fetchFromApp,
  })
}

/** Sends a person through consent, and returns the address they come back to. */
async function consent(person: { token: string }, url: URL): Promise<URL> {
  assert.equal(`${url.origin}${url.pathname}`, `${SERVER.origin}${BASE}/authorize`)
  const asked = await authorize(t, person, Object.fromEntries(url.searchParams))
  const accepted = await t.as(person).post(`${BASE}/accept`, { flow: asked.json().flow_id })
  return new URL(accepted.body)
}

async function runFlow(config: client.Configuration, person: { token: string }): Promise<string> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'USER_READ',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const back = await consent(person, url)
  const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
  assert.deepEqual([tokens.token_type, tokens.scope, tokens.expires_in], ['bearer', 'USER_READ', 1_209_600])
  return tokens.access_token
}

test('openid-client completes the flow with a secret in the form and in the header', async () => {
  const owner = await t.make.account()
  const { id, secret } = await makeApplication(t, owner)
  for (const authentication of [client.ClientSecretPost(secret), client.ClientSecretBasic(secret)]) {
    const config = await discover(id, secret, authentication)
    const token = await runFlow(config, await t.make.account())
    assert.equal(await statusOf(t, token), 200)
    assert.equal((await client.tokenIntrospection(config, token)).active, true)
    await client.tokenRevocation(config, token)
    assert.equal(await statusOf(t, token), 401)
    assert.equal((await client.tokenIntrospection(config, token)).active, false)
  }
})

test('openid-client completes the flow of a program without a secret', async () => {
  const owner = await t.make.account()
  const body = { name: 'Launcher', max_scopes: 2, redirect_uris: [CALLBACK], public_client: true }
  const { id } = (await t.as(owner).post(`${BASE}/app`, body)).json()
  assert.equal(await statusOf(t, await runFlow(await discover(id, undefined, client.None()), owner)), 200)
})

test('openid-client understands a denial', async () => {
  const owner = await t.make.account()
  const { id, secret } = await makeApplication(t, owner)
  const config = await discover(id, secret, client.ClientSecretPost(secret))
  const asked = await authorize(t, owner, { client_id: id, redirect_uri: CALLBACK })
  const refused = new URL((await t.as(owner).post(`${BASE}/reject`, { flow: asked.json().flow_id })).body)
  await assert.rejects(client.authorizationCodeGrant(config, refused), { error: 'access_denied' })
  const wrong = new URL(`${CALLBACK}?code=wrong&iss=${SERVER.origin}`)
  await assert.rejects(client.authorizationCodeGrant(config, wrong), { error: 'invalid_grant' })
})

test('the description of the server names what the server answers', async () => {
  const answer = await t.anyone.get('/.well-known/oauth-authorization-server')
  const metadata = answer.json()
  assert.equal(metadata.issuer, SERVER.origin)
  assert.ok(!metadata.scopes_supported.includes('SESSION_ACCESS'))
  for (const name of ['token', 'introspection', 'revocation']) {
    const path = new URL(metadata[`${name}_endpoint`]).pathname
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    assert.equal((await t.anyone.post(path, 'client_id=zzzzzzzz', { headers })).statusCode, 401)
  }
})
