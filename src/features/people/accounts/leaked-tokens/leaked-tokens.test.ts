import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newToken } from '#lib/access/tokens.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError, mailsTo } from '#test/support/http/account-steps.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'

let t: TestApp
let host: CiIssuer
before(async () => {
  host = await startCiIssuer()
  t = await testApp({ env: { LEAK_REPORT_KEYS_URL: `${host.url}/report-keys` } })
})
after(async () => {
  host.close()
  await t.close()
})

const works = async (token: string): Promise<boolean> => (await t.as({ token }).get('/v3/user')).statusCode === 200
const revoke = (token: unknown) => t.anyone.post('/v3/leaked-token', { token })

function report(list: unknown, headers: Record<string, string> = {}) {
  const payload = typeof list === 'string' ? list : JSON.stringify(list)
  const signed = { 'github-public-key-identifier': 'report', 'github-public-key-signature': host.signReport(payload) }
  const all = { 'content-type': 'application/json', ...signed, ...headers }
  return t.anyone.post('/_internal/leaked-tokens', Buffer.from(payload), { headers: all })
}

test('anyone who has a token can revoke it, and its owner learns of it', async () => {
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  assert.ok(await works(token))
  assert.equal((await revoke(` ${token}\n`)).statusCode, 204)
  assert.ok(!(await works(token)))
  const [mail = ''] = await mailsTo(t, person.email, /leaked token/)
  assert.match(mail, /personal access token/)
  assert.ok(!mail.includes(token))
  const { entries } = (await t.as(person).get('/_internal/account/audit-log')).json()
  const leaked = entries.find((entry: { action: string }) => entry.action === 'token.leaked')
  assert.deepEqual(leaked.details, { token: 'pat' })
})

test('a session is revoked too, and other texts get the same response', async () => {
  const person = await t.make.account()
  assert.equal((await revoke(person.token)).statusCode, 204)
  assert.ok(!(await works(person.token)))
  for (const text of [newToken('pat').token, newToken('publisher').token, 'dpp_', 'a'.repeat(512), person.token]) {
    const answer = await revoke(text)
    assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  }
  for (const text of ['', 5, null, 'a'.repeat(513)]) assertError(await revoke(text), 400, 'validation_error', 'token')
})

test('a code host revokes by its signed report, which says what worked', async () => {
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const url = 'https://code.example/commit/1'
  const unknown = newToken('oauth').token
  const answer = await report([
    { token, type: 'depot_pat', url, source: 'content' },
    { token: unknown, type: 'depot_oauth', url },
    { token, type: 'depot_pat', url: 'javascript:alert(1)' },
  ])
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(answer.json(), [
    { token_raw: token, token_type: 'depot_pat', label: 'true_positive' },
    { token_raw: unknown, token_type: 'depot_oauth', label: 'false_positive' },
    { token_raw: token, token_type: 'depot_pat', label: 'false_positive' },
  ])
  assert.ok(!(await works(token)))
  const [mail = ''] = await mailsTo(t, person.email, /leaked token/)
  assert.ok(mail.includes(url))
})

test('reports with another signature, key or form are rejected and revoke nothing', async () => {
  const { token } = await t.make.pat(await t.make.account())
  const list = [{ token, type: 'depot', url: '' }]
  const other = host.signReport(JSON.stringify([{ token }]))
  for (const headers of [
    { 'github-public-key-signature': other },
    { 'github-public-key-signature': 'AAAA' },
    { 'github-public-key-signature': '' },
    { 'github-public-key-identifier': 'old' },
    { 'github-public-key-identifier': 'unknown' },
  ])
    assertError(await report(list, headers), 401, 'unauthorized')
  assertError(await report('{'), 400, 'invalid_input', 'body')
  assertError(await report({ token }), 400, 'invalid_input', 'body')
  assertError(await report([null]), 400, 'invalid_input', '0.token')
  assertError(await report(Array(101).fill({ token })), 400, 'invalid_input', 'body')
  assert.ok(await works(token))
  // Unknown keys cause at most one request per minute.
  assert.equal(host.requests.filter((path) => path === '/report-keys').length, 1)
})

test('without keys of a code host, its reports are 404', async () => {
  const plain = await testApp()
  const answer = await plain.anyone.post('/_internal/leaked-tokens', [])
  assertError(answer, 404, 'not_found')
  await plain.close()
})
