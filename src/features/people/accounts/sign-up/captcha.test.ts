import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError, PASSWORD } from '#test/support/http/account-steps.ts'

/** A small captcha service: the answer `solved` is right; other answers make it misbehave in the way they name. */
const asked: URLSearchParams[] = []
const service = createServer(async (req, res) => {
  const form = new URLSearchParams(await text(req))
  asked.push(form)
  const challenge = form.get('response')
  if (challenge === 'broken') return void res.writeHead(500).end()
  if (challenge === 'garbage') return void res.end('<html>')
  if (challenge === 'moved') return void res.writeHead(302, { location: 'https://elsewhere.example/' }).end()
  res.end(JSON.stringify({ success: challenge === 'solved' && form.get('secret') === 'captcha-secret' }))
})

let t: TestApp
before(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  t = await testApp({
    env: { CAPTCHA_VERIFY_URL: `http://127.0.0.1:${port}/verify`, CAPTCHA_SECRET: 'captcha-secret' },
  })
})
after(async () => {
  await t.close()
  service.closeAllConnections()
  service.close()
})
beforeEach(() => asked.splice(0))

const fresh = (username: string, challenge?: unknown) => ({
  username,
  email: `${username}@example.org`,
  password: PASSWORD,
  ...(challenge === undefined ? {} : { challenge }),
})
const create = (body: object) => t.anyone.post('/_internal/auth/create', body)

test('pages can see that a captcha is required', async () => {
  assert.equal((await t.anyone.get('/_internal/globals')).json().captcha_enabled, true)
})

test('a solved captcha lets people sign up, sign in and reset a password', async () => {
  assert.equal((await create(fresh('solver', 'solved'))).statusCode, 201)
  const signedIn = await t.anyone.post('/_internal/auth/login', {
    username: 'solver',
    password: PASSWORD,
    challenge: 'solved',
  })
  assert.equal(signedIn.statusCode, 200)
  assert.equal(
    (await t.anyone.post('/_internal/auth/password/reset', { username: 'solver', challenge: 'solved' })).statusCode,
    204,
  )
  assert.deepEqual(
    asked.map((form) => form.get('remoteip')),
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  )
})

test('a missing answer is rejected without asking the service, a wrong one after asking it', async () => {
  for (const challenge of [undefined, null, ''])
    assertError(await create(fresh('nobody', challenge)), 400, 'captcha_error', 'challenge')
  assert.equal(asked.length, 0)
  assertError(await create(fresh('nobody', 'wrong')), 400, 'captcha_error', 'challenge')
  assertError(
    await t.anyone.post('/_internal/auth/login', { username: 'nobody', password: PASSWORD }),
    400,
    'captcha_error',
  )
  assertError(await t.anyone.post('/_internal/auth/password/reset', { username: 'nobody' }), 400, 'captcha_error')
  assertError(await create(fresh('nobody', 'x'.repeat(8193))), 400, 'validation_error', 'challenge')
  assertError(await create(fresh('nobody', 5)), 400, 'validation_error', 'challenge')
  assert.equal(asked.length, 1)
})

test('a service that cannot say keeps the door shut', async () => {
  for (const challenge of ['broken', 'garbage', 'moved'])
    assertError(await create(fresh('nobody', challenge)), 424, 'auth_error')
})

test('validating a sign-up does not use the captcha up', async () => {
  assert.equal((await t.anyone.post('/_internal/auth/create/validate', fresh('planner'))).statusCode, 204)
  assert.equal(asked.length, 0)
})
