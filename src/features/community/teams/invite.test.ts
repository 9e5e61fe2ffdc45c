import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensurePlaceholder, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type MemberView, memberOf, scopeBits } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'
import { TEAM_SIZE_MAX } from './invite-member.ts'

const { t, make, membersFor } = await teamApp()

const invite = (by: { token: string }, teamId: string, body: unknown) =>
  t.as(by).post(`/v3/team/${teamId}/members`, body)
const seenBy = async (viewer: { token: string }, teamId: string, person: Person): Promise<MemberView> =>
  memberOf(await membersFor(viewer, teamId), person)
const notificationsOf = (person: Person) =>
  t.deps.db.selectFrom('notification').select(['body', 'read']).where('account_id', '=', person.id).execute()

test('an invitation is a pending row with its defaults, and a notification', async () => {
  const [owner, guest] = await t.make.people(2)
  const project = await make.project(owner)
  await t.as(owner).get(`/v3/team/${project.teamId}/members`)
  const answer = await invite(owner, project.teamId, { user_id: guest.id })
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  const { user: _, revision: __, ...row } = await seenBy(owner, project.teamId, guest)
  assert.deepEqual(row, {
    team_id: project.teamId,
    role: 'Member',
    is_owner: false,
    permissions: 0,
    organization_permissions: null,
    accepted: false,
    payouts_split: 0,
    ordering: 0,
  })
  const body = {
    type: 'team_invite',
    project_id: project.id,
    team_id: project.teamId,
    invited_by: owner.id,
    role: 'Member',
  }
  assert.deepEqual(await notificationsOf(guest), [{ body, read: false }])
})

test('stores every field of an invitation; in an organization too', async () => {
  const [owner, guest] = await t.make.people(2)
  const { id, teamId } = await make.organization(owner)
  for (const role of ['Owner', 'Inherited Owner', ' owner ', 'Ｏｗｎｅｒ'])
    assertError(await invite(owner, teamId, { user_id: guest.id, role }), 400, 'validation_error', 'role')
  const given = { role: 'Artist', permissions: 5, organization_permissions: 3, payouts_split: 0.25, ordering: -7 }
  assert.equal((await invite(owner, teamId, { user_id: guest.id, ...given })).statusCode, 204)
  const { user: _, revision: __, ...row } = await seenBy(owner, teamId, guest)
  assert.deepEqual(row, { team_id: teamId, is_owner: false, accepted: false, ...given })
  const body = {
    type: 'organization_invite',
    organization_id: id,
    team_id: teamId,
    invited_by: owner.id,
    role: 'Artist',
  }
  assert.deepEqual(await notificationsOf(guest), [{ body, read: false }])
  const [second] = await t.make.people(1)
  const nulls = { role: null, permissions: null, organization_permissions: null, payouts_split: null, ordering: null }
  assert.equal((await invite(owner, teamId, { user_id: second.id, ...nulls })).statusCode, 204)
  assert.equal((await seenBy(owner, teamId, second)).organization_permissions, 0)
})

test('each field has its limits, and bits that do not exist are rejected', async () => {
  const [owner, guest] = await t.make.people(2)
  const { teamId } = await make.organization(owner)
  const valid = { user_id: guest.id }
  const send = (body: Record<string, unknown>) => invite(owner, teamId, body)
  await assertRefusedValues(send, valid, 'user_id', [ABSENT, null, 7, '', 'not-an-id', '123456789012', 'zzzzzzzz'])
  await assertRefusedValues(send, valid, 'role', [7, 'x'.repeat(256), '\ud800'])
  await assertRefusedValues(send, valid, 'permissions', [-1, 1024, 1.5, '1', 2 ** 40, true])
  await assertRefusedValues(send, valid, 'organization_permissions', [-1, 256, 1.5, '1'])
  await assertRefusedValues(send, valid, 'payouts_split', [-0.01, 5000.01, '5'])
  await assertRefusedValues(send, valid, 'ordering', [2 ** 31, -(2 ** 31) - 1, 0.5, '1'])
  assert.equal((await t.as(owner).post(`/v3/team/${teamId}/members`)).statusCode, 400)
  assertError(await invite(owner, teamId, [valid]), 400, 'validation_error', 'body')
  const atBounds = [
    {
      role: '🏮'.repeat(255),
      permissions: 1023,
      organization_permissions: 255,
      payouts_split: 5000,
      ordering: 2 ** 31 - 1,
    },
    { role: '', permissions: 0, organization_permissions: 0, payouts_split: 0, ordering: -(2 ** 31) },
  ]
  for (const fields of atBounds) {
    const person = await t.make.account()
    assert.equal((await invite(owner, teamId, { user_id: person.id, ...fields })).statusCode, 204)
    const { role, ordering } = await seenBy(owner, teamId, person)
    assert.deepEqual([role, ordering], [fields.role, fields.ordering])
  }
})

test('members and invitees cannot be invited again', async () => {
  const [owner, guest] = await t.make.people(2)
  const { teamId } = await make.project(owner)
  assertError(await invite(owner, teamId, { user_id: owner.id }), 400, 'validation_error', 'user_id')
  await invite(owner, teamId, { user_id: guest.id })
  assertError(await invite(owner, teamId, { user_id: guest.id }), 400, 'validation_error', 'user_id')
  assert.equal((await notificationsOf(guest)).length, 1)
})

test('the account that stands for deleted ones is invited to nothing and notified of nothing', async () => {
  const [owner] = await t.make.people(1)
  const { id, teamId } = await make.project(owner)
  await ensurePlaceholder(t.deps.db)
  assertError(await invite(owner, teamId, { user_id: PLACEHOLDER_ID }), 400, 'validation_error', 'user_id')
  await transaction(t.deps, (tx, changed) =>
    insertNotifications(tx, changed, [PLACEHOLDER_ID], { type: 'project_status_approved', project_id: id }),
  )
  const notified = await t.deps.db
    .selectFrom('notification')
    .select('id')
    .where('account_id', '=', PLACEHOLDER_ID)
    .execute()
  assert.deepEqual(notified, [])
})

test('of parallel invitations of one person a single one counts', async () => {
  const [owner, manager, guest] = await t.make.people(3)
  const { teamId } = await make.project(owner)
  await make.member(teamId, manager, { permissions: 16 })
  const answers = await Promise.all(
    [owner, manager, owner, manager].map((by) => invite(by, teamId, { user_id: guest.id })),
  )
  assert.deepEqual(statuses(answers), [204, 400, 400, 400])
  for (const answer of answers.filter(({ statusCode }) => statusCode === 400))
    assertError(answer, 400, 'validation_error', 'user_id')
  assert.equal((await notificationsOf(guest)).length, 1)
})

test('only members with MANAGE_INVITES can invite, and only with permissions that they have', async () => {
  const [owner, manager, uploader, invitee, stranger, guest] = (await t.make.people(6)) as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ]
  const moderator = await t.make.account({ role: 'moderator' })
  const admin = await t.make.account({ role: 'admin' })
  const { teamId } = await make.project(owner)
  await make.member(teamId, manager, { permissions: 16 | 4 })
  await make.member(teamId, uploader, { permissions: 1023 - 16 })
  await make.member(teamId, invitee, { permissions: 1023, accepted: false })
  for (const by of [uploader, invitee, stranger, moderator])
    assertError(await invite(by, teamId, { user_id: guest.id }), 403, 'unauthorized')
  assertError(await t.anyone.post(`/v3/team/${teamId}/members`, { user_id: guest.id }), 401, 'unauthorized')
  assertError(
    await invite(manager, teamId, { user_id: guest.id, permissions: 5 }),
    400,
    'validation_error',
    'permissions',
  )
  assert.equal((await invite(manager, teamId, { user_id: guest.id, permissions: 4 })).statusCode, 204)
  assert.equal((await invite(admin, teamId, { user_id: stranger.id, permissions: 1023 })).statusCode, 204)
})

test('in an organization its own bits decide, and default permissions need bit 128', async () => {
  const [owner, manager, giver, one, two] = await t.make.people(5)
  const { teamId } = await make.organization(owner)
  await make.member(teamId, manager, { permissions: 1023, organization_permissions: 2 | 1 })
  await make.member(teamId, giver, { permissions: 4, organization_permissions: 2 | 128 })
  assertError(
    await invite(manager, teamId, { user_id: one.id, organization_permissions: 8 }),
    400,
    'validation_error',
    'organization_permissions',
  )
  assertError(await invite(manager, teamId, { user_id: one.id, permissions: 1 }), 403, 'unauthorized')
  assert.equal(
    (await invite(manager, teamId, { user_id: one.id, organization_permissions: 3, permissions: 0 })).statusCode,
    204,
  )
  assertError(await invite(giver, teamId, { user_id: two.id, permissions: 5 }), 400, 'validation_error', 'permissions')
  assert.equal((await invite(giver, teamId, { user_id: two.id, permissions: 4 })).statusCode, 204)
  const project = await make.project(owner)
  const wrongKind = { user_id: one.id, organization_permissions: 0 }
  assertError(await invite(owner, project.teamId, wrongKind), 400, 'validation_error', 'organization_permissions')
})

test("an organization's member joins its project immediately; its owner only with every permission", async () => {
  const [head, member, invitee] = await t.make.people(3)
  const admin = await t.make.account({ role: 'admin' })
  const organization = await make.organization(head)
  await make.member(organization.teamId, member, { permissions: 1023 })
  await make.member(organization.teamId, invitee, { accepted: false })
  const { teamId } = await make.project(undefined, { organization_id: organization.id })
  assert.equal((await invite(head, teamId, { user_id: member.id, permissions: 1 })).statusCode, 204)
  assert.equal((await seenBy(head, teamId, member)).accepted, true)
  assert.deepEqual(await notificationsOf(member), [])
  const narrowed = await invite(member, teamId, { user_id: invitee.id })
  assertError(narrowed, 403, 'unauthorized')
  await invite(head, teamId, { user_id: invitee.id })
  assert.equal((await seenBy(head, teamId, invitee)).accepted, false, 'an invitation there is no membership here')
  assertError(await invite(admin, teamId, { user_id: head.id, permissions: 3 }), 400, 'validation_error', 'permissions')
  assert.equal((await invite(admin, teamId, { user_id: head.id, permissions: 1023 })).statusCode, 204)
})

test('an unknown team, the team of a hidden project, and a token without PROJECT_WRITE', async () => {
  const [owner, stranger] = await t.make.people(2)
  const { teamId } = await make.project(owner, { status: 'private' })
  assertError(await invite(stranger, teamId, { user_id: owner.id }), 404, 'not_found')
  assertError(await invite(stranger, 'zzzzzzzz', { user_id: owner.id }), 404, 'not_found')
  assertError(await invite(stranger, 'not-an-id', { user_id: owner.id }), 400, 'decoding_error', 'id')
  const token = await t.make.pat(owner, scopeBits('ALL_BUT', 'PROJECT_WRITE'))
  const answer = await invite(token, teamId, { user_id: stranger.id })
  assertError(answer, 403, 'unauthorized')
  assert.match(answer.json().description, /PROJECT_WRITE/)
})

test('a team has a maximum number of members', async () => {
  const [owner, last, more] = await t.make.people(3)
  const { teamId } = await make.project(owner)
  const crowd = Array.from({ length: TEAM_SIZE_MAX - 2 }, (_, index) => `crowd${String(index).padStart(3, '0')}`)
  await t.deps.db
    .insertInto('account')
    .values(crowd.map((id) => ({ id, username: `in-the-${id}` })))
    .execute()
  await t.deps.db
    .insertInto('team_member')
    .values(crowd.map((id) => ({ team_id: teamId, account_id: id })))
    .execute()
  const answers = await Promise.all([last, more].map(({ id }) => invite(owner, teamId, { user_id: id })))
  assert.deepEqual(statuses(answers), [204, 400])
})
