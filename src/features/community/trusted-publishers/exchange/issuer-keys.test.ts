// Build services that are slow, redirect, or lie about themselves and their keys, over HTTP: each exchange fails with its
// reason, stores nothing, and works once the service does.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'

const DISCOVERY = '/.well-known/openid-configuration'

let t: TestApp
let ci: CiIssuer
let projectId: string
let repository: string
beforeEach(async () => {
  ci = await startCiIssuer()
  t = await testApp({ env: { CI_ISSUERS: JSON.stringify([{ issuer: ci.url, kind: 'generic', name: 'Builds' }]) } })
  const owner = await t.make.account()
  const project = await t.make.project({ owner })
  projectId = project.id
  repository = `lanterns/lamp-${newId().toLowerCase()}`
  const body = { issuer: ci.url, repository, workflow: 'release.yml' }
  const added = await t.as(owner).post(`/v3/project/${project.id}/trusted-publisher`, body)
  assert.equal(added.statusCode, 201, added.body)
})
afterEach(async () => {
  ci.close()
  await t.close()
})

function token(options: Parameters<CiIssuer['token']>[1] = {}): string {
  const seconds = Math.floor(t.deps.now() / 1000)
  const workflow_ref = `${repository}/.github/workflows/release.yml@refs/tags/v1`
  const build = { repository, workflow_ref, ref: 'refs/tags/v1', event_name: 'push', sha: 'ab'.repeat(20) }
  return ci.token({ aud: t.deps.config.ci.audience, iat: seconds, exp: seconds + 600, ...build }, options)
}

const exchange = (text: string) => t.anyone.post('/_internal/oidc/token', { token: text, project: projectId })
const json = (body: unknown) => (res: ServerResponse) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const jwk = (kid: string, key = generateKeyPairSync('rsa', { modulusLength: 2048 })) => ({
  ...key.publicKey.export({ format: 'jwk' }),
  kid,
})

async function assertNothingStored(): Promise<void> {
  for (const table of ['used_ci_token', 'publisher_token'] as const)
    assert.deepEqual(await t.deps.db.selectFrom(table).selectAll().execute(), [])
}

test('a service that redirects, lies or sends something else cannot be used, until it answers correctly', async () => {
  const text = token()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const redirect = (res: ServerResponse) => void res.writeHead(302, { location: `${ci.url}/elsewhere` }).end()
  const wrong: [string, (res: ServerResponse) => void][] = [
    [DISCOVERY, redirect],
    [DISCOVERY, json({ issuer: 'https://other.example', jwks_uri: `${ci.url}/keys` })],
    [DISCOVERY, json({ issuer: ci.url, jwks_uri: 'http://keys.example/keys' })],
    [DISCOVERY, json({ issuer: ci.url, jwks_uri: 'file:///etc/passwd' })],
    [DISCOVERY, json({ issuer: ci.url })],
    [DISCOVERY, json(null)],
    [DISCOVERY, (res) => void res.writeHead(200).end('not JSON')],
    [DISCOVERY, (res) => void res.writeHead(500).end()],
    ['/keys', redirect],
    ['/keys', json({ keys: [] })],
    ['/keys', json({ keys: [{ kty: 'oct', kid: 'first', k: 'AAAA' }] })],
    ['/keys', json({ keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'first' }] })],
    ['/keys', json({ keys: [jwk('first')], padding: 'x'.repeat(300_000) })],
    ['/keys', (res) => res.destroy()],
  ]
  for (const [path, answer] of wrong) {
    ci.answers.set(path, answer)
    const failed = await exchange(text)
    assertError(failed, 424, 'auth_error')
    assert.match(failed.json().description, /keys of Builds cannot be read/)
    ci.answers.clear()
    t.advance(11_000)
  }
  assert.ok(!ci.requests.includes('/elsewhere'))
  await assertNothingStored()
  assert.equal((await exchange(token())).statusCode, 200)
})

test('a slow service holds no request longer than its time limit, and concurrent requests share one request', async () => {
  ci.answers.set(DISCOVERY, () => undefined)
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(token())))
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [424])
  assert.equal(ci.requests.length, 1)
  // Not requested again immediately.
  assertError(await exchange(token()), 424, 'auth_error')
  assert.equal(ci.requests.length, 1)
  await assertNothingStored()
})

test('a key with the ID of another one does not verify, and a new key is accepted with one request per minute', async () => {
  const keys = () => ci.requests.filter((path) => path === '/keys').length
  assert.equal((await exchange(token())).statusCode, 200)
  assert.equal(keys(), 1)
  ci.addKey('second')
  assert.equal((await exchange(token({ kid: 'second' }))).statusCode, 200)
  assert.equal(keys(), 2)
  for (const kid of ['third', 'fourth']) {
    const refused = await exchange(token({ kid }))
    assertError(refused, 400, 'invalid_input')
    assert.equal(refused.json().details.code, 'unknown_key')
  }
  assert.equal(keys(), 2)
  t.advance(MINUTE_MS)
  ci.answers.set('/keys', json({ keys: [jwk('first'), jwk('third')] }))
  assert.equal((await exchange(token({ kid: 'third' }))).json().details.code, 'signature')
  assert.equal((await exchange(token())).json().details.code, 'signature')
  assert.equal(keys(), 3)
})

test('while a service is unavailable, known keys work and unknown ones are named', async () => {
  assert.equal((await exchange(token())).statusCode, 200)
  ci.answers.set(DISCOVERY, (res) => void res.writeHead(503).end())
  t.advance(11 * MINUTE_MS)
  assert.equal((await exchange(token())).statusCode, 200)
  const unknown = await exchange(token({ kid: 'new' }))
  assert.equal(unknown.json().details.code, 'unknown_key')
})
