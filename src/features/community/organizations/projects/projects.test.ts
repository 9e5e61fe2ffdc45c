// The projects of organizations: lists, adding a project and removing a project.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type MemberView, memberOf, names, scopeBits } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'

const { t, make, membersFor: team } = await teamApp()

type By = { token: string }
const add = (by: By, organization: string, project: string) =>
  t.as(by).post(`/v3/organization/${organization}/projects`, { project_id: project })
const remove = (by: By, organization: string, project: string, newOwner: { id: string }) =>
  t.as(by).delete(`/v3/organization/${organization}/projects/${project}`, { new_owner: newOwner.id })
const status = async (by: By, path: string): Promise<number> => (await t.as(by).get(path)).statusCode
const ids = async (by: By | undefined, organization: string): Promise<string[]> =>
  (await (by === undefined ? t.anyone : t.as(by)).get(`/v3/organization/${organization}/projects`))
    .json()
    .map(({ id }: { id: string }) => id)

test('adding a project: its owner and the organization’s owner leave its team, and permissions change immediately', async () => {
  const [head, maker, colleague, helper] = await t.make.people(4)
  const organization = await make.organization(head)
  await make.member(organization.teamId, maker, { organization_permissions: 16 })
  await make.member(organization.teamId, colleague, { permissions: 4 })
  const project = await make.project(maker, { status: 'private' })
  const version = await make.version(project.id, maker)
  await make.member(project.teamId, head, { permissions: 1 })
  await make.member(project.teamId, helper, { permissions: 1 })
  const paths = [`/v3/project/${project.id}`, `/v3/version/${version}`]
  for (const path of paths) assert.deepEqual([await status(maker, path), await status(colleague, path)], [200, 404])
  assertError(await t.as(maker).get(`/v3/project/${project.id}/organization`), 404, 'not_found')

  const answer = await add(maker, organization.slug, project.slug)
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])

  const { organization_id, organization: same } = (await t.as(maker).get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([organization_id, same], [organization.id, organization.id])
  assert.equal((await t.as(head).get(`/v3/project/${project.id}/organization`)).json().id, organization.id)
  for (const path of paths) assert.deepEqual([await status(maker, path), await status(colleague, path)], [200, 200])
  assert.deepEqual(names(await team(head, project.teamId)), [helper.username])
  const all: MemberView[] = (await t.as(head).get(`/v3/project/${project.id}/members`)).json()
  assert.deepEqual(names(all).sort(), [helper, head, maker, colleague].map(({ username }) => username).sort())
  assert.equal(memberOf(all, colleague).permissions, 4)
  assert.deepEqual(await ids(colleague, organization.id), [project.id])
  assert.deepEqual(await ids(undefined, organization.id), [])
})

test('an invitation that ends because its project moves is read', async () => {
  const [head, maker, member] = await t.make.people(3)
  const organization = await make.organization(head)
  await make.member(organization.teamId, maker, { organization_permissions: 16 })
  const project = await make.project(maker)
  for (const { id } of [head, member]) {
    const invited = await t.as(maker).post(`/v3/team/${project.teamId}/members`, { user_id: id })
    assert.equal(invited.statusCode, 204)
  }
  const unread = async () =>
    (await t.deps.db.selectFrom('notification').select(['account_id']).where('read', '=', false).execute())
      .map(({ account_id }) => account_id)
      .filter((id) => id === head.id || id === member.id)
  assert.equal((await add(maker, organization.id, project.id)).statusCode, 204)
  assert.deepEqual(await unread(), [member.id])
  await make.member(organization.teamId, member)
  assert.equal((await t.as(head).delete(`/v3/organization/${organization.id}`)).statusCode, 204)
  assert.deepEqual(await unread(), [])
})

test('entering takes the owner of the project, a member of the organization, with ADD_PROJECT', async () => {
  const [head, maker, partner, stranger] = await t.make.people(4)
  const admin = await t.make.account({ role: 'admin' })
  const organization = await make.organization(head)
  const project = await make.project(maker)
  await make.member(project.teamId, partner, { permissions: 1023 })
  assertError(await add(maker, organization.id, project.id), 403, 'unauthorized')
  await make.member(organization.teamId, maker, { organization_permissions: 255 - 16 })
  await make.member(organization.teamId, partner, { organization_permissions: 255 })
  for (const by of [maker, partner, head, stranger, admin])
    assertError(await add(by, organization.id, project.id), 403, 'unauthorized')
  const edit = { organization_permissions: 16 }
  await t.as(head).patch(`/v3/team/${organization.teamId}/members/${maker.id}`, edit)
  assert.equal((await add(maker, organization.id, project.id)).statusCode, 204)
  assertError(await add(maker, organization.id, project.id), 400, 'invalid_input', 'project_id')
  assertError(await add(stranger, organization.id, project.id), 403, 'unauthorized')
})

test('unknown and hidden resources, missing fields and missing scopes', async () => {
  const [head, stranger] = await t.make.people(2)
  const organization = await make.organization(head)
  const hidden = await make.project(stranger, { status: 'draft' })
  const own = await make.project(head)
  const path = `/v3/organization/${organization.id}/projects`
  assertError(await add(head, 'no-such-one', own.id), 404, 'not_found')
  assertError(await t.anyone.get('/v3/organization/no-such-one/projects'), 404, 'not_found')
  assertError(await add(head, organization.id, 'no-such-project'), 400, 'validation_error', 'project_id')
  assertError(await add(head, organization.id, hidden.id), 400, 'validation_error', 'project_id')
  const bad = [ABSENT, null, 5, 'x'.repeat(257)]
  await assertRefusedValues((body) => t.as(head).post(path, body), { project_id: own.id }, 'project_id', bad)
  assert.equal((await add(head, organization.id, own.id)).statusCode, 204)
  assertError(await remove(head, 'no-such-one', own.id, head), 404, 'not_found')
  assertError(await remove(head, organization.id, 'no-such-project', head), 404, 'not_found')
  assertError(await remove(head, organization.id, hidden.id, head), 404, 'not_found')
  const other = await make.project(head)
  assertError(await remove(head, organization.id, other.id, head), 404, 'not_found')
  const send = (body: Record<string, unknown>) => t.as(head).delete(`${path}/${own.id}`, body)
  await assertRefusedValues(send, { new_owner: head.id }, 'new_owner', [
    ABSENT,
    null,
    5,
    '',
    'not-an-id',
    'zzzzzzzz',
    stranger.id,
  ])
  assert.equal((await t.as(head).delete(`${path}/${own.id}`)).statusCode, 400)
  for (const scope of ['PROJECT_WRITE', 'ORGANIZATION_WRITE']) {
    const token = await t.make.pat(head, scopeBits('ALL_BUT', scope))
    for (const answer of [
      await add(token, organization.id, other.id),
      await remove(token, organization.id, own.id, head),
    ]) {
      assertError(answer, 403, 'unauthorized')
      assert.match(answer.json().description, new RegExp(scope))
    }
  }
  assertError(await t.anyone.post(path, { project_id: own.id }), 401, 'unauthorized')
})

test('removing a project: the named member owns it, and the organization loses it immediately', async () => {
  const [head, heir, remover, standing, colleague] = await t.make.people(5)
  const organization = await make.organization(head)
  await make.member(organization.teamId, heir)
  await make.member(organization.teamId, remover, { organization_permissions: 32 })
  await make.member(organization.teamId, standing)
  await make.member(organization.teamId, colleague, { organization_permissions: 255 - 32 })
  const fields = { organization_id: organization.id, status: 'private' }
  const [first, second] = [await make.project(undefined, fields), await make.project(undefined, fields)]
  const version = await make.version(first.id, heir)
  await make.member(second.teamId, standing, { permissions: 1, role: 'Artist', payouts_split: 7 })
  await make.member(first.teamId, heir, { accepted: false })
  for (const path of [`/v3/project/${first.id}`, `/v3/version/${version}`])
    assert.equal(await status(colleague, path), 200)
  assertError(await remove(colleague, organization.id, first.id, heir), 403, 'unauthorized')

  assert.equal((await remove(remover, organization.slug, first.slug, heir)).statusCode, 204)
  for (const path of [`/v3/project/${first.id}`, `/v3/version/${version}`])
    assert.deepEqual([await status(colleague, path), await status(heir, path)], [404, 200])
  assert.equal((await t.as(heir).get(`/v3/project/${first.id}`)).json().organization_id, null)
  assertError(await t.as(heir).get(`/v3/project/${first.id}/organization`), 404, 'not_found')
  const [row, ...others] = await team(heir, first.teamId)
  assert.deepEqual(others, [])
  assert.deepEqual([row?.role, row?.is_owner, row?.accepted, row?.permissions], ['Inherited Owner', true, true, 1023])

  assert.equal((await remove(head, organization.id, second.id, standing)).statusCode, 204)
  const kept = memberOf(await team(standing, second.teamId), standing)
  assert.deepEqual([kept.role, kept.is_owner, kept.permissions, kept.payouts_split], ['Owner', true, 1023, 7])
  assert.deepEqual(await ids(head, organization.id), [])
})

test('only accepted members inherit; an admin can remove a project, a moderator cannot', async () => {
  const [head, invitee] = await t.make.people(2)
  const admin = await t.make.account({ role: 'admin' })
  const moderator = await t.make.account({ role: 'moderator' })
  const organization = await make.organization(head)
  await make.member(organization.teamId, invitee, { accepted: false })
  const { id } = await make.project(undefined, { organization_id: organization.id })
  assertError(await remove(head, organization.id, id, invitee), 400, 'validation_error', 'new_owner')
  assertError(await remove(moderator, organization.id, id, head), 403, 'unauthorized')
  assert.equal((await remove(admin, organization.id, id, head)).statusCode, 204)
})

test('of parallel additions to two organizations one counts, and of parallel removals one', async () => {
  const [owner, other] = await t.make.people(2)
  const organizations = [await make.organization(owner), await make.organization(owner)]
  const project = await make.project(owner)
  const answers = await Promise.all([...organizations, ...organizations].map(({ id }) => add(owner, id, project.id)))
  assert.deepEqual(statuses(answers), [204, 400, 400, 400])
  for (const answer of answers.filter(({ statusCode }) => statusCode === 400))
    assertError(answer, 400, 'invalid_input', 'project_id')
  const winner = organizations[answers.findIndex(({ statusCode }) => statusCode === 204) % 2]
  if (winner === undefined) throw new Error('unreachable: one of them has won')
  assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().organization_id, winner.id)
  await make.member(winner.teamId, other)
  const removals = await Promise.all([owner, other].map((heir) => remove(owner, winner.id, project.id, heir)))
  assert.deepEqual(statuses(removals), [204, 404])
  assert.equal((await team(owner, project.teamId)).filter(({ is_owner }) => is_owner).length, 1)
})

test('other users see approved and archived projects in the list, members and moderators see all', async () => {
  const [head, member, invitee, partner, stranger] = await t.make.people(5)
  const moderator = await t.make.account({ role: 'moderator' })
  const organization = await make.organization(head)
  await make.member(organization.teamId, member)
  await make.member(organization.teamId, invitee, { accepted: false })
  const made: Record<string, string> = {}
  for (const status of ['approved', 'archived', 'unlisted', 'private', 'draft']) {
    const project = await make.project(undefined, { organization_id: organization.id, status })
    made[status] = project.id
    if (status === 'draft') await make.member(project.teamId, partner)
  }
  const { approved, archived, draft } = made
  for (const by of [undefined, stranger, invitee])
    assert.deepEqual(await ids(by, organization.id), [archived, approved])
  for (const by of [head, member, moderator]) assert.equal((await ids(by, organization.id)).length, 5)
  assert.deepEqual(await ids(partner, organization.id), [draft, archived, approved])
  for (const scope of ['PROJECT_READ', 'ORGANIZATION_READ'])
    assert.equal((await ids(await t.make.pat(head, scopeBits('ALL_BUT', scope)), organization.id)).length, 2)
})

test('the organization of a project: only of a visible one; each scope opens its own half', async () => {
  const [head, stranger] = await t.make.people(2)
  const organization = await make.organization(head)
  const path = async (status: string) =>
    `/v3/project/${(await make.project(undefined, { organization_id: organization.id, status })).slug}/organization`
  const [open, hidden] = [await path('approved'), await path('private')]
  assert.equal((await t.anyone.get(open)).json().id, organization.id)
  assertError(await t.as(stranger).get(hidden), 404, 'not_found')
  assertError(await t.anyone.get('/v3/project/no-such-project/organization'), 404, 'not_found')
  const projects = await t.make.pat(head, scopeBits('ONLY', 'PROJECT_READ'))
  const organizations = await t.make.pat(head, scopeBits('ONLY', 'ORGANIZATION_READ'))
  const permissions = async (by: By, at: string) => (await t.as(by).get(at)).json().members[0].permissions
  assert.equal(await permissions(projects, hidden), null)
  assertError(await t.as(organizations).get(hidden), 404, 'not_found')
  assert.equal(await permissions(organizations, open), 1023)
})

test('the list of projects costs a constant number of statements', async () => {
  const counts: number[] = []
  for (const size of [2, 50]) {
    const head = await t.make.account()
    const { id } = await make.organization(head)
    const status = (index: number) => (index % 2 === 0 ? 'approved' : 'private')
    for (let index = 0; index < size; index += 1)
      await make.project(undefined, { organization_id: id, status: status(index) })
    await t.as(head).get('/v3/limits/projects')
    const { result, queries } = await t.queriesOf(() => t.as(head).get(`/v3/organization/${id}/projects`))
    assert.equal(result.json().length, size)
    assert.equal(new Set(result.json().map((project: { id: string }) => project.id)).size, size)
    counts.push(queries.length)
  }
  assert.equal(counts[0], counts[1])
  assert.ok((counts[0] ?? 0) <= 4, `${counts[0]} statements`)
})
