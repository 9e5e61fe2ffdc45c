import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  enableTwoFactor,
  mailedFlow,
  mailsTo,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  statuses,
} from '#test/support/http/account-steps.ts'

const RESET = '/_internal/auth/password/reset'
const CHANGE = '/_internal/auth/password'
const RESET_SUBJECT = /^Reset your/

const t = await testApp()
after(() => t.close())

const reset = (username: string) => t.anyone.post(RESET, { username })
const setByFlow = (flow: string, newPassword = OTHER_PASSWORD) =>
  t.anyone.patch(CHANGE, { flow, new_password: newPassword })
const change = (client: { token: string }, body: object) => t.as(client).patch(CHANGE, body)
const isSignedIn = async (client: { token: string }) => (await t.as(client).get('/v3/user')).statusCode === 200

test('a changed password immediately ends the other sessions and the access tokens, but not this session, and sends an email', async () => {
  const member = await makeMember(t)
  const other = { token: await t.make.session(member.id) }
  const pat = await t.make.pat(member)
  for (const client of [member, other, pat]) assert.ok(await isSignedIn(client))
  const answer = await change(member, { old_password: PASSWORD, new_password: OTHER_PASSWORD })
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  assert.deepEqual([await isSignedIn(member), await isSignedIn(other), await isSignedIn(pat)], [true, false, false])
  assert.equal((await signIn(t, member.username, PASSWORD)).statusCode, 401)
  assert.equal((await signIn(t, member.username, OTHER_PASSWORD)).statusCode, 200)
  assert.equal((await mailsTo(t, member.email, /password was changed/)).length, 1)
})

test('the access tokens continue to work if the user chooses so', async () => {
  const member = await makeMember(t)
  const pat = await t.make.pat(member)
  const body = { old_password: PASSWORD, new_password: OTHER_PASSWORD, end_tokens: false }
  assert.equal((await change(member, body)).statusCode, 204)
  assert.ok(await isSignedIn(pat))
})

test('the old password is needed, and must be right', async () => {
  const member = await makeMember(t)
  t.advance(10 * 60_000)
  assertError(await change(member, { new_password: OTHER_PASSWORD }), 401, 'unauthorized', 'password')
  assertError(await change(member, { old_password: 'wrong', new_password: OTHER_PASSWORD }), 401, 'invalid_credentials')
  assert.equal((await signIn(t, member.username)).statusCode, 200)
})

test('guessing the old password with a stolen session is throttled', async () => {
  const member = await makeMember(t)
  const attempt = (old_password: string) => change(member, { old_password, new_password: OTHER_PASSWORD })
  for (let i = 0; i < 10; i += 1) assert.equal((await attempt('wrong')).statusCode, 401)
  assertError(await attempt(PASSWORD), 429, 'ratelimit_error')
  assert.equal((await signIn(t, member.username)).statusCode, 200)
})

test('an account without a password gets its first one', async () => {
  const person = await t.make.account()
  assert.equal((await change(person, { new_password: OTHER_PASSWORD })).statusCode, 204)
  assert.equal((await signIn(t, person.username, OTHER_PASSWORD)).statusCode, 200)
})

test('of parallel changes with one old password a single one succeeds', async () => {
  const member = await makeMember(t)
  const words = ['plain copper river 12', 'quiet maple engine 34', 'amber velvet canyon 56']
  const answers = await Promise.all(words.map((word) => change(member, { old_password: PASSWORD, new_password: word })))
  assert.deepEqual(statuses(answers), [204, 401, 401])
  const winner = words[answers.findIndex(({ statusCode }) => statusCode === 204)] ?? ''
  assert.equal((await signIn(t, member.username, winner)).statusCode, 200)
})

test('the fields are checked at their limits', async () => {
  const member = await makeMember(t)
  const send = (body: Record<string, unknown>) => change(member, body)
  const valid = { old_password: PASSWORD, new_password: OTHER_PASSWORD }
  const long = 'kR7$wq2!zPvN'.repeat(22)
  await assertRefusedValues(send, valid, 'new_password', [
    'x7$Kq!z',
    long.slice(0, 257),
    'password1234',
    `${member.username}1`,
    5,
    null,
    ABSENT,
  ])
  await assertRefusedValues(send, valid, 'old_password', ['x'.repeat(257), 5])
  await assertRefusedValues(send, { ...valid, flow: 'x' }, 'flow', ['x'.repeat(129), 5])
  assert.equal((await send({ ...valid, new_password: long.slice(0, 256) })).statusCode, 204)
})

test('without a flow one must be signed in, with a session', async () => {
  const member = await makeMember(t)
  const body = { old_password: PASSWORD, new_password: OTHER_PASSWORD }
  assertError(await t.anyone.patch(CHANGE, body), 401, 'unauthorized')
  assertError(await change({ token: 'dps_nonsense' }, body), 401, 'unauthorized')
  const refused = await change(await t.make.pat(member, ALL_SCOPES - 16), body)
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /USER_AUTH_WRITE/)
})

test('a reset emails a link that sets a password once and ends all sessions', async () => {
  const member = await makeMember(t)
  const pat = await t.make.pat(member)
  assert.ok(await isSignedIn(member))
  const asked = await reset(member.username)
  assert.deepEqual([asked.statusCode, asked.body], [204, ''])
  const flow = await mailedFlow(t, member.email, RESET_SUBJECT)
  assert.equal((await setByFlow(flow)).statusCode, 204)
  assert.deepEqual([await isSignedIn(member), await isSignedIn(pat)], [false, false])
  assert.equal((await signIn(t, member.username, PASSWORD)).statusCode, 401)
  assert.equal((await signIn(t, member.username, OTHER_PASSWORD)).statusCode, 200)
  assertError(await setByFlow(flow), 401, 'invalid_credentials')
})

test('the reset accepts a name, ID or email address, and responds the same for unknown users', async () => {
  const member = await makeMember(t)
  for (const name of [member.username.toUpperCase(), member.id, member.email.toUpperCase()])
    assert.equal((await reset(name)).statusCode, 204)
  assert.equal((await mailsTo(t, member.email, RESET_SUBJECT)).length, 3)
  const mails = (await t.mails()).length
  for (const name of ['nobody-here', 'nobody@example.org', '', '../..']) {
    const answer = await reset(name)
    assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  }
  await t.runJobs()
  assert.equal((await t.mails()).length, mails)
  await assertRefusedValues((body) => t.anyone.post(RESET, body), {}, 'username', ['a'.repeat(255), 5, null, ABSENT])
})

test('no link lies in the queue, and only its hash in the database', async () => {
  const member = await makeMember(t)
  await reset(member.username)
  const { rows } = await t.deps.pool.query(
    "select payload::text from graphile_worker._private_jobs where payload::text like '%reset-password%'",
  )
  assert.deepEqual(
    // Those for unknown names may still be in it.
    rows.map(({ payload }) => JSON.parse(payload)).filter((payload) => payload.account_id !== null),
    [{ kind: 'reset-password', account_id: member.id }],
  )
  const flow = await mailedFlow(t, member.email, RESET_SUBJECT)
  const stored = await t.deps.pool.query('select account_flow::text as text from account_flow where account_id = $1', [
    member.id,
  ])
  assert.equal(stored.rows.length, 1)
  assert.ok(!stored.rows[0].text.includes(flow))
})

test('a link lives a day, and a bad new password does not use it up', async () => {
  const member = await makeMember(t)
  await reset(member.username)
  const flow = await mailedFlow(t, member.email, RESET_SUBJECT)
  assertError(await setByFlow(flow, 'password1234'), 400, 'validation_error', 'new_password')
  t.advance(24 * HOUR_MS + 1)
  assertError(await setByFlow(flow), 401, 'invalid_credentials')
  await reset(member.username)
  const next = await mailedFlow(t, member.email, RESET_SUBJECT)
  t.advance(23 * HOUR_MS)
  assert.equal((await setByFlow(next)).statusCode, 204)
})

test('of parallel uses of one link a single one succeeds, and other links end with it', async () => {
  const member = await makeMember(t)
  await reset(member.username)
  const first = await mailedFlow(t, member.email, RESET_SUBJECT)
  await reset(member.username)
  const second = await mailedFlow(t, member.email, RESET_SUBJECT)
  assert.notEqual(first, second)
  assert.deepEqual(statuses(await Promise.all([1, 2, 3].map(() => setByFlow(second)))), [204, 401, 401])
  assertError(await setByFlow(first), 401, 'invalid_credentials')
})

test('a locked-out user can sign in after a reset', async () => {
  const member = await makeMember(t)
  for (let i = 0; i < 10; i += 1) await signIn(t, member.username, 'wrong')
  assert.equal((await signIn(t, member.username)).statusCode, 429)
  await reset(member.username)
  await setByFlow(await mailedFlow(t, member.email, RESET_SUBJECT))
  assert.equal((await signIn(t, member.username, OTHER_PASSWORD)).statusCode, 200)
})

test('a new password ends sign-ins that wait for a second factor, which stays on', async () => {
  const member = await makeMember(t)
  const { backupCodes } = await enableTwoFactor(t, member)
  const { flow } = (await signIn(t, member.username)).json()
  assert.equal((await change(member, { old_password: PASSWORD, new_password: OTHER_PASSWORD })).statusCode, 204)
  assertError(
    await t.anyone.post('/_internal/auth/login/2fa', { flow, code: backupCodes[0] }),
    401,
    'invalid_credentials',
  )
  assert.equal((await signIn(t, member.username, OTHER_PASSWORD)).json().error, '2fa_required')
})

test('one account gets at most ten reset emails per hour, and the response does not show it', async () => {
  const member = await makeMember(t)
  for (let i = 0; i < 12; i += 1) assert.equal((await reset(member.username)).statusCode, 204)
  assert.equal((await mailsTo(t, member.email, RESET_SUBJECT)).length, 10)
})
