import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { BYPASS_KEY, testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  statuses,
} from '#test/support/http/account-steps.ts'

const LOGIN = '/_internal/auth/login'

const t = await testApp()
after(() => t.close())

async function failTimes(times: number, username: string): Promise<number[]> {
  const answers = []
  for (let i = 0; i < times; i += 1) answers.push((await signIn(t, username, 'wrong')).statusCode)
  return answers
}

test('users sign in by name or email address, whatever their case', async () => {
  const member = await makeMember(t, { username: 'Lin.Q' })
  for (const name of ['Lin.Q', 'lin.q', 'lin.q@EXAMPLE.org']) {
    const answer = await signIn(t, name)
    assert.equal(answer.statusCode, 200)
    const session = answer.json()
    assert.equal(session.user_id, member.id)
    assert.notEqual(session.session, member.token)
    assert.equal((await t.as({ token: session.session }).get('/v3/user')).json().id, member.id)
  }
  const second = await t.anyone.post(`/v2${LOGIN}`, { username: 'lin.q', password: PASSWORD })
  assert.equal(second.statusCode, 200)
})

test('the new session works raw and with Bearer', async () => {
  await makeMember(t, { username: 'bearer' })
  const { session } = (await signIn(t, 'bearer')).json()
  for (const token of [session, `Bearer ${session}`, `bearer ${session}`])
    assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 200)
})

test('an unknown name, a wrong password and an account without one get the same answer', async () => {
  await makeMember(t, { username: 'known' })
  const { username: withoutPassword } = await t.make.account()
  const answers = await Promise.all([
    signIn(t, 'known', OTHER_PASSWORD),
    signIn(t, 'unknown', OTHER_PASSWORD),
    signIn(t, 'unknown@example.org', OTHER_PASSWORD),
    signIn(t, withoutPassword, OTHER_PASSWORD),
    signIn(t, 'known', ''),
    signIn(t, '', PASSWORD),
  ])
  for (const answer of answers) assertError(answer, 401, 'invalid_credentials')
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1)
})

test('name and password are checked at their limits', async () => {
  const valid = { username: 'a', password: 'b' }
  const send = (body: Record<string, unknown>) => t.anyone.post(LOGIN, body)
  await assertRefusedValues(send, valid, 'username', ['a'.repeat(255), 5, null, {}, ABSENT])
  await assertRefusedValues(send, valid, 'password', ['a'.repeat(257), 5, null, [], ABSENT])
  assertError(await send({ username: 'a'.repeat(254), password: 'b'.repeat(256) }), 401, 'invalid_credentials')
})

test('ten failures close an account for fifteen minutes for the same IP address, for the right password too, by name and by address', async (context) => {
  t.freeze()
  context.after(() => t.thaw())
  const { username, email, token } = await makeMember(t)
  assert.deepEqual(await failTimes(10, username), Array(10).fill(401))
  for (const name of [username, email]) {
    const answer = await signIn(t, name)
    assertError(answer, 429, 'ratelimit_error')
    const wait = Number(answer.headers['retry-after'])
    assert.ok(wait > 14 * 60 && wait <= 15 * 60, String(wait))
  }
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 200)
  t.advance(15 * MINUTE_MS - 5_000)
  assert.equal((await signIn(t, username)).statusCode, 429)
  t.advance(10_000)
  assert.equal((await signIn(t, username)).statusCode, 200)
})

test('a rejected try does not prolong the wait', async (context) => {
  t.freeze()
  context.after(() => t.thaw())
  const { username } = await makeMember(t)
  await failTimes(10, username)
  t.advance(10 * MINUTE_MS)
  assert.deepEqual(await failTimes(3, username), [429, 429, 429])
  t.advance(5 * MINUTE_MS + 1_000)
  assert.equal((await signIn(t, username)).statusCode, 200)
})

test('nine failures do not close an account, and success forgets them', async () => {
  const { username } = await makeMember(t)
  await failTimes(9, username)
  assert.equal((await signIn(t, username)).statusCode, 200)
  await failTimes(9, username)
  assert.equal((await signIn(t, username)).statusCode, 200)
})

test('a stranger cannot lock the owner out of a device that is signed in, whatever the number of addresses', async () => {
  const member = await makeMember(t)
  const from = (address: string, password: string) =>
    t.inject({
      method: 'POST',
      url: LOGIN,
      payload: { username: member.username, password },
      remoteAddress: address,
      headers: { 'user-agent': 'depot-tests/1.0 (tests)', 'x-ratelimit-key': BYPASS_KEY },
    })
  const home = '198.51.100.7'
  assert.equal((await from(home, PASSWORD)).statusCode, 200)
  for (let n = 1; n <= 10; n += 1) {
    const guesses = await Promise.all(Array.from({ length: 10 }, () => from(`203.0.113.${n}`, 'wrong')))
    assert.deepEqual(statuses(guesses), Array(10).fill(401))
  }
  assertError(await from('203.0.113.200', 'wrong'), 429, 'ratelimit_error')
  assertError(await from('203.0.113.200', PASSWORD), 429, 'ratelimit_error')
  const session = { token: member.token }
  await t.deps.db
    .updateTable('session')
    .set({ confirmed_at: new Date(0) })
    .where('account_id', '=', member.id)
    .execute()
  const confirmation = { email: `home-${member.id}@example.org`, password: PASSWORD }
  assert.equal((await t.as(session).patch('/_internal/auth/email', confirmation)).statusCode, 204)
  assert.equal((await from(home, PASSWORD)).statusCode, 200)
})

test('an unknown name is throttled in the same way, so that the throttle shows nothing', async () => {
  assert.deepEqual(await failTimes(11, 'Never-There'), [...Array(10).fill(401), 429])
  assert.equal((await signIn(t, 'never-there', 'wrong')).statusCode, 429)
})

test('of many parallel guesses ten are looked at', async () => {
  const { username } = await makeMember(t)
  const guesses = await Promise.all(Array.from({ length: 16 }, () => signIn(t, username, 'wrong')))
  assert.deepEqual(statuses(guesses), [...Array(10).fill(401), ...Array(6).fill(429)])
})

test('parallel sign-ins with the right password all succeed', async () => {
  const { username } = await makeMember(t)
  const answers = await Promise.all(Array.from({ length: 12 }, () => signIn(t, username)))
  assert.deepEqual(statuses(answers), Array(12).fill(200))
})

test('an account has at most a hundred sessions; the one longest unused ends', async () => {
  const member = await makeMember(t)
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 200)
  const longAgo = new Date(t.deps.now() - DAY_MS)
  await t.deps.db.updateTable('session').set({ last_login: longAgo }).where('id', '=', member.sessionId).execute()
  for (let i = 0; i < 99; i += 1) await t.make.session(member.id)
  assert.equal((await signIn(t, member.username)).statusCode, 200)
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 401)
})
