// Only an admin's session with a confirmed password changes roles, badges and the accounts of others.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import {
  assertError,
  enableTwoFactor,
  type Member,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { getToken, makeApplication } from '#test/support/http/oauth-steps.ts'
import { setRole } from '../set-role.ts'
import { suspendAccount } from './suspend-account.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const TEN_MINUTES = 10 * 60_000

let t: TestApp
before(async () => {
  t = await testApp({ env: { ACCOUNT_DELETION_DAYS: '7' } })
  // The last admin cannot be demoted.
  await t.make.account({ role: 'admin' })
})
after(() => t.close())

type Method = 'patch' | 'put' | 'post' | 'delete'
type Operation = {
  name: string
  method: Method
  path: string
  body?: object
  before?: (person: Person) => Promise<unknown>
}

const suspend = ({ id }: Person) => suspendAccount(t.deps, SYSTEM, { name: id, reason: 'Advertising', until: null })
const remove = (person: Person) => t.as(person).delete(`/v3/user/${person.id}`)

/** Everything that acts on the account of another user and needs a confirmed password. `:id` is the account. */
const USER: Operation[] = ['/v3', '/v2'].flatMap((prefix) => [
  { name: 'role', method: 'patch', path: `${prefix}/user/:id`, body: { role: 'admin' } },
  { name: 'badges', method: 'patch', path: `${prefix}/user/:id`, body: { badges: 1 } },
  { name: 'payouts', method: 'patch', path: `${prefix}/user/:id`, body: { payout_handle: 'mine' } },
  { name: 'deletion', method: 'delete', path: `${prefix}/user/:id` },
])
const ADMIN: Operation[] = ['/_internal', '/v2/_internal'].flatMap((prefix) => {
  const path = `${prefix}/admin/user/:id`
  return [
    { name: 'suspension', method: 'put', path: `${path}/suspension`, body: { reason: 'Advertising' } },
    { name: 'end of suspension', method: 'delete', path: `${path}/suspension`, before: suspend },
    { name: 'password link', method: 'post', path: `${path}/password-link` },
    { name: 'sign-out', method: 'delete', path: `${path}/sessions` },
    { name: 'restoring', method: 'delete', path: `${path}/deletion`, before: remove },
  ]
})

async function makeAdmin(): Promise<Member> {
  const admin = await makeMember(t)
  await setRole(t.deps, { accountId: admin.id, role: 'admin', actor: SYSTEM })
  return admin
}

const forget = ({ id }: { id: string }) =>
  t.deps.db
    .updateTable('session')
    .set({ confirmed_at: new Date(t.deps.now() - TEN_MINUTES) })
    .where('account_id', '=', id)
    .execute()

/** The account, its sessions and its links. */
async function stateOf({ id }: { id: string }): Promise<unknown> {
  const { db } = t.deps
  return Promise.all([
    db.selectFrom('account').selectAll().where('id', '=', id).execute(),
    db.selectFrom('session').select('id').where('account_id', '=', id).execute(),
    db.selectFrom('account_flow').selectAll().where('account_id', '=', id).execute(),
  ])
}

async function makeTarget({ before }: Operation): Promise<Person> {
  const person = await t.make.account()
  await before?.(person)
  return person
}

const send = (who: { token: string }, { method, path, body }: Operation, { id }: { id: string }, proof?: object) =>
  t
    .as(who)
    [method](path.replace(':id', id), body === undefined && proof === undefined ? undefined : { ...body, ...proof })

test("no token of an admin acts on another user's account, also with the password", async () => {
  const admin = await makeAdmin()
  const oauth = await getToken(t, await makeApplication(t, admin, { max_scopes: GRANTABLE_SCOPES }), admin)
  const tokens = [await t.make.pat(admin), { token: oauth }]
  for (const operation of [...USER, ...ADMIN]) {
    const person = await makeTarget(operation)
    const before = await stateOf(person)
    for (const token of tokens) {
      const answer = await send(token, operation, person, { password: PASSWORD })
      const status = ADMIN.includes(operation) ? 404 : 403
      assert.equal(answer.statusCode, status, `${operation.path} ${operation.name}: ${answer.body}`)
    }
    assert.deepEqual(await stateOf(person), before, operation.name)
  }
  for (const body of [{ role: 'developer' }, { badges: 1 }]) {
    for (const token of tokens)
      assertError(await t.as(token).patch(`/v3/user/${admin.id}`, { ...body, password: PASSWORD }), 403, 'unauthorized')
  }
})

test("an admin's session confirms the password first, which then holds for ten minutes", async () => {
  const admin = await makeAdmin()
  for (const operation of [...USER, ...ADMIN]) {
    const what = `${operation.path} ${operation.name}`
    await forget(admin)
    const person = await makeTarget(operation)
    const before = await stateOf(person)
    for (const [proof, error] of [
      [undefined, 'unauthorized'],
      [{ code: '000000' }, 'unauthorized'],
      [{ password: OTHER_PASSWORD }, 'invalid_credentials'],
    ] as const) {
      const answer = await send(admin, operation, person, proof)
      assert.deepEqual([answer.statusCode, answer.json().error], [401, error], what)
      if (error === 'unauthorized') assert.equal(answer.json().details.field, 'password', what)
    }
    assert.deepEqual(await stateOf(person), before, what)
    const done = await send(admin, operation, person, { password: PASSWORD })
    assert.ok(done.statusCode < 300, `${what}: ${done.body}`)
    assert.notDeepEqual(await stateOf(person), before, what)
    const next = await send(admin, operation, await makeTarget(operation))
    assert.ok(next.statusCode < 300, `${what}: ${next.body}`)
  }
})

test('an admin with two-factor authentication confirms with a code as well', async () => {
  const admin = await makeAdmin()
  const { secret } = await enableTwoFactor(t, admin)
  await forget(admin)
  const person = await t.make.account()
  const link = (proof: object) => t.as(admin).post(`/_internal/admin/user/${person.id}/password-link`, proof)
  assertError(await link({ password: PASSWORD }), 401, 'unauthorized', 'code')
  assertError(await link({ password: PASSWORD, code: '000000' }), 401, 'invalid_credentials')
  assert.equal((await link({ password: PASSWORD, code: totpCode(t, secret) })).statusCode, 201)
})

test('an admin also confirms before they change their own role or badges', async () => {
  const admin = await makeAdmin()
  await forget(admin)
  const change = (body: object) => t.as(admin).patch(`/v3/user/${admin.id}`, body)
  for (const body of [{ badges: 1 }, { role: 'developer' }])
    assertError(await change(body), 401, 'unauthorized', 'password')
  assert.equal((await change({ role: 'developer', password: PASSWORD })).statusCode, 204)
})

test('the admin key acts on accounts without a password, but never changes roles and badges', async () => {
  for (const operation of ADMIN) {
    const { id } = await makeTarget(operation)
    const answer = await t.anyone[operation.method](operation.path.replace(':id', id), operation.body, KEY)
    assert.ok(answer.statusCode < 300, `${operation.path} ${operation.name}: ${answer.body}`)
  }
  const admin = await makeAdmin()
  for (const operation of USER) {
    const person = await t.make.account()
    const before = await stateOf(person)
    const path = operation.path.replace(':id', person.id)
    for (const client of [t.anyone, t.as(await t.make.pat(admin))]) {
      const answer = await client[operation.method](path, { ...operation.body, password: PASSWORD }, KEY)
      assert.ok([401, 403].includes(answer.statusCode), `${path} ${operation.name}: ${answer.body}`)
    }
    assert.deepEqual(await stateOf(person), before, path)
  }
})
