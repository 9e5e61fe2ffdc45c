import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PLACEHOLDER_ID, PLACEHOLDER_USERNAME } from '#features/basics/access/placeholder.ts'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { COMMAND, SYSTEM } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { type TeamFactories, teamFactories } from '#test/support/factories/team-factories.ts'
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
} from '#test/support/http/account-steps.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'
import { deleteAccountOf } from './delete-account.ts'

const DAYS = 14
const SIGN_IN = '/account/sign-in'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
let make: TeamFactories
let admin: Person
before(async () => {
  t = await testApp({ env: { ACCOUNT_DELETION_DAYS: String(DAYS) } })
  make = teamFactories(t.deps.db)
  admin = await t.make.account({ role: 'admin' })
})
after(() => t.close())

const remove = (who: { id: string; token: string }) => t.as(who).delete(`/v3/user/${who.id}`, { password: PASSWORD })
const undo = (username: string) =>
  t.anyone.post('/_internal/auth/login', { username, password: PASSWORD, undo_deletion: true })
const restore = (id: string) => t.anyone.delete(`/_internal/admin/user/${id}/deletion`, undefined, KEY)
const deleteDue = () => t.runJob('accounts.delete-due')
const read = async (path: string) => (await t.anyone.get(path)).json()
const isStored = async ({ id }: { id: string }) =>
  (await t.deps.db.selectFrom('account').select('id').where('id', '=', id).executeTakeFirst()) !== undefined

/** Moves the clock; the admin's session would not last. */
async function advance(ms: number): Promise<void> {
  t.advance(ms)
  admin = { ...admin, token: await t.make.session(admin.id) }
}

/** A project, an organization, a version, a follow, a collection, an application and a membership. */
async function settle(
  person: Member,
): Promise<Record<'project' | 'team' | 'version' | 'organization' | 'followed' | 'joined' | 'collection', string>> {
  const other = await t.make.account()
  const [project, followed, joined] = [await make.project(person), await make.project(other), await make.project(other)]
  const version = await make.version(project.id, person)
  const organization = await make.organization(person)
  await make.member(joined.teamId, person)
  await t.as(person).post(`/v3/project/${followed.id}/follow`)
  const collection = (await t.as(person).post('/v3/collection', { name: 'Lights', projects: [followed.id] })).json()
  const client = { id: newId(), account_id: person.id, name: 'Lantern app', max_scopes: 2 }
  await t.deps.db.insertInto('oauth_client').values(client).execute()
  return {
    project: project.id,
    team: joined.teamId,
    version,
    organization: organization.id,
    followed: followed.id,
    joined: joined.id,
    collection: collection.id,
  }
}

/** Returns the public state: owners, author, members, followers, and the status of the collection. */
async function seen(things: Awaited<ReturnType<typeof settle>>): Promise<unknown[]> {
  const [owner] = await read(`/v3/project/${things.project}/members`)
  const { members } = await read(`/v3/organization/${things.organization}`)
  return [
    owner.user.id,
    owner.is_owner,
    members[0].user.id,
    (await read(`/v3/version/${things.version}`)).author_id,
    (await read(`/v3/team/${things.team}/members`)).length,
    (await read(`/v3/project/${things.followed}`)).followers,
    (await t.anyone.get(`/v3/collection/${things.collection}`)).statusCode,
  ]
}

test('other users cannot see a deleted account; its owner can undo the deletion by signing in', async () => {
  const person = await makeMember(t)
  const pat = await t.make.pat(person, ALL_SCOPES)
  const things = await settle(person)
  const before = await seen(things)
  assert.deepEqual(before, [person.id, true, person.id, person.id, 2, 1, 200])
  const due = t.deps.now() + DAYS * DAY_MS
  assert.equal((await remove(person)).statusCode, 204)

  for (const who of [person, pat]) assertError(await t.as(who).get('/v3/user'), 401, 'unauthorized')
  for (const name of [person.id, person.username]) assertError(await t.anyone.get(`/v3/user/${name}`), 404, 'not_found')
  assertError(await t.as(admin).get('/v3/user_email', { query: { email: person.email } }), 404, 'not_found')
  assertError(await t.as(admin).delete(`/v3/user/${person.id}`), 404, 'not_found')
  assert.deepEqual(await seen(things), [PLACEHOLDER_ID, true, PLACEHOLDER_ID, PLACEHOLDER_ID, 1, 0, 404])
  assert.ok(
    (await read(`/v3/user/${PLACEHOLDER_USERNAME}/projects`)).some(({ id }: { id: string }) => id === things.project),
  )
  const found = await read(`/v3/users?ids=${encodeURIComponent(JSON.stringify([person.id]))}`)
  assert.deepEqual(found, [])
  const report = { report_type: 'spam', item_id: person.id, item_type: 'user', body: 'Look' }
  assertError(await t.as(admin).post('/v3/report', report), 400, 'validation_error')
  const again = { username: person.username, email: 'somebody@example.org', password: OTHER_PASSWORD }
  assertError(await t.anyone.post('/_internal/auth/create', again), 409, 'conflict', 'username')
  assert.match((await mailsTo(t, person.email, /will be deleted/))[0] ?? '', /https:\/\/depot\.test\/account\/sign-in/)

  assertError(await signIn(t, person.username, 'not the password'), 401, 'invalid_credentials')
  const refused = await signIn(t, person.username)
  assertError(refused, 403, 'unauthorized')
  const { deletion_due, can_undo } = refused.json().details
  assert.ok(Math.abs(Date.parse(deletion_due) - due) < DAY_MS && can_undo === true, refused.body)
  const answer = await undo(person.username)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal((await t.as({ token: answer.json().session }).get('/v3/user')).json().id, person.id)
  assertError(await t.as(pat).get('/v3/user'), 401, 'unauthorized')
  assert.deepEqual(await seen(things), before)
  const client = t.deps.db.selectFrom('oauth_client').select('id').where('account_id', '=', person.id)
  assert.equal((await client.execute()).length, 1)
  assert.equal((await mailsTo(t, person.email, /account is restored/)).length, 1)
  await advance(DAYS * DAY_MS + 1000)
  await deleteDue()
  assert.equal((await t.anyone.get(`/v3/user/${person.id}`)).statusCode, 200)
})

test('the job deletes what is due, for good, and nothing before', async () => {
  const person = await makeMember(t)
  const things = await settle(person)
  assert.equal((await remove(person)).statusCode, 204)
  await advance(DAYS * DAY_MS - 60_000)
  await deleteDue()
  assert.equal(await isStored(person), true)
  await advance(61_000)
  await updateSettings(t.deps, COMMAND, { read_only: true })
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'accounts.delete-due', {}))
  await t.runJobs()
  assert.equal(await isStored(person), true, 'it waits while the service is read-only')
  assertError(await undo(person.username), 503, 'service_unavailable')
  await updateSettings(t.deps, COMMAND, { read_only: false })
  await deleteDue()
  assert.equal(await isStored(person), false)
  assert.deepEqual(await seen(things), [PLACEHOLDER_ID, true, PLACEHOLDER_ID, PLACEHOLDER_ID, 1, 0, 404])
  assertError(await undo(person.username), 401, 'invalid_credentials')
  assertError(await restore(person.id), 404, 'not_found')
  const { rows } = await t.deps.pool.query('select 1 from audit_entry where account_ids @> array[$1]', [person.id])
  assert.deepEqual(rows, [])
})

test('operators restore accounts; the owner cannot restore an account that an operator deleted', async () => {
  const person = await makeMember(t)
  const project = await make.project(person)
  assertError(await restore(person.id), 400, 'invalid_input')
  assert.equal((await t.as(admin).delete(`/v3/user/${person.id}`)).statusCode, 204)
  const refused = await undo(person.username)
  assertError(refused, 403, 'unauthorized')
  assert.equal(refused.json().details.can_undo, false)
  const listed = (await t.as(admin).get('/_internal/admin/deleted-users')).json()
  const own = listed.find(({ id }: Person) => id === person.id)
  assert.deepEqual([own.username, own.by_owner, own.role], [person.username, false, 'developer'])
  assertError(await t.as(admin).get('/_internal/admin/deleted-users', { query: { limit: 0 } }), 400, 'invalid_input')
  assertError(await t.as(person).get('/_internal/admin/deleted-users'), 404, 'not_found')
  assert.equal((await restore(person.username)).statusCode, 204)
  assert.equal((await signIn(t, person.username)).statusCode, 200)
  assert.equal((await read(`/v3/project/${project.id}/members`))[0].user.id, person.id)
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { user: person.id } })).json()
  const actions = entries.map(({ action, actor }: Record<string, { kind?: string }>) => [action, actor?.kind])
  assert.deepEqual(actions.slice(-2), [
    ['account.deletion_undone', 'operator'],
    ['account.deletion_requested', 'account'],
  ])
})

test('changes by others during the deletion remain: a new owner, and deleted projects', async () => {
  const person = await makeMember(t)
  const mate = await t.make.account()
  const [given, gone] = [await make.project(person), await make.project(person)]
  assert.equal((await remove(person)).statusCode, 204)
  await t.deps.db.deleteFrom('team_member').where('team_id', '=', given.teamId).execute()
  await make.member(given.teamId, mate)
  await t.deps.db.updateTable('team_member').set({ is_owner: true }).where('team_id', '=', given.teamId).execute()
  assert.equal((await t.as(admin).delete(`/v3/project/${gone.id}`)).statusCode, 204)
  assert.equal((await undo(person.username)).statusCode, 200)
  const members = await read(`/v3/project/${given.id}/members`)
  assert.deepEqual(
    members.map(({ user }: { user: Person }) => user.id),
    [mate.id],
  )
})

test('a second factor is required first, and a forgotten password can be reset', async () => {
  const person = await makeMember(t)
  const { backupCodes } = await enableTwoFactor(t, person)
  const [code = ''] = backupCodes
  assert.equal((await t.as(person).delete(`/v3/user/${person.id}`, { password: PASSWORD, code })).statusCode, 204)
  await t.anyone.post('/_internal/auth/password/reset', { username: person.username })
  const link = await mailedFlow(t, person.email, /Reset your/)
  const reset = { flow: link, new_password: OTHER_PASSWORD }
  assert.equal((await t.anyone.patch('/_internal/auth/password', reset)).statusCode, 204)
  assertError(await signIn(t, person.username, OTHER_PASSWORD), 403, 'unauthorized')
  const login = { username: person.email, password: OTHER_PASSWORD, undo_deletion: true }
  const { flow } = (await t.anyone.post('/_internal/auth/login', login)).json()
  assertError(await t.anyone.get(`/v3/user/${person.id}`), 404, 'not_found')
  const finished = await t.anyone.post('/_internal/auth/login/2fa', { flow, code: backupCodes[1] })
  assert.equal(finished.statusCode, 200, finished.body)
  assert.equal((await t.anyone.get(`/v3/user/${person.id}`)).statusCode, 200)
})

test('concurrent undo requests and the job end in one of both states, and nothing is half done', async () => {
  for (let round = 0; round < 3; round += 1) {
    const person = await makeMember(t)
    const project = await make.project(person)
    assert.equal((await remove(person)).statusCode, 204)
    await advance(DAYS * DAY_MS + 1000)
    const [first, second, third] = await Promise.all([
      undo(person.username),
      restore(person.id),
      undo(person.email),
      deleteDue(),
    ])
    for (const answer of [first, second, third]) assert.ok(answer.statusCode < 500, answer.body)
    const [owner] = await read(`/v3/project/${project.id}/members`)
    assert.equal(owner.user.id, (await isStored(person)) ? person.id : PLACEHOLDER_ID)
    const left = await t.deps.db
      .selectFrom('account_deletion')
      .selectAll()
      .where('account_id', '=', person.id)
      .execute()
    assert.deepEqual(left, [])
  }
})

test('two deletions and concurrent requests of the account leave no membership behind', async () => {
  const person = await makeMember(t)
  const project = await make.project(await t.make.account())
  const answers = await Promise.all([
    remove(person),
    remove(person),
    t.as(person).post(`/v3/project/${project.id}/follow`),
    t.as(person).post('/v3/collection', { name: 'Lights', projects: [] }),
    t.as(admin).post(`/v3/team/${project.teamId}/members`, { user_id: person.id }),
  ])
  for (const answer of answers) assert.ok(answer.statusCode < 500, answer.body)
  assert.equal(answers.filter(({ statusCode }) => statusCode === 204).length >= 1, true)
  const rows = await t.deps.db.selectFrom('team_member').select('team_id').where('account_id', '=', person.id).execute()
  assert.deepEqual(rows, [])
  await assert.rejects(make.member(project.teamId, person), { code: '23503' })
})

test('the sign-in page offers to undo the deletion, and says before it how long that is possible', async () => {
  const person = await makeMember(t)
  const visit = visitor(t)
  const fields = { username: person.username, password: PASSWORD }
  await visit.send(SIGN_IN, SIGN_IN, fields)
  assertSays(await visit.get('/account/data'), 200, `You can sign in and undo the deletion for ${DAYS} days`)
  const removed = await visit.send('/account/data', '/account/data', { do: 'delete', username: person.username })
  assertLeads(removed, '/account/sign-in?done=account-deleted')
  assertSays(await visit.send(SIGN_IN, SIGN_IN, { ...fields, password: 'wrong' }), 401, 'wrong')
  assertSays(await visit.send(SIGN_IN, SIGN_IN, fields), 403, 'name="undo_deletion"')
  assertLeads(await visit.send(SIGN_IN, SIGN_IN, { ...fields, undo_deletion: 'yes' }), '/account')
  assert.equal((await t.anyone.get(`/v3/user/${person.id}`)).statusCode, 200)
})

test('an admin with a pending deletion is not an admin; permanent deletion is possible immediately', async () => {
  const own = await testApp({ env: { ACCOUNT_DELETION_DAYS: '1' } })
  try {
    const [first, second] = [await own.make.account({ role: 'admin' }), await own.make.account({ role: 'admin' })]
    assert.equal((await own.as(first).delete(`/v3/user/${second.id}`)).statusCode, 204)
    assertError(await own.as(first).patch(`/v3/user/${first.id}`, { role: 'developer' }), 400, 'invalid_input')
    const account = await own.deps.db
      .selectFrom('account')
      .selectAll()
      .where('id', '=', second.id)
      .executeTakeFirstOrThrow()
    await deleteAccountOf(own.deps, account, SYSTEM)
    assert.deepEqual((await own.as(first).get('/_internal/admin/deleted-users')).json(), [])
  } finally {
    await own.close()
  }
})
