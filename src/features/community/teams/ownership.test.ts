import assert from 'node:assert/strict'
import { test } from 'node:test'
import { teamApp } from '#test/support/factories/team-app.ts'
import { memberOf, names } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'

const { t, make, membersFor: members } = await teamApp()

type By = { token: string }
const transfer = (by: By, teamId: string, person: { id: string }) =>
  t.as(by).patch(`/v3/team/${teamId}/owner`, { user_id: person.id })
const owners = async (viewer: By, teamId: string): Promise<string[]> =>
  names((await members(viewer, teamId)).filter((member) => member.is_owner))

test('the new owner gets every permission and a notification; the previous owner stays a member with their permissions', async () => {
  const [owner, heir] = await t.make.people(2)
  const { id, teamId } = await make.project(owner)
  await make.member(teamId, heir, { permissions: 1, role: 'Artist' })
  await members(owner, teamId)
  const answer = await transfer(owner, teamId, heir)
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  const now = await members(owner, teamId)
  const { is_owner, role, permissions } = memberOf(now, heir)
  assert.deepEqual({ is_owner, role, permissions }, { is_owner: true, role: 'Owner', permissions: 1023 })
  const former = memberOf(now, owner)
  assert.deepEqual([former.is_owner, former.role, former.permissions], [false, 'Member', 1023])
  const rows = await t.deps.db.selectFrom('notification').select('body').where('account_id', '=', heir.id).execute()
  const body = {
    type: 'project_transferred',
    project_id: id,
    new_owner_user_id: heir.id,
    new_owner_organization_id: null,
  }
  assert.deepEqual(rows, [{ body }])
  assertError(await transfer(owner, teamId, owner), 403, 'unauthorized')
  assert.equal((await t.as(heir).delete(`/v3/team/${teamId}/members/${owner.id}`)).statusCode, 204)
})

test("an organization's new owner holds its bits too and loses the rows that narrow them in its projects", async () => {
  const [head, heir, bystander] = await t.make.people(3)
  const organization = await make.organization(head)
  const [inside, outside] = [
    await make.project(undefined, { organization_id: organization.id }),
    await make.project(bystander),
  ]
  await make.member(organization.teamId, heir, { organization_permissions: 0 })
  await make.member(organization.teamId, bystander)
  for (const { teamId } of [inside, outside]) await make.member(teamId, heir, { permissions: 1 })
  await make.member(inside.teamId, bystander, { permissions: 1 })
  await members(head, inside.teamId)
  assert.equal((await transfer(head, organization.teamId, heir)).statusCode, 204)
  const { is_owner, role, permissions, organization_permissions } = memberOf(
    await members(head, organization.teamId),
    heir,
  )
  assert.deepEqual([is_owner, role, permissions, organization_permissions], [true, 'Owner', 1023, 255])
  assert.deepEqual(names(await members(head, inside.teamId)), [bystander.username])
  assert.ok(names(await members(heir, outside.teamId)).includes(heir.username))
  const rows = await t.deps.db.selectFrom('notification').select('id').where('account_id', '=', heir.id).execute()
  assert.deepEqual(rows, [], 'only projects are announced')
})

test('only the owner and admins transfer, and only to an accepted member', async () => {
  const [owner, member, invitee, stranger] = await t.make.people(4)
  const admin = await t.make.account({ role: 'admin' })
  const moderator = await t.make.account({ role: 'moderator' })
  const { teamId } = await make.project(owner)
  await make.member(teamId, member, { permissions: 1023 })
  await make.member(teamId, invitee, { accepted: false })
  for (const by of [member, invitee, stranger, moderator])
    assertError(await transfer(by, teamId, member), 403, 'unauthorized')
  assertError(await t.anyone.patch(`/v3/team/${teamId}/owner`, { user_id: member.id }), 401, 'unauthorized')
  for (const target of [invitee, stranger, owner, { id: 'zzzzzzzz' }])
    assertError(await transfer(owner, teamId, target), 400, 'validation_error', 'user_id')
  const send = (body: Record<string, unknown>) => t.as(owner).patch(`/v3/team/${teamId}/owner`, body)
  await assertRefusedValues(send, { user_id: member.id }, 'user_id', [ABSENT, null, 5, '', 'not-an-id'])
  assertError(await transfer(owner, 'zzzzzzzz', member), 404, 'not_found')
  assertError(await transfer(owner, 'not-an-id', member), 400, 'decoding_error', 'id')
  const hidden = await make.project(owner, { status: 'draft' })
  assertError(await transfer(stranger, hidden.teamId, member), 404, 'not_found')
  assert.deepEqual(await owners(owner, teamId), [owner.username])
  assert.equal((await transfer(admin, teamId, member)).statusCode, 204)
  assert.deepEqual(await owners(owner, teamId), [member.username])
})

test('the team of a project that an organization owns has no owner to transfer', async () => {
  const [head, member] = await t.make.people(2)
  const admin = await t.make.account({ role: 'admin' })
  const { id, teamId: organizationTeam } = await make.organization(head)
  const { teamId } = await make.project(undefined, { organization_id: id })
  await make.member(organizationTeam, member)
  await make.member(teamId, member, { permissions: 1023 })
  assertError(await transfer(head, teamId, member), 400, 'invalid_input')
  assertError(await transfer(admin, teamId, member), 400, 'invalid_input')
  assertError(await transfer(member, teamId, member), 403, 'unauthorized')
})

test('of parallel transfers one counts, and the team has one owner', async () => {
  const [owner, ...heirs] = await t.make.people(4)
  const { teamId } = await make.project(owner)
  for (const heir of heirs) await make.member(teamId, heir)
  const answers = await Promise.all(heirs.map((heir) => transfer(owner, teamId, heir)))
  assert.deepEqual(statuses(answers), [204, 403, 403])
  const winner = heirs[answers.findIndex(({ statusCode }) => statusCode === 204)]
  assert.deepEqual(await owners(owner, teamId), [winner?.username])
})

test('a transfer that is concurrent with the departure of either side leaves a team with one owner', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [owner, heir] = await t.make.people(2)
    const { teamId } = await make.project(owner)
    await make.member(teamId, heir)
    const leaver = round % 2 === 0 ? owner : heir
    const [moved, left] = await Promise.all([
      transfer(owner, teamId, heir),
      t.as(leaver).delete(`/v3/team/${teamId}/members/${leaver.id}`),
    ])
    if (moved === undefined || left === undefined) throw new Error('unreachable: two requests have two answers')
    // The owner cannot leave and an heir who is the owner cannot either, whichever request came first.
    if (leaver === heir) assert.deepEqual(statuses([moved, left]), [204, 400])
    else assert.equal(moved.statusCode, 204)
    assert.equal((await owners(owner, teamId)).length, 1)
  }
  const [owner] = await t.make.people(1)
  const { teamId } = await make.project(owner)
  const removals = [1, 2, 3].map(() => t.as(owner).delete(`/v3/team/${teamId}/members/${owner.id}`))
  assert.deepEqual(statuses(await Promise.all(removals)), [400, 400, 400])
  assert.deepEqual(await owners(owner, teamId), [owner.username])
})
