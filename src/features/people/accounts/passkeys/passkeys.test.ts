import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { COMMAND, SYSTEM } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { resetTwoFactor } from '#features/people/accounts/administration/reset-two-factor.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  enableTwoFactor,
  mailsTo,
  makeMember,
  PASSWORD,
  signIn,
  statuses,
  totpCode,
} from '#test/support/http/account-steps.ts'
import {
  addPasskey,
  passkeyAnswer,
  passkeyOptions,
  signInWithPasskey,
  softAuthenticator,
} from '#test/support/http/authenticator.ts'

const PASSKEYS = '/_internal/auth/passkeys'
const SIGN_IN = '/_internal/auth/login/passkey'
const CONFIRM = '/_internal/auth/confirm/passkey'

const t = await testApp({ env: { ACCOUNT_DELETION_DAYS: '14' } })
after(() => t.close())

const send = (credential: unknown) => t.anyone.post(SIGN_IN, { credential })
const listed = async (member: { token: string }) => (await t.as(member).get(PASSKEYS)).json().passkeys

test('a passkey signs in without a password or a code, and is listed with its last use', async () => {
  const member = await makeMember(t)
  const { authenticator, id } = await addPasskey(t, member)
  const [added] = await listed(member)
  assert.deepEqual([added.id, added.name, added.is_synced, added.last_used], [id, 'My phone', false, null])
  const answer = await signInWithPasskey(t, authenticator)
  assert.equal(answer.statusCode, 200, answer.body)
  const session = { token: answer.json().session }
  assert.equal((await t.as(session).get('/v3/user')).json().id, member.id)
  assert.equal(typeof (await listed(session))[0].last_used, 'string')
  assert.equal((await mailsTo(t, member.email, /has a new passkey/)).length, 1)
  assert.equal((await signInWithPasskey(t, authenticator)).statusCode, 200)
})

test('with a passkey, the password needs a passkey or a backup code as well', async () => {
  const member = await makeMember(t)
  const { authenticator, backupCodes } = await addPasskey(t, member)
  assert.equal(backupCodes?.length, 6)
  const asked = (await signIn(t, member.username)).json()
  assert.equal(asked.error, '2fa_required')
  const done = await t.anyone.post('/_internal/auth/login/2fa', { flow: asked.flow, code: backupCodes?.[0] })
  assert.equal(done.statusCode, 200, done.body)
  const second = await addPasskey(t, member)
  assert.equal(second.backupCodes, null)
  assert.equal((await signInWithPasskey(t, authenticator)).statusCode, 200)
})

test('a challenge works once, also at the same moment, and for 15 minutes', async () => {
  const member = await makeMember(t)
  const { authenticator } = await addPasskey(t, member, softAuthenticator({ counts: false }))
  const answer = await passkeyAnswer(t, authenticator)
  assert.deepEqual(statuses(await Promise.all([send(answer), send(answer), send(answer)])), [200, 401, 401])
  const late = await passkeyAnswer(t, authenticator)
  t.advance(15 * MINUTE_MS + 1)
  assertError(await send(late), 401, 'invalid_credentials')
  const forged = authenticator.get({ challenge: Buffer.from('made up').toString('base64url') })
  assertError(await send(forged), 401, 'invalid_credentials')
})

test('signatures for another site, without a verified user, of another key or of a copy are refused', async () => {
  const member = await makeMember(t)
  const { authenticator } = await addPasskey(t, member)
  for (const twist of [{ origin: 'https://depot.example' }, { rpId: 'depot.example' }, { isUnverified: true }])
    assertError(await send(authenticator.get(await passkeyOptions(t), twist)), 401, 'invalid_credentials')
  assert.equal((await signInWithPasskey(t, authenticator)).statusCode, 200)
  assertError(await send(authenticator.get(await passkeyOptions(t), { counter: 1 })), 401, 'invalid_credentials')
  const { id, rawId } = await passkeyAnswer(t, authenticator)
  const foreign = await passkeyAnswer(t, softAuthenticator())
  assertError(await send({ ...foreign, id, rawId }), 401, 'invalid_credentials')
  assertError(await send(foreign), 401, 'invalid_credentials')
  const refusals = t.deps.db.selectFrom('audit_entry').selectAll().where('action', '=', 'account.sign_in_refused')
  const { rows } = await sql<{
    count: number
  }>`select from (${refusals}) where details ->> 'because' = 'passkey'`.execute(t.deps.db)
  assert.equal(rows.length, 5)
})

test('a passkey confirms the owner of a session', async () => {
  const member = await makeMember(t)
  const { authenticator } = await addPasskey(t, member)
  t.advance(10 * MINUTE_MS + 1)
  const change = () => t.as(member).patch('/_internal/auth/email', { email: `${member.username}@example.net` })
  assertError(await change(), 401, 'unauthorized', 'password')
  const foreign = await addPasskey(t, await makeMember(t))
  const by = (credential: unknown) => t.as(member).post(CONFIRM, { credential })
  assertError(await by(await passkeyAnswer(t, foreign.authenticator)), 401, 'invalid_credentials')
  assertError(await change(), 401, 'unauthorized', 'password')
  assert.equal((await by(await passkeyAnswer(t, authenticator))).statusCode, 204)
  assert.equal((await change()).statusCode, 204)
})

test('adding needs a confirmed owner, the own options and an unused challenge', async () => {
  const [member, other] = [await makeMember(t), await makeMember(t)]
  const options = (await t.as(member).post(`${PASSKEYS}/start`)).json()
  const credential = softAuthenticator().create(options)
  const add = (person: { token: string }) => t.as(person).post(PASSKEYS, { name: 'Key', credential })
  assertError(await add(other), 401, 'invalid_credentials')
  assert.equal((await add(member)).statusCode, 201)
  assertError(await add(member), 401, 'invalid_credentials')
  const third = await makeMember(t)
  const again = (await t.as(third).post(`${PASSKEYS}/start`)).json()
  for (const twist of [{ origin: 'https://depot.example' }, { isUnverified: true }]) {
    const fresh = (await t.as(member).post(`${PASSKEYS}/start`)).json()
    const body = { name: 'Key', credential: softAuthenticator().create(fresh, twist) }
    assertError(await t.as(member).post(PASSKEYS, body), 401, 'invalid_credentials')
  }
  t.advance(10 * MINUTE_MS + 1)
  const body = { name: 'Key', credential: softAuthenticator().create(again) }
  assertError(await t.as(third).post(PASSKEYS, body), 401, 'unauthorized', 'password')
  const done = await t.as(third).post(PASSKEYS, { ...body, password: PASSWORD })
  assert.equal(done.statusCode, 201, done.body)
  // The same authenticator for another account.
  const authenticator = softAuthenticator()
  await addPasskey(t, third, authenticator)
  const theirs = (await t.as(other).post(`${PASSKEYS}/start`)).json()
  const taken = { name: 'Key', credential: authenticator.create(theirs), password: PASSWORD }
  assertError(await t.as(other).post(PASSKEYS, taken), 409, 'conflict')
})

test('an account has at most 20 passkeys, also with requests at the same time', async () => {
  const member = await makeMember(t)
  const make = async () => {
    const options = (await t.as(member).post(`${PASSKEYS}/start`)).json()
    return { name: 'Key', credential: softAuthenticator().create(options) }
  }
  const bodies = []
  for (let i = 0; i < 10; i += 1) bodies.push(await make())
  for (const body of bodies) assert.equal((await t.as(member).post(PASSKEYS, body)).statusCode, 201)
  const more = []
  for (let i = 0; i < 9; i += 1) more.push(await make())
  for (const body of more) assert.equal((await t.as(member).post(PASSKEYS, body)).statusCode, 201)
  const last = [await make(), await make()]
  const answers = await Promise.all(last.map((body) => t.as(member).post(PASSKEYS, body)))
  assert.deepEqual(statuses(answers), [201, 400])
  assertError(await t.as(member).post(`${PASSKEYS}/start`), 400, 'LimitReached')
})

test('renaming and deleting are for the owner; the last passkey ends two-factor sign-in', async () => {
  const [member, other] = [await makeMember(t), await makeMember(t)]
  const { id, authenticator, backupCodes } = await addPasskey(t, member)
  assert.equal((await t.as(member).patch(`${PASSKEYS}/${id}`, { name: 'Old phone' })).statusCode, 204)
  assert.equal((await listed(member))[0].name, 'Old phone')
  assertError(await t.as(other).patch(`${PASSKEYS}/${id}`, { name: 'Mine' }), 404, 'not_found')
  assertError(await t.as(other).delete(`${PASSKEYS}/${id}`), 404, 'not_found')
  await assertRefusedValues((body) => t.as(member).patch(`${PASSKEYS}/${id}`, body), {}, 'name', [
    '',
    ' ',
    'n'.repeat(65),
    5,
    null,
    ABSENT,
  ])
  const waiting = (await signIn(t, member.username)).json()
  assert.equal((await t.as(member).delete(`${PASSKEYS}/${id}`)).statusCode, 204)
  assertError(await signInWithPasskey(t, authenticator), 401, 'invalid_credentials')
  const late = { flow: waiting.flow, code: backupCodes?.[0] }
  assertError(await t.anyone.post('/_internal/auth/login/2fa', late), 401, 'invalid_credentials')
  assert.equal((await signIn(t, member.username)).json().user_id, member.id)
  assert.equal((await mailsTo(t, member.email, /passkey was deleted/)).length, 1)
})

test('an account keeps a way to sign in', async () => {
  const member = await makeMember(t)
  const [first, second] = [await addPasskey(t, member), await addPasskey(t, member)]
  await t.deps.db.updateTable('account').set({ password_hash: null }).where('id', '=', member.id).execute()
  const answers = await Promise.all([first, second].map(({ id }) => t.as(member).delete(`${PASSKEYS}/${id}`)))
  assert.deepEqual(statuses(answers), [204, 400])
  assert.equal((await listed(member)).length, 1)
})

test('a passkey and an authenticator app are independent; an operator resets both', async () => {
  const member = await makeMember(t)
  const { authenticator } = await addPasskey(t, member)
  const { secret } = await enableTwoFactor(t, member)
  assert.equal((await t.as(member).delete('/_internal/auth/2fa', { code: totpCode(t, secret) })).statusCode, 204)
  assert.equal((await signIn(t, member.username)).json().error, '2fa_required')
  await resetTwoFactor(t.deps, SYSTEM, { name: member.id, reason: 'Recognised on a call' })
  assertError(await signInWithPasskey(t, authenticator), 401, 'invalid_credentials')
  assert.equal((await signIn(t, member.username)).json().user_id, member.id)
})

test('suspended accounts and accounts that wait for their deletion', async () => {
  const [suspended, leaving] = [await makeMember(t), await makeMember(t)]
  const [first, second] = [await addPasskey(t, suspended), await addPasskey(t, leaving)]
  await suspendAccount(t.deps, SYSTEM, { name: suspended.id, reason: 'Spam', until: null })
  assertError(await signInWithPasskey(t, first.authenticator), 403, 'unauthorized')
  assert.equal((await t.as(leaving).delete(`/v3/user/${leaving.id}`)).statusCode, 204)
  assertError(await signInWithPasskey(t, second.authenticator), 403, 'unauthorized')
  const undone = await signInWithPasskey(t, second.authenticator, { undo_deletion: true })
  assert.equal(undone.statusCode, 200, undone.body)
})

test('a passkey gives staff their role where two-factor sign-in is required', async () => {
  const staff = await t.make.account({ role: 'moderator' })
  await updateSettings(t.deps, COMMAND, { require_staff_two_factor: true })
  const queue = () => t.as(staff).get('/_internal/moderation/projects')
  assertError(await queue(), 403, 'unauthorized')
  const { id } = await addPasskey(t, staff)
  assert.equal((await queue()).statusCode, 200)
  assert.equal((await t.as(staff).delete(`${PASSKEYS}/${id}`)).statusCode, 400)
  await updateSettings(t.deps, COMMAND, { require_staff_two_factor: null })
})

test('the forms of credentials are checked, and the routes need USER_AUTH_WRITE', async () => {
  const valid = { credential: await passkeyAnswer(t, softAuthenticator()) }
  const member = await makeMember(t)
  for (const client of [
    (body: object) => t.anyone.post(SIGN_IN, body),
    (body: object) => t.as(member).post(CONFIRM, body),
  ])
    for (const credential of [null, 5, 'text', []])
      assertError(await client({ ...valid, credential }), 400, 'validation_error', 'credential')
  const id = { ...valid.credential, id: 'no base64!' }
  assertError(await send(id), 400, 'validation_error', 'credential.id')
  const weak = t.as(await t.make.pat(member, ALL_SCOPES - 16))
  for (const call of [
    (client: typeof weak) => client.get(PASSKEYS),
    (client: typeof weak) => client.post(`${PASSKEYS}/start`),
    (client: typeof weak) => client.post(CONFIRM, valid),
    (client: typeof weak) => client.delete(`${PASSKEYS}/AABBCCDD`),
  ]) {
    assertError(await call(t.anyone), 401, 'unauthorized')
    assertError(await call(weak), 403, 'unauthorized')
  }
})
