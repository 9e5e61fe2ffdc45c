import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import type { Client } from '#test/support/app/test-app.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()

type Listed = { id: string }
async function list<Item = Listed>(client: Client, path: string): Promise<Item[]> {
  const answer = await client.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const ids = (items: readonly Listed[]): string[] => items.map(({ id }) => id)
const same = (actual: readonly string[], expected: readonly string[]) =>
  assert.deepEqual(actual.toSorted(), expected.toSorted())

test("others find a user's approved and archived projects; the user, fellow members and moderators find all of them", async () => {
  const [person, mate, stranger, moderator] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
  ])
  const statuses = ['approved', 'archived', 'unlisted', 'withheld', 'draft', 'private', 'processing', 'rejected']
  const projects = new Map<string, string>()
  for (const status of statuses) projects.set(status, (await make.project(person, { status })).id)
  const draft = await make.project(person, { status: 'draft' })
  await make.member(draft.teamId, mate)
  const invited = await make.project(stranger)
  await make.member(invited.teamId, person, { accepted: false })
  const organization = await make.organization(person)
  await make.project(undefined, { organization_id: organization.id })

  const open = [projects.get('approved') ?? '', projects.get('archived') ?? '']
  const path = `/v3/user/${person.username}/projects`
  const unread = await t.make.pat(person, parseScopeNames('USER_READ').bits)
  for (const client of [t.anyone, t.as(stranger), t.as(unread)]) same(ids(await list(client, path)), open)
  same(ids(await list(t.as(mate), path)), [...open, draft.id])
  for (const who of [person, moderator]) same(ids(await list(t.as(who), path)), [...projects.values(), draft.id])
  assertError(await t.anyone.get('/v3/user/nobody-here/projects'), 404, 'not_found')
})

test('the list of projects costs as many queries for fifty as for two', async () => {
  const person = await t.make.account()
  const path = `/v3/user/${person.id}/projects`
  await list(t.as(person), path)
  await make.project(person)
  await make.project(person, { status: 'draft' })
  const few = await t.queriesOf(() => list(t.as(person), path))
  for (let i = 0; i < 48; i += 1) await make.project(person, { status: i % 2 === 0 ? 'draft' : 'approved' })
  const many = await t.queriesOf(() => list(t.as(person), path))
  assert.deepEqual([few.result.length, many.result.length], [2, 50])
  assert.equal(many.queries.length, few.queries.length)
  assert.ok(many.queries.length <= 3)
})

test("a user's organizations come with the members that the viewer sees", async () => {
  const [head, member, invitee, stranger] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account(),
    t.make.account(),
  ])
  const organization = await make.organization(head)
  await make.member(organization.teamId, member, { permissions: 3, organization_permissions: 1 })
  await make.member(organization.teamId, invitee, { accepted: false })
  const path = `/v3/user/${member.username}/organizations`
  type Organization = { id: string; members: { user: Listed; permissions: number | null }[] }
  const seen = async (client: Client) => {
    const [first, ...rest] = await list<Organization>(client, path)
    assert.deepEqual([first?.id, rest], [organization.id, []])
    const own = first?.members.find(({ user }) => user.id === member.id)
    return [first?.members.length, own?.permissions]
  }
  for (const client of [t.anyone, t.as(stranger)]) assert.deepEqual(await seen(client), [2, null])
  assert.deepEqual(await seen(t.as(head)), [3, 3])
  assert.deepEqual(await seen(t.as(await t.make.pat(head, parseScopeNames('ORGANIZATION_READ').bits))), [3, 3])
  assert.deepEqual(await seen(t.as(await t.make.pat(head, parseScopeNames('PROJECT_READ').bits))), [2, null])
  assert.deepEqual(await list(t.anyone, `/v3/user/${invitee.id}/organizations`), [])
  assertError(await t.anyone.get('/v3/user/nobody-here/organizations'), 404, 'not_found')
})

test('all projects of a user are their own and those of their organizations, each once', async () => {
  const [person, stranger] = await Promise.all([t.make.account(), t.make.account()])
  const own = await make.project(person)
  const organization = await make.organization(person)
  const shared = await make.project(person, { organization_id: organization.id })
  const theirs = await make.project(undefined, { organization_id: organization.id })
  const hidden = await make.project(undefined, { organization_id: organization.id, status: 'draft' })
  const path = `/v3/user/${person.id}/all-projects`
  const read = async (client: Client) => (await client.get(path)).json()
  const open = await read(t.as(stranger))
  same(ids(open.projects), [own.id, shared.id, theirs.id])
  assert.deepEqual(Object.keys(open.organizations), [organization.id])
  assert.equal(open.organizations[organization.id].members[0].permissions, null)
  const full = await read(t.as(person))
  same(ids(full.projects), [own.id, shared.id, theirs.id, hidden.id])
  assert.equal(full.organizations[organization.id].members[0].permissions, 1023)
  assert.deepEqual(await (await t.anyone.get(`/v3/user/${stranger.id}/all-projects`)).json(), {
    projects: [],
    organizations: {},
  })
  assertError(await t.anyone.get('/v3/user/nobody-here/all-projects'), 404, 'not_found')
})

test('a search finds names by their beginning, the exact one first, and takes no character for a pattern', async () => {
  for (const username of ['Zebra', 'zebra2', 'Zebra.crossing', 'zebr', 'zebra_a', 'zebraXa'])
    await t.make.account({ username })
  const found = async (query: string) =>
    (await list<{ username: string }>(t.anyone, `/v3/users/search?query=${encodeURIComponent(query)}`)).map(
      ({ username }) => username,
    )
  assert.deepEqual(await found(' ZEBRA '), ['Zebra', 'Zebra.crossing', 'zebra2', 'zebra_a', 'zebraXa'])
  assert.deepEqual(await found('zebra_'), ['zebra_a'])
  assert.deepEqual(await found('%'), [])
  assert.deepEqual(await found('zebra\\'), [])
  assert.deepEqual(await found(''), [])
  assert.deepEqual(await found('  '), [])
  assert.deepEqual(await found('ebra'), [])
  const [hit] = await list(t.anyone, '/v3/users/search?query=zebra2')
  assert.deepEqual(Object.keys(hit ?? {}).sort(), ['avatar_url', 'id', 'username'])
  for (let i = 0; i < 30; i += 1) await t.make.account({ username: `yak-${String(i).padStart(2, '0')}` })
  assert.equal((await found('yak')).length, 25)
  assertError(await t.anyone.get('/v3/users/search'), 400, 'invalid_input', 'query')
  assertError(await t.anyone.get(`/v3/users/search?query=${'y'.repeat(257)}`), 400, 'invalid_input', 'query')
})

test('admins find users by address, case aside; no secret is in the answer', async () => {
  const [person, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  const secrets = { password_hash: 'planted-hash', totp_secret: 'planted-totp' }
  await t.deps.db.updateTable('account').set(secrets).where('id', '=', person.id).execute()
  const path = `/v3/user_email?email=${encodeURIComponent(person.email.toUpperCase())}`
  const answer = await t.as(admin).get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  const user = answer.json()
  assert.deepEqual([user.id, user.email, user.has_password, user.has_totp], [person.id, person.email, true, true])
  assert.doesNotMatch(answer.body, /planted|hash|secret/)
  const token = await t.make.pat(admin, parseScopeNames('USER_READ_EMAIL').bits)
  assert.equal((await t.as(token).get(path)).statusCode, 200)
  assertError(await t.as(await t.make.pat(admin, parseScopeNames('USER_READ').bits)).get(path), 403, 'unauthorized')
  for (const who of [person, moderator]) assertError(await t.as(who).get(path), 403, 'unauthorized')
  assertError(await t.anyone.get(path), 401, 'unauthorized')
  assertError(await t.as(admin).get('/v3/user_email?email=nobody@example.org'), 404, 'not_found')
  assertError(await t.as(admin).get('/v3/user_email'), 400, 'invalid_input', 'email')
})
