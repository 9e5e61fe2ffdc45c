import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACEHOLDER_ID, PLACEHOLDER_USERNAME } from '#features/basics/access/placeholder.ts'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError, assertRefusedValues, makeMember, PASSWORD, statuses } from '#test/support/http/account-steps.ts'

const { t } = await teamApp()

const patch = (who: { token: string }, name: string, body: Record<string, unknown>) =>
  t.as(who).patch(`/v3/user/${name}`, body)
const read = async (name: string) => (await t.anyone.get(`/v3/user/${name}`)).json()
const own = async (who: Person) => (await t.as(who).get('/v3/user')).json()

test('a user edits their account by ID or name, and every reader sees it immediately', async () => {
  const person = await t.make.account()
  await read(person.id)
  const body = { bio: 'Makes lanterns', payout_handle: '@lantern', allow_friend_requests: false, unknown: 1 }
  assert.equal((await patch(person, person.username.toUpperCase(), body)).statusCode, 204)
  assert.equal((await read(person.id)).bio, 'Makes lanterns')
  const self = await own(person)
  assert.deepEqual([self.payout_data.payout_handle, self.allow_friend_requests], ['@lantern', false])
  assert.equal((await patch(person, person.id, { bio: null, payout_handle: null })).statusCode, 204)
  const cleared = await own(person)
  assert.deepEqual([cleared.bio, cleared.payout_data.payout_handle], [null, null])
  const nulls = { username: null, role: null, badges: null, allow_friend_requests: null }
  assert.equal((await patch(person, person.id, nulls)).statusCode, 204, 'null stands for absent')
  assert.equal((await own(person)).username, person.username)
})

test('each field is held to its limits, and a rejected body saves nothing', async () => {
  const [person, admin] = await Promise.all([t.make.account(), t.make.account({ role: 'admin' })])
  const send = (body: Record<string, unknown>) => patch(admin, person.id, body)
  const valid = { bio: 'Changed', role: 'moderator' }
  await assertRefusedValues(send, valid, 'username', ['', 'n'.repeat(40), 'with space', 'ümlaut', '..', 5])
  await assertRefusedValues(send, valid, 'bio', ['b'.repeat(161), 5, []])
  await assertRefusedValues(send, valid, 'role', ['owner', 'Admin', '', 5])
  await assertRefusedValues(send, valid, 'badges', [-1, 256, 1.5, '1'])
  await assertRefusedValues(send, valid, 'payout_handle', ['p'.repeat(161), 5])
  await assertRefusedValues(send, valid, 'allow_friend_requests', ['true', 1])
  const { bio, role } = await read(person.id)
  assert.deepEqual([bio, role], [null, 'developer'])
  const edges = { username: 'n'.repeat(39), bio: '𝔹'.repeat(160), badges: 255, payout_handle: 'p'.repeat(160) }
  assert.equal((await send(edges)).statusCode, 204)
  assert.equal((await send({ username: 'n', badges: 0 })).statusCode, 204)
})

test('a new name works immediately; case can change; a used name is reported', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  const project = await teamFactories(t.deps.db).project(person)
  await t.anyone.get(`/v3/project/${project.id}`)
  const before = person.username
  assert.equal((await patch(person, person.id, { username: 'Lantern-Maker' })).statusCode, 204)
  assert.equal((await read('lantern-maker')).id, person.id)
  assertError(await t.anyone.get(`/v3/user/${before}`), 404, 'not_found')
  assert.equal((await patch(person, person.id, { username: 'LANTERN-maker' })).statusCode, 204)
  assert.equal((await read(person.id)).username, 'LANTERN-maker')
  for (const taken of [
    'lantern-MAKER',
    person.id,
    person.id.toLowerCase(),
    PLACEHOLDER_USERNAME,
    PLACEHOLDER_ID.toUpperCase(),
  ])
    assertError(await patch(other, other.id, { username: taken, bio: 'Changed' }), 409, 'conflict', 'username')
  assert.equal((await read(other.id)).bio, null)
})

test('a name that was given up stays reserved for its former owner for 30 days', async () => {
  const [person, admin] = await Promise.all([
    t.make.account({ username: 'Firefly' }),
    t.make.account({ role: 'admin' }),
  ])
  const rename = (who: Person, username: string) => patch(who, who.id, { username })
  const days = (count: number) => count * 24 * 3_600_000
  for (const username of ['Firefly-2', 'FIREFLY', 'firefly-2'])
    assert.equal((await rename(person, username)).statusCode, 204, username)
  const fields = { email: 'moth@example.com', password: PASSWORD }
  for (const username of ['firefly', 'Firefly']) {
    assertError(await rename(admin, username), 409, 'conflict', 'username')
    const signUp = await t.anyone.post('/_internal/auth/create', { ...fields, username })
    assertError(signUp, 409, 'conflict', 'username')
  }
  t.advance(days(29))
  await t.runJobs()
  const later = await t.make.account({ role: 'admin' })
  assertError(await rename(later, 'firefly'), 409, 'conflict', 'username')
  t.advance(days(1))
  assert.equal((await rename(later, 'firefly')).statusCode, 204)
})

test('an account gives up at most 20 names within 30 days, and can always return to one of them', async () => {
  const person = await t.make.account()
  const rename = (name: string) => patch(person, person.id, { username: name })
  for (let count = 1; count <= 20; count += 1) assert.equal((await rename(`glow-${count}`)).statusCode, 204)
  assertError(await rename('glow-21'), 400, 'LimitReached')
  assert.equal((await rename('glow-1')).statusCode, 204)
  assert.equal((await read('glow-1')).id, person.id)
})

test('moderators change the names of users, but not of admins and moderators', async () => {
  const [person, moderator, other, admin] = await Promise.all([
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  for (const target of [other, admin]) {
    for (const username of ['taken-over', target.username.toUpperCase()])
      assertError(await patch(moderator, target.id, { username, bio: 'x' }), 403, 'unauthorized')
    assert.deepEqual(await read(target.username), { ...(await read(target.id)), bio: null })
    const body = { username: target.username, bio: 'Moderated' }
    assert.equal((await patch(moderator, target.id, body)).statusCode, 204, 'an equal name is not a change')
  }
  assert.equal((await patch(moderator, person.id, { username: 'polite-name' })).statusCode, 204)
  assert.equal((await patch(moderator, moderator.id, { username: 'own-name' })).statusCode, 204)
  assert.equal((await patch(admin, other.id, { username: 'other-name' })).statusCode, 204)
})

test('one of two concurrent requests gets a name', async () => {
  const people = await Promise.all([t.make.account(), t.make.account(), t.make.account()])
  const answers = await Promise.all(
    people.map((person, index) => patch(person, person.id, { username: ['Moth', 'moth', 'MOTH'][index] })),
  )
  assert.deepEqual(statuses(answers), [204, 409, 409])
  for (const answer of answers.filter(({ statusCode }) => statusCode === 409))
    assertError(answer, 409, 'conflict', 'username')
})

test('moderators edit others, but roles and badges are for admins; when one field is rejected none is saved', async () => {
  const [person, stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  assertError(await patch(stranger, person.id, { bio: 'Not mine' }), 403, 'unauthorized')
  assertError(await patch(stranger, person.id, {}), 403, 'unauthorized')
  for (const body of [{ bio: 'Changed', role: 'admin' }, { bio: 'Changed', badges: 1 }, { role: 'developer' }]) {
    for (const who of [person, moderator]) assertError(await patch(who, person.id, body), 403, 'unauthorized')
  }
  assert.equal((await read(person.id)).bio, null)
  assert.equal((await patch(moderator, person.id, { bio: 'Moderated' })).statusCode, 204)
  assert.equal((await patch(moderator, admin.id, { bio: 'Moderated' })).statusCode, 204)
  assert.equal((await patch(admin, person.id, { role: 'moderator', badges: 129 })).statusCode, 204)
  for (const payout_handle of ['elsewhere', null])
    assertError(await patch(moderator, person.id, { bio: 'Changed', payout_handle }), 403, 'unauthorized')
  assert.equal((await patch(admin, person.id, { payout_handle: 'as they asked' })).statusCode, 204)
  assert.equal((await t.as(person).get('/v3/user')).json().payout_data.payout_handle, 'as they asked')
  const { role, badges, bio } = await read(person.id)
  assert.deepEqual([role, badges, bio], ['moderator', 129, 'Moderated'])
})

test('a change of role applies immediately to tokens in use', async () => {
  const [person, admin] = await Promise.all([t.make.account(), t.make.account({ role: 'admin' })])
  const lookup = () => t.as(person).get('/v3/user_email', { query: { email: admin.email } })
  assertError(await lookup(), 403, 'unauthorized')
  await patch(admin, person.id, { role: 'admin' })
  assert.equal((await lookup()).statusCode, 200)
  await patch(admin, person.id, { role: 'developer' })
  assertError(await lookup(), 403, 'unauthorized')
})

test('editing needs USER_WRITE, the payout handle PAYOUTS_WRITE as well', async () => {
  const person = await makeMember(t)
  assertError(await t.anyone.patch(`/v3/user/${person.id}`, {}), 401, 'unauthorized')
  const reader = await t.make.pat(person, parseScopeNames('USER_READ').bits)
  assertError(await patch(reader, person.id, { bio: 'Changed' }), 403, 'unauthorized')
  const writer = await t.make.pat(person, parseScopeNames('USER_WRITE').bits)
  const refused = await patch(writer, person.id, { bio: 'Changed', payout_handle: '@me' })
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /PAYOUTS_WRITE/)
  assert.equal((await read(person.id)).bio, null)
  const both = await t.make.pat(person, parseScopeNames('USER_WRITE PAYOUTS_WRITE').bits)
  assert.equal((await patch(both, person.id, { payout_handle: '@me', password: PASSWORD })).statusCode, 204)
  assertError(await patch(person, 'nobody-here', { bio: 'Changed' }), 404, 'not_found')
})
