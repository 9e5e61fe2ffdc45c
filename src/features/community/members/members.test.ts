import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { Client } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type MemberView, memberOf, names, scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()

const get = async (client: Client, path: string): Promise<MemberView[]> => {
  const answer = await client.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('other users see accepted members without permissions; members see everything, invited users also their own row', async () => {
  const [owner, member, invitee, stranger] = await t.make.people(4)
  const moderator = await t.make.account({ role: 'moderator' })
  const { teamId } = await make.project(owner)
  await make.member(teamId, member, { permissions: 5, payouts_split: 12.5, role: 'Artist', ordering: 2 })
  await make.member(teamId, invitee, { permissions: 1, accepted: false, ordering: 1 })
  const path = `/v3/team/${teamId}/members`

  for (const client of [t.anyone, t.as(stranger), t.as(moderator)]) {
    const members = await get(client, path)
    assert.deepEqual(names(members), [owner.username, member.username])
    const { permissions, organization_permissions, payouts_split } = memberOf(members, member)
    assert.deepEqual([permissions, organization_permissions, payouts_split], [null, null, null])
  }
  const asMember = await get(t.as(member), path)
  assert.deepEqual(names(asMember), [owner.username, invitee.username, member.username], 'by ordering, then by age')
  const { user, revision: _, ...artist } = memberOf(asMember, member)
  assert.deepEqual(artist, {
    team_id: teamId,
    role: 'Artist',
    is_owner: false,
    permissions: 5,
    organization_permissions: null,
    accepted: true,
    payouts_split: 12.5,
    ordering: 2,
  })
  assert.deepEqual([user.id, user.username], [member.id, member.username])
  const own = await get(t.as(invitee), path)
  assert.deepEqual(names(own), [owner.username, invitee.username, member.username])
  assert.deepEqual([memberOf(own, invitee).accepted, memberOf(own, invitee).permissions], [false, null])
})

test("a project's list also contains its organization's members, each user once", async () => {
  const [head, both, onlyProject, invited, stranger] = await t.make.people(5)
  const organization = await make.organization(head)
  const project = await make.project(undefined, { organization_id: organization.id })
  await make.member(organization.teamId, both, { permissions: 3, organization_permissions: 2 })
  await make.member(organization.teamId, invited, { accepted: false })
  await make.member(project.teamId, both, { permissions: 1 })
  await make.member(project.teamId, onlyProject, { permissions: 4 })
  const path = `/v3/project/${project.slug}/members`

  const public_ = await get(t.as(stranger), path)
  assert.deepEqual(
    public_.map(({ user, team_id }) => [user.username, team_id]),
    [
      [both.username, project.teamId],
      [onlyProject.username, project.teamId],
      [head.username, organization.teamId],
    ],
  )
  const ofOrganization = await get(t.as(head), path)
  assert.equal(memberOf(ofOrganization, onlyProject).permissions, 4, 'the organization reads its project teams')
  assert.equal(memberOf(ofOrganization, head).organization_permissions, 255)
  assert.ok(!names(ofOrganization).includes(invited.username), 'who is invited there is no member yet')
  const ofProject = await get(t.as(onlyProject), path)
  assert.equal(memberOf(ofProject, both).permissions, 1)
  assert.equal(memberOf(ofProject, head).organization_permissions, null, 'the project does not read the organization')
  assert.equal((await get(t.as(head), `/v3/team/${project.teamId}/members`)).length, 2, 'the team alone')
})

test('the team of a hidden project is hidden, by project and by team, one or many', async () => {
  const [owner, invitee, stranger] = await t.make.people(3)
  const moderator = await t.make.account({ role: 'moderator' })
  const { id, teamId } = await make.project(owner, { status: 'draft' })
  await make.member(teamId, invitee, { accepted: false })
  const ids = JSON.stringify([teamId])
  for (const client of [t.anyone, t.as(stranger)]) {
    assertError(await client.get(`/v3/project/${id}/members`), 404, 'not_found')
    assertError(await client.get(`/v3/team/${teamId}/members`), 404, 'not_found')
    assert.deepEqual((await client.get('/v3/teams', { query: { ids } })).json(), [])
  }
  for (const client of [t.as(owner), t.as(invitee), t.as(moderator)]) {
    assert.ok(names(await get(client, `/v3/project/${id}/members`)).includes(owner.username))
    assert.equal((await client.get('/v3/teams', { query: { ids } })).json().length, 1)
  }
})

test('teams come in the order asked for, unknown ones left out, the own pending row included', async () => {
  const [owner, invitee] = await t.make.people(2)
  const [first, second] = [await make.project(owner), await make.organization(owner)]
  await make.member(first.teamId, invitee, { accepted: false })
  const ids = JSON.stringify([second.teamId, 'zzzzzzzz', first.teamId, second.teamId])
  const teams: MemberView[][] = (await t.as(invitee).get('/v3/teams', { query: { ids } })).json()
  assert.deepEqual(teams.map(names), [[owner.username], [owner.username, invitee.username]])
  assert.deepEqual((await t.anyone.get('/v3/teams', { query: { ids: '[]' } })).json(), [])
})

test('reports a list that is not a list of IDs, and invalid or unknown team IDs', async () => {
  const list = (ids: string) => t.anyone.get('/v3/teams', { query: { ids } })
  assertError(await t.anyone.get('/v3/teams'), 400, 'invalid_input', 'ids')
  assertError(await list('not json'), 400, 'invalid_input', 'ids')
  assertError(await list('["abc", 1]'), 400, 'invalid_input', 'ids.1')
  assertError(await list('["abc", "a-b"]'), 400, 'decoding_error', 'ids.1')
  assertError(await list(JSON.stringify(Array(1001).fill('abc'))), 400, 'invalid_input', 'ids')
  assertError(await t.anyone.get('/v3/team/not-an-id/members'), 400, 'decoding_error', 'id')
  assertError(await t.anyone.get('/v3/team/123456789012/members'), 400, 'decoding_error', 'id')
  assertError(await t.anyone.get('/v3/team/zzzzzzzz/members'), 404, 'not_found')
  assertError(await t.anyone.get('/v3/project/no-such-project/members'), 404, 'not_found')
})

test('rejects a request for teams and organizations whose members exceed the response limit together', async () => {
  const owner = await t.make.account()
  const organizations = await Promise.all(Array.from({ length: 31 }, () => make.organization(owner)))
  const teamIds = organizations.map(({ teamId }) => teamId)
  await sql`insert into account (id, username) select random_id(), 'crowd-' || n from generate_series(1, 999) n`.execute(
    t.deps.db,
  )
  await sql`insert into team_member (team_id, account_id, accepted)
    select team.id, account.id, false from unnest(${teamIds}::text[]) team (id), account
    where account.username like 'crowd-%'`.execute(t.deps.db)
  const lists: [string, string[]][] = [
    ['/v3/teams', teamIds],
    ['/v3/organizations', organizations.map(({ id }) => id)],
  ]
  for (const [path, ids] of lists) {
    const list = (viewer: Client) => viewer.get(path, { query: { ids: JSON.stringify(ids) } })
    assertError(await list(t.as(owner)), 400, 'invalid_input', 'ids')
    // Strangers see one member of each.
    assert.equal((await list(t.anyone)).json().length, 31)
  }
  assert.equal((await t.as(owner).get(`/v3/team/${teamIds[0]}/members`)).json().length, 1000)
})

test('a token without PROJECT_READ, or no token, reads public data and is never rejected', async () => {
  const owner = await t.make.account()
  const { teamId } = await make.project(owner)
  const blind = await t.make.pat(owner, scopeBits('ALL_BUT', 'PROJECT_READ'))
  const seeing = await t.make.pat(owner, scopeBits('ONLY', 'PROJECT_READ'))
  const permissions = async (client: Client) => (await get(client, `/v3/team/${teamId}/members`))[0]?.permissions
  assert.equal(await permissions(t.as(blind)), null)
  assert.equal(await permissions(t.as({ token: 'dps_rubbish' })), null)
  assert.equal(await permissions(t.as(seeing)), 1023)
})

test('answers carry an ETag, are private to a known caller, and change with a user they show', async () => {
  const owner = await t.make.account()
  const { teamId } = await make.project(owner)
  const path = `/v3/team/${teamId}/members`
  const first = await t.anyone.get(path)
  assert.match(String(first.headers['cache-control']), /public/)
  assert.match(String((await t.as(owner).get(path)).headers['cache-control']), /private/)
  const again = await t.anyone.get(path, { headers: { 'if-none-match': String(first.headers['etag']) } })
  assert.equal(again.statusCode, 304)
  await transaction(t.deps, async (tx, changes) => {
    await tx.updateTable('account').set({ bio: 'I make lanterns' }).where('id', '=', owner.id).execute()
    changes.add('user', owner.id)
  })
  const changed = await t.anyone.get(path)
  assert.equal(changed.json()[0].user.bio, 'I make lanterns')
  assert.notEqual(changed.headers['etag'], first.headers['etag'])
})

test('the number of statements does not grow with teams and members, and is 0 when warm', async () => {
  const counts: number[] = []
  for (const size of [2, 50]) {
    const [owner, ...rest] = (await t.make.people(size)) as [Person, ...Person[]]
    const organization = await make.organization(owner)
    const teamIds: string[] = [organization.teamId]
    for (let index = 0; index < size; index += 1) {
      const fields = index % 2 === 0 ? { organization_id: organization.id } : { status: 'draft' }
      const project = await make.project(index % 2 === 0 ? undefined : owner, fields)
      teamIds.push(project.teamId)
      for (const person of rest) await make.member(project.teamId, person)
    }
    const read = () => t.as(owner).get('/v3/teams', { query: { ids: JSON.stringify(teamIds) } })
    await t.as(owner).get('/v3/limits/projects')
    const cold = await t.queriesOf(read)
    assert.equal(cold.result.json().length, size + 1)
    counts.push(cold.queries.length)
    const path = `/v3/team/${organization.teamId}/members`
    await t.anyone.get(path)
    assert.deepEqual((await t.queriesOf(() => t.anyone.get(path))).queries, [])
  }
  assert.equal(counts[0], counts[1])
  assert.ok((counts[0] ?? 0) <= 7, `${counts[0]} statements`)
})
