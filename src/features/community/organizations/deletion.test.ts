import assert from 'node:assert/strict'
import { test } from 'node:test'
import { teamApp } from '#test/support/factories/team-app.ts'
import { memberOf, names } from '#test/support/factories/team-factories.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'

const { t, make, membersFor: team } = await teamApp()

type By = { token: string }
const remove = (by: By, id: string) => t.as(by).delete(`/v3/organization/${id}`)

test('its projects go to its owner, its other members leave their teams, and it disappears everywhere immediately', async () => {
  const [head, member, helper, invitee] = await t.make.people(4)
  const organization = await make.organization(head)
  await make.member(organization.teamId, member, { organization_permissions: 64 })
  await t.as(head).post(`/v3/team/${organization.teamId}/members`, { user_id: invitee.id })
  const fields = { organization_id: organization.id, status: 'private' }
  const [first, second] = [await make.project(undefined, fields), await make.project(undefined, fields)]
  const version = await make.version(first.id, member)
  await make.member(first.teamId, member, { permissions: 1 })
  await make.member(first.teamId, helper, { permissions: 4 })
  await make.member(second.teamId, head, { permissions: 1023, role: 'Adviser', payouts_split: 9 })
  const own = await make.project(member)
  for (const path of [`/v3/version/${version}`, `/v3/project/${second.id}`, `/v3/organization/${organization.slug}`])
    assert.equal((await t.as(member).get(path)).statusCode, 200)

  const answer = await remove(member, organization.slug)
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])

  assertError(await t.anyone.get(`/v3/organization/${organization.id}`), 404, 'not_found')
  assertError(await t.anyone.get(`/v3/organization/${organization.slug}`), 404, 'not_found')
  assertError(await t.as(head).get(`/v3/team/${organization.teamId}/members`), 404, 'not_found')
  assertError(await t.as(invitee).post(`/v3/team/${organization.teamId}/join`), 404, 'not_found')
  for (const path of [`/v3/version/${version}`, `/v3/project/${second.id}`]) {
    assertError(await t.as(member).get(path), 404, 'not_found')
    assert.equal((await t.as(head).get(path)).statusCode, 200)
  }
  assert.equal((await t.as(head).get(`/v3/project/${first.id}`)).json().organization_id, null)
  const rows = await team(head, first.teamId)
  assert.deepEqual(names(rows).sort(), [head.username, helper.username].sort())
  const heads = [memberOf(rows, head), memberOf(await team(head, second.teamId), head)]
  assert.deepEqual(
    heads.map(({ role, is_owner, permissions, payouts_split }) => [role, is_owner, permissions, payouts_split]),
    [
      ['Inherited Owner', true, 1023, 0],
      ['Inherited Owner', true, 1023, 9],
    ],
  )
  assert.equal((await team(member, own.teamId)).length, 1, 'teams of other projects stay')
  const unread = await t.deps.db
    .selectFrom('notification')
    .select('id')
    .where('account_id', '=', invitee.id)
    .where('read', '=', false)
    .execute()
  assert.deepEqual(unread, [], 'an invitation to nothing is read')
  const again = await t
    .as(head)
    .post('/v3/organization', { slug: organization.slug, name: 'Again', description: 'The slug is free' })
  assert.equal(again.statusCode, 201)
})

test('deleting takes DELETE_ORGANIZATION; admins have it, moderators do not', async () => {
  const [head, member, invitee, stranger] = await t.make.people(4)
  const admin = await t.make.account({ role: 'admin' })
  const moderator = await t.make.account({ role: 'moderator' })
  const { id, teamId } = await make.organization(head)
  await make.member(teamId, member, { organization_permissions: 255 - 64 })
  await make.member(teamId, invitee, { organization_permissions: 255, accepted: false })
  for (const by of [member, invitee, stranger, moderator]) assertError(await remove(by, id), 403, 'unauthorized')
  assertError(await t.anyone.delete(`/v3/organization/${id}`), 401, 'unauthorized')
  assertError(await remove(head, 'no-such-one'), 404, 'not_found')
  assert.equal((await remove(admin, id)).statusCode, 204)
})

test('of parallel deletions one counts', async () => {
  const [head] = await t.make.people(1)
  const { id } = await make.organization(head)
  const project = await make.project(undefined, { organization_id: id })
  assert.deepEqual(statuses(await Promise.all([1, 2, 3].map(() => remove(head, id)))), [204, 404, 404])
  assert.deepEqual(names(await team(head, project.teamId)), [head.username])
})

test('a deletion at the same time as anything else leaves each project with one owner or an organization', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [head, member] = await t.make.people(2)
    const { id, teamId } = await make.organization(head)
    await make.member(teamId, member, { organization_permissions: 255 })
    const own = await make.project(member)
    const leaving = await make.project(undefined, { organization_id: id })
    const staying = await make.project(undefined, { organization_id: id })
    const answers = await Promise.all([
      t.as(member).post(`/v3/organization/${id}/projects`, { project_id: own.id }),
      t.as(member).delete(`/v3/organization/${id}/projects/${leaving.id}`, { new_owner: member.id }),
      t.as(head).post(`/v3/team/${staying.teamId}/members`, { user_id: member.id }),
      t.as(head).patch(`/v3/team/${teamId}/owner`, { user_id: member.id }),
      remove(head, id),
    ])
    for (const { statusCode, body } of answers) assert.ok(statusCode < 500, body)
    for (const project of [own, leaving, staying]) {
      const { organization_id } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
      const owners = (await team(head, project.teamId)).filter(({ is_owner }) => is_owner)
      assert.equal(organization_id === null ? owners.length : owners.length + 1, 1)
    }
  }
})

test('an organization of many projects is deleted with a constant number of statements', async () => {
  const counts: number[] = []
  for (const size of [2, 50]) {
    const [head, member] = await t.make.people(2)
    const { id, teamId } = await make.organization(head)
    await make.member(teamId, member)
    for (let index = 0; index < size; index += 1) {
      const project = await make.project(undefined, { organization_id: id })
      await make.member(project.teamId, member)
    }
    await t.as(head).get('/v3/limits/projects')
    const { result, queries } = await t.queriesOf(() => remove(head, id))
    assert.equal(result.statusCode, 204)
    counts.push(queries.length)
  }
  assert.equal(counts[0], counts[1])
})
