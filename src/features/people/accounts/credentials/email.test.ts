import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  mailedFlow,
  mailsTo,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  statuses,
} from '#test/support/http/account-steps.ts'
import { accountJobs } from '../jobs.ts'
import { findFlow, insertFlow } from '../mail/flows.ts'

const CHANGE = '/_internal/auth/email'
const RESEND = '/_internal/auth/email/resend_verify'
const VERIFY = '/_internal/auth/email/verify'
const VERIFY_SUBJECT = /^Verify your/

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())

const verify = (flow: string) => t.anyone.post(VERIFY, { flow })
const isVerified = async (client: { token: string }): Promise<boolean> =>
  (await t.as(client).get('/v3/user')).json().email_verified

test('signing up emails a link that verifies the email address once', async () => {
  const email = 'new-here@example.org'
  const signedUp = await t.anyone.post('/_internal/auth/create', { username: 'new-here', email, password: PASSWORD })
  const client = { token: signedUp.json().session }
  assert.equal(await isVerified(client), false)
  const flow = await mailedFlow(t, email, VERIFY_SUBJECT)
  assert.equal((await verify(flow)).statusCode, 204)
  assert.equal(await isVerified(client), true)
  assertError(await verify(flow), 400, 'invalid_input', 'flow')
})

test('of parallel uses of one link a single one succeeds', async () => {
  const member = await makeMember(t, { email_verified: false })
  await t.as(member).post(RESEND)
  const flow = await mailedFlow(t, member.email, VERIFY_SUBJECT)
  assert.deepEqual(statuses(await Promise.all([1, 2, 3].map(() => verify(flow)))), [204, 400, 400])
})

test('a link lives a day', async () => {
  const member = await makeMember(t, { email_verified: false })
  await t.as(member).post(RESEND)
  const flow = await mailedFlow(t, member.email, VERIFY_SUBJECT)
  t.advance(24 * HOUR_MS + 1)
  assertError(await verify(flow), 400, 'invalid_input', 'flow')
  assert.equal(await isVerified(member), false)
  await assertRefusedValues((body) => t.anyone.post(VERIFY, body), {}, 'flow', ['f'.repeat(129), 5, null, ABSENT])
})

test('a changed address is unverified until its own link was opened, and the former one gets a message', async () => {
  const member = await makeMember(t)
  const email = 'Moved.To@example.org'
  const answer = await t.as(member).patch(CHANGE, { email })
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  const user = (await t.as(member).get('/v3/user')).json()
  assert.deepEqual([user.email, user.email_verified], [email, false])
  const [notice = ''] = await mailsTo(t, member.email, /email address was changed/)
  assert.match(notice, /Moved\.To@example\.org/)
  assert.equal((await verify(await mailedFlow(t, email, VERIFY_SUBJECT))).statusCode, 204)
  assert.equal(await isVerified(member), true)
  assert.equal((await signIn(t, 'moved.to@example.org')).statusCode, 200)
  assert.equal((await signIn(t, member.email)).statusCode, 401)
})

test('links sent to the former address end with it', async () => {
  const member = await makeMember(t, { email_verified: false })
  await t.as(member).post(RESEND)
  const verifyFlow = await mailedFlow(t, member.email, VERIFY_SUBJECT)
  await t.anyone.post('/_internal/auth/password/reset', { username: member.username })
  const resetFlow = await mailedFlow(t, member.email, /^Reset your/)
  await t.as(member).patch(CHANGE, { email: 'elsewhere@example.org' })
  assertError(await verify(verifyFlow), 400, 'invalid_input', 'flow')
  const reset = await t.anyone.patch('/_internal/auth/password', {
    flow: resetFlow,
    new_password: 'plain copper river 12',
  })
  assertError(reset, 401, 'invalid_credentials')
})

test('a link that was made while the address changed opens nothing', async () => {
  const member = await makeMember(t, { email_verified: false })
  const made = { accountId: member.id, data: { email: 'former@example.org' }, now: t.deps.now() }
  const [verifyFlow, resetFlow] = [
    await insertFlow(t.deps.db, { ...made, kind: 'verify_email' }),
    await insertFlow(t.deps.db, { ...made, kind: 'reset_password' }),
  ]
  assertError(await verify(verifyFlow), 400, 'invalid_input', 'flow')
  const reset = await t.anyone.patch('/_internal/auth/password', { flow: resetFlow, new_password: OTHER_PASSWORD })
  assertError(reset, 401, 'invalid_credentials')
  assert.equal((await signIn(t, member.username)).statusCode, 200)
})

test('an account keeps the newest ten flows of a kind', async () => {
  const member = await makeMember(t)
  const flows: string[] = []
  for (let i = 0; i < 12; i += 1) {
    flows.push(
      await insertFlow(t.deps.db, { kind: 'set_up_totp', accountId: member.id, now: t.deps.now() + i * 1_000 }),
    )
  }
  const found = await Promise.all(
    flows.map((secret) => findFlow(t.deps.db, 'set_up_totp', { secret, now: t.deps.now() })),
  )
  assert.deepEqual(
    found.map((flow) => flow !== undefined),
    [false, false, ...Array(10).fill(true)],
  )
})

test('an email address belongs to one account, whatever its case, also under concurrent requests', async () => {
  const [one, two] = [await makeMember(t), await makeMember(t)]
  assertError(await t.as(one).patch(CHANGE, { email: two.email.toUpperCase() }), 409, 'conflict', 'email')
  // A user cannot probe the addresses of others with their own address.
  for (let n = 0; n < 6; n += 1) {
    const own = await t.as(one).patch(CHANGE, { email: one.email.toUpperCase() })
    assertError(own, 409, 'conflict', 'email')
    assert.equal(own.json().details.message, 'is already the address of this account')
  }
  const answers = await Promise.all(
    [one, two].map((member) => t.as(member).patch(CHANGE, { email: 'wanted@example.org' })),
  )
  assert.deepEqual(statuses(answers), [204, 409])
  assert.equal((await mailsTo(t, 'wanted@example.org', VERIFY_SUBJECT)).length, 1)
})

test('the new address is checked at its limits', async () => {
  const member = await makeMember(t)
  const send = (body: Record<string, unknown>) => t.as(member).patch(CHANGE, body)
  const local = 'l'.repeat(64)
  const domain = `${'d'.repeat(60)}.`.repeat(5)
  await assertRefusedValues(send, {}, 'email', [
    '',
    'plain',
    `${local}@${domain.slice(0, 186)}.org`,
    'x@example.org\n',
    5,
    null,
    ABSENT,
  ])
  assert.equal((await send({ email: `${local}@${domain.slice(0, 185)}.org` })).statusCode, 204)
})

test('the link is sent again only to those who need it, ten times an hour', async () => {
  const verified = await makeMember(t)
  assertError(await t.as(verified).post(RESEND), 400, 'invalid_input')
  const member = await makeMember(t, { email_verified: false })
  await t.deps.db.updateTable('account').set({ email: null }).where('id', '=', verified.id).execute()
  assertError(await t.as(verified).post(RESEND), 400, 'invalid_input')
  for (let i = 0; i < 10; i += 1) assert.equal((await t.as(member).post(RESEND)).statusCode, 204)
  const answer = await t.as(member).post(RESEND)
  assertError(answer, 429, 'ratelimit_error')
  assert.ok(Number(answer.headers['retry-after']) > 3_000)
  assert.equal((await mailsTo(t, member.email, VERIFY_SUBJECT)).length, 10)
})

test('a job that ran twice sends two emails with working links; without a recipient it sends none', async () => {
  const member = await makeMember(t, { email_verified: false })
  const send = accountJobs(t.deps)['accounts.send-mail']
  for (let i = 0; i < 2; i += 1) await send({ kind: 'verify-email', account_id: member.id })
  const [first = '', second = ''] = await mailsTo(t, member.email, VERIFY_SUBJECT)
  const flows = [first, second].map((mail) => /flow=([0-9A-Za-z]+)\r$/m.exec(mail)?.[1] ?? '')
  assert.equal(new Set(flows).size, 2)
  assert.equal((await verify(flows[0] ?? '')).statusCode, 204)
  const sent = (await t.mails()).length
  await send({ kind: 'verify-email', account_id: member.id })
  await send({ kind: 'password-changed', account_id: 'zzzzzzzz' })
  await send({ kind: 'token-created', account_id: member.id, token_id: 'zzzzzzzz' })
  assert.equal((await t.mails()).length, sent)
})

test('changing and sending again need USER_AUTH_WRITE', async () => {
  const member = await makeMember(t)
  const weak = t.as(await t.make.pat(member, ALL_SCOPES - 16))
  for (const call of [
    (client: typeof weak) => client.patch(CHANGE, { email: 'x@example.org' }),
    (client: typeof weak) => client.post(RESEND),
  ]) {
    assertError(await call(t.anyone), 401, 'unauthorized')
    const refused = await call(weak)
    assertError(refused, 403, 'unauthorized')
    assert.match(refused.json().description, /USER_AUTH_WRITE/)
  }
})

test('publishing follows the state of the email address immediately', async () => {
  const member = await makeMember(t, { email_verified: false })
  const publish = () => t.as(member).post('/v3/collection', { name: 'Favourites' })
  const refused = await publish()
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /Verify your email address/)
  await t.as(member).post(RESEND)
  await verify(await mailedFlow(t, member.email, VERIFY_SUBJECT))
  assert.equal((await publish()).statusCode, 201)
  await t.as(member).patch(CHANGE, { email: 'unproven@example.org' })
  assertError(await publish(), 403, 'unauthorized')
})

test('publishing requires a verified email address only if the operator does', async () => {
  const unverified = { emailVerified: false }
  assert.throws(() => requireVerifiedEmail(t.deps, unverified), {
    kind: 'forbidden',
    message: /Verify your email address/,
  })
  requireVerifiedEmail(t.deps, { emailVerified: true })
  const lenient = await testApp()
  try {
    requireVerifiedEmail(lenient.deps, unverified)
    const member = await makeMember(lenient)
    assert.equal((await lenient.as(member).patch(CHANGE, { email: 'at-once@example.org' })).statusCode, 204)
    assert.equal((await lenient.as(member).get('/v3/user')).json().email_verified, true)
    assert.deepEqual(await mailsTo(lenient, 'at-once@example.org', VERIFY_SUBJECT), [])
  } finally {
    await lenient.close()
  }
})
