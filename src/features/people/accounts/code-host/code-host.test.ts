import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues } from '#test/support/http/account-steps.ts'

const LINK = '/_internal/auth/code-host'

/** The code host: the users by token, and the number of requests to it. */
const host = { users: new Map<string, unknown>(), asked: 0, status: 200, headers: {} }
let server: Server
let t: TestApp

before(async () => {
  server = createServer((req, res) => {
    host.asked += 1
    const token = req.headers.authorization?.replace('Bearer ', '') ?? ''
    const id = host.users.get(token)
    const status = host.status !== 200 ? host.status : id === undefined || req.url !== '/api/user' ? 401 : 200
    res
      .writeHead(status, { 'content-type': 'application/json', ...host.headers })
      .end(JSON.stringify({ login: 'someone', id }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t = await testApp({ env: { CODE_HOST_API_URL: `http://127.0.0.1:${port}/api` } })
})
after(async () => {
  server.close()
  server.closeAllConnections()
  await t.close()
})
beforeEach(() => {
  Object.assign(host, { asked: 0, status: 200, headers: {} })
})

const userOf = (token: string) => t.as({ token }).get('/v3/user')

test('a token of the host authenticates the linked account, with all scopes of a token and a warning', async () => {
  host.users.set('ghp_own', 4711)
  const person = await t.make.account()
  assertError(await userOf('ghp_own'), 401, 'unauthorized')
  assert.equal((await t.as(person).post(LINK, { token: 'ghp_own' })).statusCode, 204)
  for (const token of ['ghp_own', 'Bearer ghp_own']) {
    const answer = await userOf(token)
    assert.deepEqual([answer.statusCode, answer.json().id, answer.json().email], [200, person.id, person.email])
    assert.match(String(answer.headers['deprecation']), /^@\d+$/)
  }
  assertError(await t.as({ token: 'ghp_own' }).get('/_internal/session/list'), 403, 'unauthorized')
  assertError(await t.as({ token: 'ghp_own' }).post(LINK, { token: 'ghp_own' }), 403, 'unauthorized')
  assert.equal((await t.as(person).get('/v3/user')).headers['deprecation'], undefined)
})

test('a linked moderator without two-factor sign-in loses the role, if the instance requires it', async () => {
  host.users.set('ghp_staff', 4712)
  const moderator = await t.make.account({ role: 'moderator' })
  assert.equal((await t.as(moderator).post(LINK, { token: 'ghp_staff' })).statusCode, 204)
  const queue = () => t.as({ token: 'ghp_staff' }).get('/_internal/moderation/projects')
  assert.equal((await queue()).statusCode, 200)
  await updateSettings(t.deps, COMMAND, { require_staff_two_factor: true })
  assertError(await queue(), 403, 'unauthorized')
  await updateSettings(t.deps, COMMAND, { require_staff_two_factor: null })
})

test('a link needs a password that was confirmed within ten minutes', async () => {
  host.users.set('ghp_stale', 815)
  const person = await t.make.account()
  t.advance(10 * MINUTE_MS)
  assertError(await t.as(person).post(LINK, { token: 'ghp_stale' }), 401, 'unauthorized', 'password')
  assertError(await userOf('ghp_stale'), 401, 'unauthorized')
})

test('queries the host once per few minutes for each token, valid or not', async () => {
  host.users.set('ghp_often', 'text-id')
  const person = await t.make.account()
  await t.as(person).post(LINK, { token: 'ghp_often' })
  assert.equal(host.asked, 1)
  const asked: number[] = []
  for (let i = 0; i < 3; i += 1) {
    assert.equal((await userOf('ghp_often')).statusCode, 200)
    assert.equal((await userOf('ghp_unknown')).statusCode, 401)
    asked.push(host.asked)
  }
  assert.deepEqual(asked, [2, 2, 2])
  host.users.delete('ghp_often')
  t.advance(5 * MINUTE_MS + 1)
  assert.equal((await userOf('ghp_often')).statusCode, 401)
})

test('does not send strings to the host that are not its personal tokens', async () => {
  const person = await t.make.account()
  const unsendable = ['ghp_a b', 'ghp_a\nx-other: y', 'ghp_a\u0000', 'ghp_é', 'ghp_\ud83d\ude00', 'ghp_\ud800']
  for (const token of ['gho_of_some_application', 'ghx_other', person.token, 'nonsense', ...unsendable.slice(0, 2)]) {
    host.users.set(token, 99)
    assertError(await t.as(person).post(LINK, { token }), 400, 'validation_error', 'token')
  }
  for (const token of unsendable.slice(2)) assert.equal((await t.as(person).post(LINK, { token })).statusCode, 400)
  for (const token of ['gho_of_some_application', 'ghp_a b', 'ghp_é'])
    assertError(await userOf(token), 401, 'unauthorized')
  assert.equal(host.asked, 0)
})

test('a host failure is an error, and its response is not cached', async () => {
  host.users.set('ghp_flaky', 5)
  const person = await t.make.account()
  for (const status of [500, 404, 302]) {
    host.status = status
    assertError(await t.as(person).post(LINK, { token: 'ghp_flaky' }), 424, 'auth_error')
    assertError(await userOf('ghp_flaky'), 424, 'auth_error')
  }
  host.status = 403
  for (const headers of [{ 'retry-after': '60' }, { 'x-ratelimit-remaining': '0' }]) {
    host.headers = headers
    assertError(await userOf('ghp_flaky'), 424, 'auth_error')
  }
  host.headers = { 'x-ratelimit-remaining': '10' }
  assertError(await userOf('ghp_forbidden'), 401, 'unauthorized')
  host.status = 200
  for (const id of [null, {}, '', 1.5]) {
    host.users.set('ghp_flaky', id)
    assertError(await t.as(person).post(LINK, { token: 'ghp_flaky' }), 424, 'auth_error')
  }
  host.users.set('ghp_flaky', 5)
  assert.equal((await t.as(person).post(LINK, { token: 'ghp_flaky' })).statusCode, 204)
})

test('one account of the host is linked with one account here', async () => {
  host.users.set('ghp_first', 77).set('ghp_second', 77)
  const people = [await t.make.account(), await t.make.account()] as const
  const answers = await Promise.all(
    people.map((person, i) => t.as(person).post(LINK, { token: i === 0 ? 'ghp_first' : 'ghp_second' })),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  const loser = answers[0]?.statusCode === 409 ? 0 : 1
  assertError(await t.as(people[loser]).post(LINK, { token: 'ghp_first' }), 409, 'conflict', 'token')
  assert.equal((await t.as(people[1 - loser] as (typeof people)[0]).delete(LINK)).statusCode, 204)
  assert.equal((await t.as(people[loser]).post(LINK, { token: 'ghp_first' })).statusCode, 204)
  assert.equal((await userOf('ghp_second')).json().id, people[loser].id)
})

test('linking is for sessions, and its body is checked', async () => {
  const person = await t.make.account()
  const pat = await t.make.pat(person, GRANTABLE_SCOPES)
  for (const as of [t.as(pat), t.anyone]) {
    const status = as === t.anyone ? 401 : 403
    assertError(await as.post(LINK, { token: 'ghp_x' }), status, 'unauthorized')
    assertError(await as.delete(LINK), status, 'unauthorized')
  }
  const send = (body: Record<string, unknown>) => t.as(person).post(LINK, body)
  await assertRefusedValues(send, {}, 'token', ['', 'a'.repeat(513), 5, null])
})

test('without a configured host, linking is unavailable', async () => {
  const plain = await testApp()
  try {
    const person = await plain.make.account()
    assertError(await plain.as(person).post(LINK, { token: 'ghp_own' }), 404, 'not_found')
    assertError(await plain.as({ token: 'ghp_own' }).get('/v3/user'), 401, 'unauthorized')
  } finally {
    await plain.close()
  }
})
