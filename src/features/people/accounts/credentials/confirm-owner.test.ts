// Transferring an account requires the password again; a change of the email address can be undone.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import {
  assertError,
  enableTwoFactor,
  type Member,
  mailedFlow,
  mailsTo,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  statuses,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

const EMAIL = '/_internal/auth/email'
const UNDO = '/_internal/auth/email/undo'
const TEN_MINUTES = 10 * 60_000
const CHANGED = /email address was changed/

const t = await testApp()
after(() => t.close())

/** A member whose session gave the password too long ago. */
async function makeStale(): Promise<Member> {
  const member = await makeMember(t)
  await forget(member)
  return member
}

const forget = ({ id }: { id: string }) =>
  t.deps.db
    .updateTable('session')
    .set({ confirmed_at: new Date(t.deps.now() - TEN_MINUTES) })
    .where('account_id', '=', id)
    .execute()

/** Changes that the view of the user does not show. */
const SAME_VIEW = new Set(['password', 'payouts cleared', 'deletion', 'deletion without a body'])

const read = async (member: Member) => (await t.as(member).get('/v3/user')).json()

test('nothing that moves ownership happens without the password, and everything with it', async () => {
  const asks: [name: string, send: (member: Member, proof: object) => ReturnType<typeof t.anyone.get>][] = [
    ['address', (member, proof) => t.as(member).patch(EMAIL, { email: `new-${member.id}@example.org`, ...proof })],
    [
      'password',
      (member, proof) => t.as(member).patch('/_internal/auth/password', { new_password: OTHER_PASSWORD, ...proof }),
    ],
    ['payouts', (member, proof) => t.as(member).patch(`/v3/user/${member.id}`, { payout_handle: 'mine', ...proof })],
    [
      'payouts cleared',
      (member, proof) => t.as(member).patch(`/v3/user/${member.id}`, { payout_handle: null, ...proof }),
    ],
    [
      'second factor',
      async (member, proof) => {
        const { secret, flow } = (await t.as(member).post('/_internal/auth/2fa/get_secret')).json()
        return t.as(member).post('/_internal/auth/2fa', { flow, code: totpCode(t, secret), ...proof })
      },
    ],
    ['deletion', (member, proof) => t.as(member).delete(`/v3/user/${member.id}`, proof)],
    [
      'deletion without a body',
      (member, proof) => t.as(member).delete(`/v3/user/${member.id}`, 'password' in proof ? proof : undefined),
    ],
  ]
  for (const [name, send] of asks) {
    const member = await makeStale()
    const before = await read(member)
    assertError(await send(member, {}), 401, 'unauthorized', 'password')
    assertError(await send(member, { password: OTHER_PASSWORD }), 401, 'invalid_credentials')
    assert.deepEqual(await read(member), before, name)
    const done = await send(member, { password: PASSWORD })
    assert.ok(done.statusCode < 300, `${name}: ${done.body}`)
    if (!SAME_VIEW.has(name)) assert.notDeepEqual(await read(member), before, name)
  }
})

test('a session that gave the password need not give it again for ten minutes; other tokens always do', async () => {
  const member = await makeStale()
  const change = (payout_handle: string, proof = {}, as: { token: string } = member) =>
    t.as(as).patch(`/v3/user/${member.id}`, { payout_handle, ...proof })
  assert.equal((await change('a', { password: PASSWORD })).statusCode, 204)
  assert.equal((await change('b')).statusCode, 204)
  const token = await t.make.pat(member)
  assertError(await change('c', {}, token), 401, 'unauthorized', 'password')
  assert.equal((await change('d', { password: PASSWORD }, token)).statusCode, 204)
  assertError(await change('e', {}, token), 401, 'unauthorized', 'password')
  t.advance(TEN_MINUTES)
  assertError(await change('f'), 401, 'unauthorized', 'password')
  const { session } = (await signIn(t, member.username)).json()
  assert.equal((await change('g', {}, { token: session })).statusCode, 204)
})

test('with two-factor authentication, a code is required in addition to the password', async () => {
  const member = await makeMember(t)
  const { secret, backupCodes } = await enableTwoFactor(t, member)
  await forget(member)
  const change = (proof: object) => t.as(member).patch(EMAIL, { email: `two-${member.id}@example.org`, ...proof })
  assertError(await change({ password: PASSWORD }), 401, 'unauthorized', 'code')
  assertError(await change({ password: PASSWORD, code: '000000x' }), 401, 'invalid_credentials')
  assertError(await change({ code: totpCode(t, secret) }), 401, 'unauthorized', 'password')
  assert.equal((await change({ password: PASSWORD, code: totpCode(t, secret) })).statusCode, 204)
  await forget(member)
  const off = (body: object) => t.as(member).delete('/_internal/auth/2fa', body)
  assertError(await off({ code: backupCodes[0] }), 401, 'unauthorized', 'password')
  assert.equal((await off({ code: backupCodes[0], password: PASSWORD })).statusCode, 204)
  assert.equal((await read(member)).has_totp, false)
})

test('an account without a password confirms with a code of its authenticator app', async () => {
  const member = await makeMember(t)
  const { secret } = await enableTwoFactor(t, member)
  await forget(member)
  await t.deps.db.updateTable('account').set({ password_hash: null }).where('id', '=', member.id).execute()
  t.deps.cache.clear()
  const change = (proof: object) => t.as(member).patch(EMAIL, { email: `code-${member.id}@example.org`, ...proof })
  assertError(await change({}), 401, 'unauthorized', 'code')
  assertError(await change({ code: '000000x' }), 401, 'invalid_credentials')
  assertError(await change({ password: PASSWORD, code: totpCode(t, secret) }), 401, 'invalid_credentials')
  const browser = visitor(t, member.token)
  const page = await browser.get('/account/security')
  assertSays(page, 200, 'Code or backup code')
  assert.doesNotMatch(page.body, /type="password"/)
  const confirmed = await browser.post('/account/security', {
    ...hiddenFields(page, '/account/security'),
    do: 'confirm',
    code: totpCode(t, secret),
  })
  assertLeads(confirmed, '/account/security')
  assert.equal((await change({})).statusCode, 204)
})

test('guessing the password is limited in each session, and blocks neither another session nor a sign-in', async () => {
  const member = await makeStale()
  const guess = (n: number) => t.as(member).delete(`/v3/user/${member.id}`, { password: `guess number ${n}` })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(n)))
  assert.deepEqual(statuses(answers), [...Array(10).fill(401), 429, 429])
  const other = { token: await t.make.session(member.id) }
  await forget(member)
  const change = { email: `other-${member.id}@example.org`, password: PASSWORD }
  assert.equal((await t.as(other).patch(EMAIL, change)).statusCode, 204)
  assert.equal((await signIn(t, member.username)).statusCode, 200)
})

test('the previous email address undoes a change, which ends the access of those who made it', async () => {
  const member = await makeMember(t)
  const thief = await t.make.session(member.id)
  for (const email of ['first-thief@example.org', 'second-thief@example.org']) {
    assert.equal((await t.as({ token: thief }).patch(EMAIL, { email })).statusCode, 204)
    t.advance(1_000)
  }
  await enableTwoFactor(t, { ...member, token: thief })
  const token = await t.make.pat(member)
  const created = new Date(t.deps.now())
  await t.deps.db.updateTable('personal_access_token').set({ created }).where('account_id', '=', member.id).execute()
  const flow = await mailedFlow(t, member.email, CHANGED)
  const later = await mailedFlow(t, 'first-thief@example.org', CHANGED)
  const answers = await Promise.all([1, 2, 3].map(() => t.anyone.post(UNDO, { flow })))
  assert.deepEqual(statuses(answers), [204, 400, 400])
  for (const client of [member, { token: thief }, token])
    assert.equal((await t.as(client).get('/v3/user')).statusCode, 401)
  assertError(await t.anyone.post(UNDO, { flow: later }), 400, 'invalid_input', 'flow')
  assertError(await signIn(t, member.username), 401, 'invalid_credentials')
  const reset = await mailedFlow(t, member.email, /^Reset your/)
  const set = await t.anyone.patch('/_internal/auth/password', { flow: reset, new_password: OTHER_PASSWORD })
  assert.equal(set.statusCode, 204, set.body)
  const { session } = (await signIn(t, member.email, OTHER_PASSWORD)).json()
  const user = (await t.as({ token: session }).get('/v3/user')).json()
  assert.deepEqual([user.email, user.has_totp, user.email_verified], [member.email, false, true])
})

test('undo works for seven days, and not for an email address that another account uses', async () => {
  const member = await makeMember(t)
  await t.as(member).patch(EMAIL, { email: 'moved-on@example.org' })
  const flow = await mailedFlow(t, member.email, CHANGED)
  const other = await t.make.account()
  await t.deps.db.updateTable('account').set({ email: member.email }).where('id', '=', other.id).execute()
  assertError(await t.anyone.post(UNDO, { flow }), 409, 'conflict', 'email')
  t.advance(7 * 24 * 3_600_000)
  assertError(await t.anyone.post(UNDO, { flow }), 400, 'invalid_input', 'flow')
})

test('the pages ask for the password before they offer an ownership transfer', async () => {
  const member = await makeStale()
  const person = visitor(t, member.token)
  for (const [page, forged] of [
    ['/account/security', { do: 'email', email: 'forged@example.org' }],
    ['/account/data', { do: 'delete', username: member.username }],
  ] as const) {
    await forget(member)
    const asked = await person.get(page)
    assertSays(asked, 200, 'Enter your password again')
    const csrf = hiddenFields(asked, page)
    const button = `name="do" value="${forged.do}"`
    assert.ok(!asked.body.includes(button))
    assertSays(await person.post(page, { ...csrf, ...forged }), 401, 'The password is required for this request.')
    const confirm = (password: string) => person.post(page, { ...csrf, do: 'confirm', password })
    assertSays(await confirm('wrong'), 401, 'The password is wrong')
    assertLeads(await confirm(PASSWORD), page)
    assert.ok((await person.get(page)).body.includes(button))
  }
  assert.equal((await read(member)).email, member.email)
})

test('the page of the emailed link undoes the change', async () => {
  const member = await makeMember(t)
  await t.as(member).patch(EMAIL, { email: 'by-page@example.org' })
  const [mail = ''] = await mailsTo(t, member.email, CHANGED)
  const path = /https:\/\/depot\.test(\/account\/undo-email\?flow=\w+)/.exec(mail)?.[1] ?? ''
  const person = visitor(t, member.token)
  assertSays(await person.get(path), 200, 'Undo the change of email address')
  assert.equal((await read(member)).email, 'by-page@example.org')
  assertLeads(await person.send(path, '/account/undo-email'), '/account/sign-in?done=email-restored')
  assertSays(await person.send(path, '/account/undo-email'), 400, 'The link is unknown')
})
