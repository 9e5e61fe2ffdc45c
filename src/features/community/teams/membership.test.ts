// The life of a membership after its invitation: joining, leaving, removing, editing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { memberOf, names } from '#test/support/factories/team-factories.ts'
import { assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'

const { t, make, membersFor: members } = await teamApp()

type By = { token: string }
const join = (by: By, teamId: string) => t.as(by).post(`/v3/team/${teamId}/join`)
const invite = (by: By, teamId: string, person: Person) =>
  t.as(by).post(`/v3/team/${teamId}/members`, { user_id: person.id })
const remove = (by: By, teamId: string, person: { id: string }) =>
  t.as(by).delete(`/v3/team/${teamId}/members/${person.id}`)
const edit = (by: By, teamId: string, person: { id: string }, body: unknown) =>
  t.as(by).patch(`/v3/team/${teamId}/members/${person.id}`, body)
const unread = async (person: Person): Promise<number> => {
  const rows = await t.deps.db.selectFrom('notification').select('read').where('account_id', '=', person.id).execute()
  return rows.filter(({ read }) => !read).length
}

test('an invited user joins once: they are a member immediately, and the invitation is read', async () => {
  const [owner, guest, stranger] = await t.make.people(3)
  const { id, teamId } = await make.project(owner, { status: 'private' })
  assertError(await t.as(guest).get(`/v3/project/${id}`), 404, 'not_found')
  await invite(owner, teamId, guest)
  await invite(owner, (await make.project(owner)).teamId, guest)
  assert.equal((await t.as(guest).get(`/v3/project/${id}`)).statusCode, 200, 'an invitee sees what they decide on')
  assert.equal(memberOf(await members(guest, teamId), guest).permissions, null)
  assert.equal((await join(guest, teamId)).statusCode, 204)
  assert.equal(memberOf(await members(guest, teamId), guest).permissions, 0)
  assert.equal(await unread(guest), 1, 'the other invitation stays unread')
  assertError(await join(guest, teamId), 400, 'invalid_input')
  assertError(await join(owner, teamId), 400, 'invalid_input')
  assertError(await join(stranger, teamId), 404, 'not_found')
  assertError(await join(stranger, (await make.project(owner)).teamId), 404, 'not_found')
  assertError(await join(stranger, 'zzzzzzzz'), 404, 'not_found')
  assertError(await join(stranger, 'not-an-id'), 400, 'decoding_error', 'id')
  assertError(await t.anyone.post(`/v3/team/${teamId}/join`), 401, 'unauthorized')
})

test('one of several parallel acceptances counts; concurrent acceptance and withdrawal leave no partial membership', async () => {
  const [owner, guest] = await t.make.people(2)
  const { teamId } = await make.organization(owner)
  await invite(owner, teamId, guest)
  assert.deepEqual(statuses(await Promise.all([1, 2, 3].map(() => join(guest, teamId)))), [204, 400, 400])
  for (let round = 0; round < 5; round += 1) {
    const person = await t.make.account()
    await invite(owner, teamId, person)
    const [joined, withdrawn] = await Promise.all([join(person, teamId), remove(owner, teamId, person)])
    // The second request sees the result of the first: a member to remove, or no invitation.
    assert.equal(withdrawn?.statusCode, 204)
    assert.ok([204, 404].includes(joined?.statusCode ?? 0))
    assert.ok(!names(await members(owner, teamId)).includes(person.username))
    assert.equal(await unread(person), 0)
  }
})

test('invitees decline and managers withdraw; either way the invitation is read', async () => {
  const [owner, manager, remover, guest, other, stranger] = (await t.make.people(6)) as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ]
  const { teamId } = await make.project(owner)
  await make.member(teamId, manager, { permissions: 16 })
  await make.member(teamId, remover, { permissions: 32 })
  await invite(owner, teamId, guest)
  await invite(owner, teamId, other)
  assertError(await remove(remover, teamId, guest), 403, 'unauthorized')
  assertError(await remove(stranger, teamId, guest), 404, 'not_found')
  assert.equal((await remove(guest, teamId, guest)).statusCode, 204)
  assert.equal((await remove(manager, teamId, other)).statusCode, 204)
  assert.deepEqual([await unread(guest), await unread(other)], [0, 0])
  assertError(await remove(guest, teamId, guest), 404, 'not_found')
  assertError(await join(guest, teamId), 404, 'not_found')
  assert.equal((await invite(owner, teamId, guest)).statusCode, 204, 'they may be invited again')
})

test('members leave, those with REMOVE_MEMBER remove others, and no one removes the owner', async () => {
  const [owner, manager, remover, member, leaver] = await t.make.people(5)
  const admin = await t.make.account({ role: 'admin' })
  const moderator = await t.make.account({ role: 'moderator' })
  const { id, teamId } = await make.project(owner, { status: 'private' })
  await make.member(teamId, manager, { permissions: 16 })
  await make.member(teamId, remover, { permissions: 32 })
  await make.member(teamId, member)
  await make.member(teamId, leaver)
  assert.equal((await t.as(leaver).get(`/v3/project/${id}`)).statusCode, 200)
  assert.equal((await remove(leaver, teamId, leaver)).statusCode, 204)
  assertError(await t.as(leaver).get(`/v3/project/${id}`), 404, 'not_found')
  assertError(await t.as(leaver).get(`/v3/team/${teamId}/members`), 404, 'not_found')
  assertError(await remove(manager, teamId, member), 403, 'unauthorized')
  assertError(await remove(moderator, teamId, member), 403, 'unauthorized')
  assert.ok(names(await members(owner, teamId)).includes(member.username))
  assert.equal((await remove(remover, teamId, member)).statusCode, 204)
  assert.deepEqual(
    names(await members(owner, teamId)),
    [owner, manager, remover].map(({ username }) => username),
  )
  for (const by of [owner, remover, admin])
    assertError(await remove(by, teamId, owner), 400, 'invalid_input', 'user_id')
  assertError(await remove(manager, teamId, owner), 403, 'unauthorized')
  assert.equal((await remove(admin, teamId, remover)).statusCode, 204)
  assertError(await remove(owner, teamId, { id: 'zzzzzzzz' }), 404, 'not_found')
  assertError(await remove(owner, teamId, { id: 'not-an-id' }), 400, 'decoding_error', 'user_id')
  assertError(await remove(owner, 'zzzzzzzz', owner), 404, 'not_found')
})

test('only a member with the inherited permissions can remove a row that limits them', async () => {
  const [head, limited, remover, plain] = await t.make.people(4)
  const admin = await t.make.account({ role: 'admin' })
  const organization = await make.organization(head)
  const project = await make.project(undefined, { organization_id: organization.id })
  for (const member of [limited, plain]) await make.member(organization.teamId, member, { permissions: 4 + 8 })
  await make.member(project.teamId, limited, { permissions: 8 })
  await make.member(project.teamId, remover, { permissions: 32 })
  for (const by of [limited, remover]) assertError(await remove(by, project.teamId, limited), 403, 'unauthorized')
  const rename = () => t.as(limited).patch(`/v3/project/${project.id}`, { name: 'Lanterns' })
  assertError(await rename(), 403, 'unauthorized')
  await t.deps.db
    .updateTable('team_member')
    .set({ permissions: 32 + 4 })
    .where('account_id', '=', remover.id)
    .execute()
  assert.equal((await remove(remover, project.teamId, limited)).statusCode, 204)
  assert.equal((await rename()).statusCode, 204)
  await make.member(project.teamId, limited)
  assert.equal((await remove(admin, project.teamId, limited)).statusCode, 204)
  // They may leave one that limits nothing.
  await make.member(project.teamId, plain, { permissions: 4 + 8 + 1 })
  assert.equal((await remove(plain, project.teamId, plain)).statusCode, 204)
})

test('users who leave an organization keep their own memberships in its project teams', async () => {
  const [head, member] = await t.make.people(2)
  const organization = await make.organization(head)
  const project = await make.project(undefined, { organization_id: organization.id })
  await make.member(organization.teamId, member, { organization_permissions: 4 })
  await make.member(project.teamId, member, { permissions: 1 })
  assertError(await remove(member, organization.teamId, head), 400, 'invalid_input', 'user_id')
  assert.equal((await remove(member, organization.teamId, member)).statusCode, 204)
  assert.deepEqual(names(await members(head, project.teamId)), [member.username])
})

test('EDIT_MEMBER changes each field, also of pending members; absent or null fields are unchanged', async () => {
  const [owner, editor, member, guest] = await t.make.people(4)
  const { teamId } = await make.project(owner)
  await make.member(teamId, editor, { permissions: 64 | 1 })
  await make.member(teamId, member)
  await invite(owner, teamId, guest)
  const change = { role: 'Artist', permissions: 1, payouts_split: 250.5, ordering: 3 }
  assert.equal((await edit(editor, teamId, member, change)).statusCode, 204)
  const { role, permissions, payouts_split, ordering } = memberOf(await members(owner, teamId), member)
  assert.deepEqual({ role, permissions, payouts_split, ordering }, change)
  assert.equal((await edit(editor, teamId, member, { role: null, permissions: null, ordering: 4 })).statusCode, 204)
  assert.deepEqual(memberOf(await members(owner, teamId), member).role, 'Artist')
  assert.equal((await edit(owner, teamId, guest, { role: 'Guest' })).statusCode, 204)
  assert.deepEqual(memberOf(await members(owner, teamId), guest).role, 'Guest')
  assert.equal((await edit(owner, teamId, owner, { role: 'Founder', payouts_split: 5000 })).statusCode, 204)
  assert.equal((await edit(editor, teamId, member, {})).statusCode, 204)
  assertError(await edit(member, teamId, member, {}), 403, 'unauthorized')
})

test("no one can grant permissions that they do not have or change the owner's; equal values are not a change", async () => {
  const [owner, editor, member, guest, stranger] = await t.make.people(5)
  const admin = await t.make.account({ role: 'admin' })
  const { teamId } = await make.project(owner)
  await make.member(teamId, editor, { permissions: 64 | 1 })
  await make.member(teamId, member, { permissions: 128 })
  await invite(owner, teamId, guest)
  assertError(await edit(editor, teamId, member, { permissions: 2 }), 400, 'validation_error', 'permissions')
  assertError(await edit(editor, teamId, editor, { permissions: 1023 }), 400, 'validation_error', 'permissions')
  assert.equal((await edit(editor, teamId, member, { permissions: 128, role: 'Kept' })).statusCode, 204)
  for (const by of [owner, editor, admin])
    assertError(await edit(by, teamId, owner, { permissions: 1 }), 400, 'validation_error', 'permissions')
  assertError(
    await edit(owner, teamId, member, { organization_permissions: 1 }),
    400,
    'validation_error',
    'organization_permissions',
  )
  assertError(await edit(member, teamId, owner, { role: 'x' }), 403, 'unauthorized')
  assertError(await edit(stranger, teamId, owner, { role: 'x' }), 403, 'unauthorized')
  assertError(await edit(stranger, teamId, guest, { role: 'x' }), 404, 'not_found')
  assertError(await edit(owner, teamId, stranger, { role: 'x' }), 404, 'not_found')
  assert.equal((await edit(editor, teamId, editor, { permissions: 1 })).statusCode, 204)
  assertError(await edit(editor, teamId, member, { role: 'x' }), 403, 'unauthorized')
})

test('only the owner can raise their own share of revenue, and only they change it', async () => {
  const [owner, editor, member] = await t.make.people(3)
  const { teamId } = await make.project(owner)
  await make.member(teamId, editor, { permissions: 64 | 16 })
  await make.member(teamId, member)
  const share = (by: By, person: Person, payouts_split: number) => edit(by, teamId, person, { payouts_split })
  assertError(await share(editor, editor, 1), 403, 'unauthorized')
  assert.equal((await share(owner, editor, 500)).statusCode, 204)
  assertError(await share(editor, editor, 500.01), 403, 'unauthorized')
  assertError(await share(editor, owner, 0), 403, 'unauthorized')
  const same = { role: 'Editor', payouts_split: 500 }
  assert.equal((await edit(editor, teamId, editor, same)).statusCode, 204, 'an equal value is not a change')
  assert.equal((await share(editor, member, 700)).statusCode, 204)
  assert.equal((await share(editor, editor, 400)).statusCode, 204, 'their own share can fall')
  assertError(await share(editor, editor, 500), 403, 'unauthorized')
  assert.equal((await share(owner, owner, 5000)).statusCode, 204)
  const rows = await members(owner, teamId)
  const shares = [owner, editor, member].map((person) => memberOf(rows, person).payouts_split)
  assert.deepEqual(shares, [5000, 400, 700])
})

test("an organization's member cannot give themselves a share of its projects", async () => {
  const [head, manager] = await t.make.people(2)
  const organization = await make.organization(head)
  const { teamId } = await make.project(undefined, { organization_id: organization.id })
  await make.member(organization.teamId, manager, { permissions: 64 | 16, organization_permissions: 8 })
  const own = { user_id: manager.id, permissions: 64 | 16 }
  const add = (by: By, payouts_split: number) => t.as(by).post(`/v3/team/${teamId}/members`, { ...own, payouts_split })
  assertError(await add(manager, 5000), 403, 'unauthorized')
  assertError(await edit(manager, organization.teamId, manager, { payouts_split: 5000 }), 403, 'unauthorized')
  assert.equal((await add(manager, 0)).statusCode, 204)
  assertError(await edit(manager, teamId, manager, { payouts_split: 1 }), 403, 'unauthorized')
  assert.equal((await edit(head, teamId, manager, { payouts_split: 5000 })).statusCode, 204)
})

test('in an organization: own bits, default permissions with bit 128, and the owner of everything', async () => {
  const [head, editor, giver, member] = await t.make.people(4)
  const { id, teamId } = await make.organization(head)
  const project = await make.project(undefined, { organization_id: id })
  await make.member(teamId, editor, { permissions: 1023, organization_permissions: 8 | 1 })
  await make.member(teamId, giver, { permissions: 5, organization_permissions: 8 | 128 })
  await make.member(teamId, member, { organization_permissions: 0 })
  assert.equal((await edit(editor, teamId, member, { organization_permissions: 9 })).statusCode, 204)
  assertError(
    await edit(editor, teamId, member, { organization_permissions: 2 }),
    400,
    'validation_error',
    'organization_permissions',
  )
  assertError(await edit(editor, teamId, member, { permissions: 1 }), 403, 'unauthorized')
  assertError(await edit(giver, teamId, member, { permissions: 2 }), 400, 'validation_error', 'permissions')
  assert.equal((await edit(giver, teamId, member, { permissions: 4 })).statusCode, 204)
  const { permissions, organization_permissions } = memberOf(await members(head, teamId), member)
  assert.deepEqual([permissions, organization_permissions], [4, 9])
  await make.member(project.teamId, head, { permissions: 1023 })
  await make.member(project.teamId, giver, { permissions: 64 })
  assertError(await edit(giver, project.teamId, head, { permissions: 0 }), 400, 'validation_error', 'permissions')
  assert.equal((await edit(giver, project.teamId, head, { role: 'Adviser' })).statusCode, 204)
})

test('the limits of each field hold for edits too', async () => {
  const [owner, member] = await t.make.people(2)
  const { teamId } = await make.organization(owner)
  await make.member(teamId, member, { organization_permissions: 0 })
  const send = (body: Record<string, unknown>) => edit(owner, teamId, member, body)
  await assertRefusedValues(send, {}, 'role', [7, 'x'.repeat(256)])
  await assertRefusedValues(send, {}, 'permissions', [-1, 1024, 1.5, '1'])
  await assertRefusedValues(send, {}, 'organization_permissions', [-1, 256, '1'])
  await assertRefusedValues(send, {}, 'payouts_split', [-1, 5001, '1'])
  await assertRefusedValues(send, {}, 'ordering', [2 ** 31, 0.5])
  const { role, permissions } = memberOf(await members(owner, teamId), member)
  assert.deepEqual([role, permissions], ['Member', 0])
})
