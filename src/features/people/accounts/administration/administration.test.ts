import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { createTokenDirectory } from '#features/basics/authentication/token-directory.ts'
import { createStaffRule } from '#features/basics/settings/settings-cache.ts'
import { DAY_MS } from '#lib/time.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import {
  assertError,
  assertRefusedValues,
  enableTwoFactor,
  mailedFlow,
  mailsTo,
  makeMember,
  OTHER_PASSWORD,
  signIn,
  statuses,
} from '#test/support/http/account-steps.ts'
import { setRole } from '../set-role.ts'
import { suspendAccount } from './suspend-account.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
let admin: Person
before(async () => {
  t = await testApp()
  admin = await t.make.account({ role: 'admin' })
})
// Tests advance the clock, and the session of an admin is confirmed for 10 minutes.
beforeEach(async () => {
  admin = { ...admin, token: await t.make.session(admin.id) }
})
after(() => t.close())

const at = (person: { id: string }, what = 'suspension'): string => `/_internal/admin/user/${person.id}/${what}`
const suspend = (person: { id: string }, body: object = { reason: 'Advertising' }) => t.as(admin).put(at(person), body)
const unsuspend = (person: { id: string }) => t.as(admin).delete(at(person))
const me = (person: { token: string }) => t.as(person).get('/v3/user')

test('a suspended account has no session and its tokens do nothing, until the suspension ends', async () => {
  const person = await makeMember(t)
  const pat = await t.make.pat(person, ALL_SCOPES)
  assert.equal((await me(pat)).statusCode, 200)
  assert.equal((await suspend(person, { reason: 'Advertising\nin every project' })).statusCode, 204)
  assertError(await me(person), 401, 'unauthorized')
  const refused = await me(pat)
  assertError(refused, 401, 'unauthorized')
  assert.match(refused.json().description, /suspended/)
  // A route without authentication still works as for everyone.
  assert.equal((await t.as(pat).get(`/v3/user/${person.id}`)).statusCode, 200)
  const [mail = ''] = await mailsTo(t, person.email, /suspended/)
  assert.match(mail, /Advertising/)
  const listed = (await t.as(admin).get('/_internal/admin/suspended-users')).json()
  const own = listed.find(({ id }: Person) => id === person.id)
  assert.deepEqual([own.username, own.until, own.reason], [person.username, null, 'Advertising\nin every project'])

  assert.equal((await unsuspend(person)).statusCode, 204)
  assert.equal((await me(pat)).statusCode, 200)
  assertError(await me(person), 401, 'unauthorized')
  assert.equal((await signIn(t, person.username)).statusCode, 200)
  assert.equal((await mailsTo(t, person.email, /no longer suspended/)).length, 1)
  assertError(await unsuspend(person), 400, 'invalid_input')
})

test('a suspended admin cannot sign in, and nothing they hold opens a route of the operator any more', async () => {
  const person = await makeMember(t)
  await setRole(t.deps, { accountId: person.id, role: 'admin', actor: SYSTEM })
  const pat = await t.make.pat(person, ALL_SCOPES)
  const other = await t.make.account()
  const routes = ['suspended-users', 'audit-log', 'settings'].map((name) => `/_internal/admin/${name}`)
  const open = async (holder: { token: string }) =>
    statuses(await Promise.all(routes.map((route) => t.as(holder).get(route))))
  assert.deepEqual(await open(person), [200, 200, 200])
  assert.equal((await me(pat)).statusCode, 200)
  assert.equal((await suspend(person)).statusCode, 204)
  for (const holder of [person, pat]) {
    assertError(await me(holder), 401, 'unauthorized')
    // The same response as for users without permission to see the account.
    assert.deepEqual(await open(holder), [404, 404, 404])
    assertError(await t.as(holder).put(at(other), { reason: 'Still here' }), 404, 'not_found')
    assertError(await t.as(holder).delete(at(person)), 404, 'not_found')
  }
  assertError(await signIn(t, person.username), 403, 'unauthorized')
  const listed = (await t.as(admin).get('/_internal/admin/suspended-users')).json().map(({ id }: Person) => id)
  assert.ok(listed.includes(person.id) && !listed.includes(other.id))
})

test('users who know the password see the reason; others learn nothing', async () => {
  const person = await makeMember(t)
  const until = new Date(t.deps.now() + DAY_MS).toISOString()
  await suspend(person, { reason: 'Cool down', until })
  assertError(await signIn(t, person.username, 'not the password'), 401, 'invalid_credentials')
  const refused = await signIn(t, person.username)
  assertError(refused, 403, 'unauthorized')
  assert.deepEqual(refused.json().details, { reason: 'Cool down', suspended_until: until })
  t.advance(DAY_MS + 1_000)
  assert.equal((await signIn(t, person.username)).statusCode, 200)
})

test('a sign-in that waits for its second factor ends, and cannot be finished', async () => {
  const person = await makeMember(t)
  const { backupCodes } = await enableTwoFactor(t, person)
  const { flow } = (await signIn(t, person.username)).json()
  await suspend(person)
  const code = backupCodes[0]
  assertError(await t.anyone.post('/_internal/auth/login/2fa', { flow, code }), 401, 'invalid_credentials')
  assertError(await signIn(t, person.username), 403, 'unauthorized')
})

test('a suspension is rejected by its field, and changes when it comes again', async () => {
  const person = await t.make.account()
  const valid = { reason: 'Advertising', until: new Date(t.deps.now() + DAY_MS).toISOString() }
  const send = (body: Record<string, unknown>) => t.as(admin).put(at(person), body)
  await assertRefusedValues(send, valid, 'reason', [undefined, null, 7, '', '  \n ', 'x'.repeat(1001), 'a\u0000b'])
  await assertRefusedValues(send, valid, 'until', [
    'tomorrow',
    7,
    '2020-01-01T00:00:00Z',
    new Date(t.deps.now()).toISOString(),
  ])
  assertError(await unsuspend(person), 400, 'invalid_input')
  assert.equal((await send({ reason: 'x'.repeat(1000) })).statusCode, 204)
  assert.equal((await send(valid)).statusCode, 204)
  const listed = (await t.as(admin).get('/_internal/admin/suspended-users')).json()
  assert.equal(listed.find(({ id }: Person) => id === person.id).until, valid.until)
  assertError(await suspend({ id: 'nobody-here' }), 404, 'not_found')
  assertError(await suspend(admin), 400, 'invalid_input')
  assertError(await t.as(admin).delete(at({ id: 'nobody-here' })), 404, 'not_found')
})

test('another process rejects the tokens once it is notified of the change', async () => {
  const person = await t.make.account()
  const pat = await t.make.pat(person, ALL_SCOPES)
  // A directory without a cache stands for a process that has emptied its own.
  const elsewhere = createTokenDirectory({
    staffRule: createStaffRule(t.deps),
    db: t.deps.db,
    cache: createEntityCache({ maxBytes: 1024 }),
    now: t.deps.now,
    onUse: () => {},
    onForeignAddress: async () => {},
  })
  const authenticate = () => elsewhere.authenticate(pat.token, { clientAddress: '127.0.0.1' } as never)
  assert.equal(typeof (await authenticate()), 'object')
  await suspend(person)
  assert.equal(await authenticate(), 'suspended')
})

test('the last admin cannot be suspended, demoted or deleted, also by two concurrent requests', async () => {
  const own = await testApp()
  try {
    const [first, second] = [await own.make.account({ role: 'admin' }), await own.make.account({ role: 'admin' })]
    const until = new Date(own.deps.now() + DAY_MS)
    const answers = await Promise.all([
      own.as(first).put(at(second), { reason: 'You or me' }),
      own.as(second).put(at(first), { reason: 'You or me' }),
    ])
    assert.equal(statuses(answers).filter((status) => status === 204).length, 1)
    const [left, out] = answers[0]?.statusCode === 204 ? [first, second] : [second, first]
    // A suspended admin does not count as an admin.
    assertError(await own.as(left).patch(`/v3/user/${left.id}`, { role: 'developer' }), 400, 'invalid_input')
    assertError(await own.as(left).delete(`/v3/user/${left.id}`), 400, 'invalid_input')
    assertError(await own.anyone.put(at(left), { reason: 'The key decides' }, KEY), 400, 'invalid_input')
    await assert.rejects(setRole(own.deps, { accountId: left.id, role: 'moderator', actor: SYSTEM }), /only admin/)
    assert.equal((await own.as(left).delete(at(out))).statusCode, 204)
    await suspendAccount(own.deps, SYSTEM, { name: left.id, reason: 'Now it works', until })
    assertError(await me(left), 401, 'unauthorized')
  } finally {
    await own.close()
  }
})

test('the last admin cannot delete their account', async () => {
  const own = await testApp()
  try {
    const person = await makeMember(own)
    await setRole(own.deps, { accountId: person.id, role: 'admin', actor: SYSTEM })
    const { session: token } = (await signIn(own, person.username)).json()
    assertError(await own.as({ token }).delete(`/v3/user/${person.id}`, {}), 400, 'invalid_input')
    await own.make.account({ role: 'admin' })
    assert.equal((await own.as({ token }).delete(`/v3/user/${person.id}`, {})).statusCode, 204)
  } finally {
    await own.close()
  }
})

test('a forced sign-out ends sessions, and tokens only when asked to', async () => {
  const person = await makeMember(t)
  const pat = await t.make.pat(person, ALL_SCOPES)
  assert.equal((await t.as(admin).delete(at(person, 'sessions'))).statusCode, 204)
  assertError(await me(person), 401, 'unauthorized')
  assert.equal((await me(pat)).statusCode, 200)
  assert.equal(
    (await t.as(admin).delete(at(person, 'sessions'), undefined, { query: { tokens: true } })).statusCode,
    204,
  )
  assertError(await me(pat), 401, 'unauthorized')
  assert.equal((await signIn(t, person.username)).statusCode, 200)
  assertError(await t.as(admin).delete(at({ id: PLACEHOLDER_ID }, 'sessions')), 404, 'not_found')
})

test('a password link works once and sends no email', async () => {
  const person = await makeMember(t)
  const made = await t.as(admin).post(at(person, 'password-link'))
  assert.equal(made.statusCode, 201, made.body)
  const { url, expires } = made.json()
  assert.ok(Date.parse(expires) > t.deps.now())
  const flow = new URL(url).searchParams.get('flow')
  assert.equal((await signIn(t, person.username)).statusCode, 200)
  const reset = () => t.anyone.patch('/_internal/auth/password', { flow, new_password: OTHER_PASSWORD })
  assert.equal((await reset()).statusCode, 204)
  assertError(await reset(), 401, 'invalid_credentials')
  assert.equal((await signIn(t, person.username, OTHER_PASSWORD)).statusCode, 200)
  assert.equal((await mailsTo(t, person.email, /Reset your/)).length, 0)
})

test('a lost second factor is turned off with a reason, and the user receives an email', async () => {
  const person = await makeMember(t)
  await enableTwoFactor(t, person)
  const reset = (body?: object) => t.as(admin).delete(at(person, 'two-factor'), body)
  const waiting = (await signIn(t, person.username)).json()
  assert.ok(waiting.flow !== undefined)
  await assertRefusedValues(reset, { reason: 'Recognised' }, 'reason', [undefined, null, 7, '', ' ', 'x'.repeat(1001)])
  assert.equal((await reset({ reason: ' Recognised on a call ' })).statusCode, 204)
  assert.equal((await signIn(t, person.username)).json().flow, undefined)
  assert.equal((await mailsTo(t, person.email, /two-factor sign-in is off/)).length, 1)
  assertError(await reset({ reason: 'Again' }), 400, 'invalid_input')
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { user: person.id } })).json()
  const entry = entries.find(({ action }: { action: string }) => action === 'account.two_factor_disabled')
  assert.deepEqual([entry.actor.id, entry.details], [admin.id, { reason: 'Recognised on a call' }])
})

test('operators set an email address, verified or with a link, and links to the former address end', async () => {
  const [person, other] = [await makeMember(t), await t.make.account()]
  const set = (body: Record<string, unknown>) => t.as(admin).put(at(person, 'email'), body)
  const email = async () => {
    const account = t.deps.db.selectFrom('account').select(['email', 'email_verified']).where('id', '=', person.id)
    return account.executeTakeFirstOrThrow()
  }
  await assertRefusedValues(set, { email: 'new@example.org' }, 'email', [undefined, null, 7, '', 'new', 'a@b c'])
  assertError(await set({ email: other.email.toUpperCase() }), 409, 'conflict')
  await t.anyone.post('/_internal/auth/password/reset', { username: person.username })
  await t.runJobs()
  const flow = await mailedFlow(t, person.email, /Reset your/)
  assert.equal((await set({ email: 'new@example.org', verified: true })).statusCode, 204)
  assert.deepEqual(await email(), { email: 'new@example.org', email_verified: true })
  const used = await t.anyone.patch('/_internal/auth/password', { flow, new_password: OTHER_PASSWORD })
  assertError(used, 401, 'invalid_credentials')
  assert.equal((await signIn(t, 'new@example.org')).statusCode, 200)
  // The same address without a claim gets the link.
  assert.equal((await set({ email: 'new@example.org' })).statusCode, 204)
  assert.deepEqual(await email(), { email: 'new@example.org', email_verified: false })
  assert.equal((await mailsTo(t, 'new@example.org', /verify/i)).length, 1)
  assert.equal((await set({ email: 'new@example.org', verified: true })).statusCode, 204)
  assert.deepEqual(await email(), { email: 'new@example.org', email_verified: true })
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { user: person.id } })).json()
  const changes = entries.filter(({ action }: { action: string }) => action.startsWith('account.email_'))
  assert.deepEqual(
    changes.map(({ action, details }: Record<string, unknown>) => [action, details]),
    [
      ['account.email_verified', { verified: true }],
      ['account.email_changed', { verified: false }],
      ['account.email_changed', { verified: true }],
    ],
  )
})

test('all of it is for operators and in the audit log', async () => {
  const [person, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const asModerator = t.as(moderator)
  const refused = [
    await asModerator.put(at(person), { reason: 'I say so' }),
    await asModerator.delete(at(person)),
    await asModerator.delete(at(person, 'sessions')),
    await asModerator.post(at(person, 'password-link')),
    await asModerator.delete(at(person, 'two-factor'), { reason: 'I say so' }),
    await asModerator.put(at(person, 'email'), { email: 'mine@example.org' }),
    await t.anyone.get('/_internal/admin/suspended-users'),
  ]
  for (const answer of refused) assertError(answer, 404, 'not_found')
  await suspend(person, { reason: 'Advertising' })
  await unsuspend(person)
  await t.anyone.delete(at(person, 'sessions'), undefined, KEY)
  await t.as(admin).post(at(person, 'password-link'))
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { user: person.id } })).json()
  assert.deepEqual(
    entries.map(({ action, actor, details }: Record<string, { id?: string }>) => [action, actor?.id, details]),
    [
      ['account.password_link_made', admin.id, {}],
      ['account.signed_out', null, { tokens: false }],
      ['account.unsuspended', admin.id, {}],
      ['account.suspended', admin.id, { reason: 'Advertising', until: null }],
    ],
  )
})

test('an operator lists the sessions of a user with shortened addresses, and ends one of them', async () => {
  const person = await makeMember(t)
  assert.equal((await signIn(t, person.username)).statusCode, 200)
  const sessions = async () => (await t.as(admin).get(at(person, 'sessions'))).json()
  const [newest, oldest] = await sessions()
  assert.match(newest.address_range, /\.0\/24$|::\/48$/)
  assert.ok(!('ip' in newest) && !('session' in newest))
  const end = (id: string, of = person) => t.as(admin).delete(at(of, `sessions/${id}`))
  assertError(await end('no!'), 400, 'decoding_error')
  assertError(await end(newest.id, { ...person, id: admin.id }), 404, 'not_found')
  assertError(await end(newest.id, { ...person, id: 'nobody-here' }), 404, 'not_found')
  const ended = await Promise.all([end(newest.id), end(newest.id)])
  assert.deepEqual(statuses(ended).sort(), [204, 404])
  assert.deepEqual(await sessions(), [oldest])
  assert.equal((await me(person)).statusCode, 200)
  // The user sees that somebody else has ended the session, and not who.
  const [own] = (await t.as(person).get('/_internal/account/audit-log')).json().entries
  assert.deepEqual([own.action, own.by, own.subject.id], ['session.ended', 'others', newest.id])
})

test('an operator sets the limits of an account, and sees what it has stored', async () => {
  const person = await t.make.account()
  const read = async () => (await t.as(admin).get(at(person, 'limits'))).json()
  const set = (body: Record<string, unknown>) => t.as(admin).put(at(person, 'limits'), body)
  assert.deepEqual(await read(), {
    projects: { current: 0, max: 256, override: null },
    organizations: { current: 0, max: 16, override: null },
    collections: { current: 0, max: 32, override: null },
    versions: 0,
    bytes: 0,
  })
  await assertRefusedValues(set, {}, 'projects', [-1, 1.5, 'many', 1_000_001])
  const sent = [set({ projects: 0, collections: 5 }), set({ projects: 0, collections: 5 })]
  assert.deepEqual(statuses(await Promise.all(sent)), [204, 204])
  const { projects, organizations, collections } = await read()
  assert.deepEqual([projects.override, organizations.override, collections.max], [0, null, 5])
  assert.deepEqual((await t.as(person).get('/v3/limits/projects')).json(), { current: 0, max: 0 })
  assert.equal((await set({})).statusCode, 204)
  assert.equal((await read()).projects.max, 256)
  assertError(await t.as(admin).put(at({ id: 'nobody-here' }, 'limits'), {}), 404, 'not_found')
})
