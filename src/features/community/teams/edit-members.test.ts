// Edits of several members in one request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { memberOf, scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make, membersFor: read } = await teamApp()

const EDIT_MEMBER = 64

const patch = (by: Person | { token: string }, teamId: string, members: unknown, match?: string) =>
  t
    .as(by)
    .patch(`/v3/team/${teamId}/members`, { members }, match === undefined ? {} : { headers: { 'if-match': match } })

async function makeTeam() {
  const [owner, first, second, invitee] = await t.make.people(4)
  const { teamId } = await make.project(owner)
  await make.member(teamId, first, { permissions: 1 | EDIT_MEMBER })
  await make.member(teamId, second, { permissions: 1 })
  await make.member(teamId, invitee, { accepted: false })
  return { owner, first, second, invitee, teamId }
}

test('changes every named field of every member and invitee', async () => {
  const { owner, first, second, invitee, teamId } = await makeTeam()
  const answer = await patch(owner, teamId, [
    { user_id: first.id, permissions: 5, role: 'Artist', ordering: 2 },
    { user_id: second.id, payouts_split: 12.5, ordering: 1 },
    { user_id: invitee.id, permissions: 8, role: null },
    { user_id: owner.id, permissions: 1023, ordering: 3 },
  ])
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  const members = await read(owner, teamId)
  const { permissions, role, ordering } = memberOf(members, first)
  assert.deepEqual([permissions, role, ordering], [5, 'Artist', 2])
  assert.deepEqual([memberOf(members, second).payouts_split, memberOf(members, second).permissions], [12.5, 1])
  assert.deepEqual([memberOf(members, invitee).permissions, memberOf(members, invitee).role], [8, 'Member'])
  const audited = await t.deps.db
    .selectFrom('audit_entry')
    .select('details')
    .where('action', '=', 'team.member_changed')
    .where('subject_id', '=', teamId)
    .orderBy('id')
    .execute()
  assert.deepEqual(
    audited.map(({ details }) => (details as { fields: string[] }).fields),
    [['role', 'permissions', 'ordering'], ['payouts_split', 'ordering'], ['permissions'], ['ordering']],
  )
  assert.equal((await patch(owner, teamId, [])).statusCode, 204)
})

test('names the member and the field of an error, and changes nothing', async () => {
  const { owner, first, second, teamId } = await makeTeam()
  const stranger = await t.make.account()
  const good = { user_id: second.id, role: 'Artist' }
  const refuse = async (by: Person, members: object[], field: string, status = 400) =>
    assertError(
      await patch(by, teamId, members),
      status,
      status === 403 ? 'unauthorized' : 'validation_error',
      `members.${field}`,
    )
  await refuse(owner, [good, { user_id: first.id, permissions: 1024 }], '1.permissions')
  await refuse(owner, [good, { user_id: first.id, organization_permissions: 1 }], '1.organization_permissions')
  await refuse(owner, [good, { user_id: owner.id, permissions: 1 }], '1.permissions')
  await refuse(owner, [good, { user_id: stranger.id, role: 'Artist' }], '1.user_id')
  await refuse(owner, [good, { user_id: 'a-b' }], '1.user_id')
  await refuse(owner, [good, good], '1.user_id')
  await refuse(owner, [good, { role: 'Artist' }], '1.user_id')
  await refuse(owner, [good, { user_id: first.id, role: 'a\u0000b' }], '1.role')
  await refuse(owner, [good, { user_id: first.id, role: ' inherited  OWNER' }], '1.role')
  await refuse(first, [good, { user_id: first.id, permissions: 3 | EDIT_MEMBER }], '1.permissions')
  await refuse(first, [good, { user_id: first.id, payouts_split: 100 }], '1', 403)
  assertError(await t.as(owner).patch(`/v3/team/${teamId}/members`, {}), 400, 'validation_error', 'members')
  assert.equal(memberOf(await read(owner, teamId), second).role, 'Member')
})

test('needs the permission to edit members, a visible team, a token and its scope', async () => {
  const { owner, first, second, teamId } = await makeTeam()
  const change = [{ user_id: first.id, role: 'Artist' }]
  assertError(await patch(second, teamId, change), 403, 'unauthorized')
  assertError(await patch(await t.make.account(), teamId, change), 403, 'unauthorized')
  assertError(await patch({ token: 'dps_unknown' }, teamId, change), 401, 'unauthorized')
  const weak = await t.make.pat(owner, scopeBits('ALL_BUT', 'PROJECT_WRITE'))
  assertError(await patch(weak, teamId, change), 403, 'unauthorized')
  const draft = await make.project(owner, { status: 'draft' })
  assertError(await patch(second, draft.teamId, change), 404, 'not_found')
  assertError(await patch(owner, 'zzzzzzzz', change), 404, 'not_found')
  assertError(await patch(owner, 'a-b', change), 400, 'decoding_error', 'id')
})

test('an organization has both kinds of permissions', async () => {
  const [owner, member] = await t.make.people(2)
  const { teamId } = await make.organization(owner)
  await make.member(teamId, member, { organization_permissions: 0 })
  const change = [{ user_id: member.id, permissions: 5, organization_permissions: 3 }]
  assert.equal((await patch(owner, teamId, change)).statusCode, 204)
  const shown = memberOf(await read(owner, teamId), member)
  assert.deepEqual([shown.permissions, shown.organization_permissions], [5, 3])
})

test('of several editors with the same revision, one succeeds, and the others get the current members', async () => {
  const { owner, first, teamId } = await makeTeam()
  const [shown] = await read(owner, teamId)
  const match = `"${shown?.revision}"`
  const answers = await Promise.all(
    [1, 2, 3].map((ordering) => patch(owner, teamId, [{ user_id: first.id, ordering }], match)),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409, 409])
  const refused = await patch(owner, teamId, [{ user_id: first.id, ordering: 9 }], match)
  assertError(refused, 409, 'conflict', 'if-match')
  assert.deepEqual(refused.json().details.current, await read(owner, teamId))
})
