// Fine-grained tokens over HTTP: their limits, networks, last use and the operator's limit of their lifetime. The
// authorization matrix sends one to every operation.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp({ env: { PAT_MAX_DAYS: '90', CLIENT_ADDRESS_HEADER: 'x-client' } })
after(() => t.close())

const FROM = (address: string) => ({ headers: { 'x-client': address } })
const inDays = (days: number): string => new Date(t.deps.now() + days * DAY_MS).toISOString()
const create = (person: Person, limits: unknown, expires = inDays(30)) =>
  t
    .as(person)
    .post('/_internal/pat', { name: 'build server', scopes: GRANTABLE_SCOPES, expires, limits }, FROM('192.0.2.1'))

async function limited(person: Person, limits: unknown): Promise<string> {
  const answer = await create(person, limits)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().access_token
}

const get = (token: string, path: string, address = '192.0.2.1') => t.as({ token }).get(path, FROM(address))

test('inside its limits, a token has the rights of its scopes; outside, its owner counts as a stranger', async () => {
  const owner = await t.make.account()
  const [mine, other] = [
    await t.make.project({ owner, status: 'draft' }),
    await t.make.project({ owner, status: 'draft' }),
  ]
  const token = await limited(owner, { projects: [mine.id] })
  assert.equal((await get(token, `/v3/project/${mine.id}`)).statusCode, 200)
  assertError(await get(token, `/v3/project/${other.id}`), 404, 'not_found')
  const change = (id: string) => t.as({ token }).patch(`/v3/project/${id}`, { summary: 'New' }, FROM('192.0.2.1'))
  assert.equal((await change(mine.id)).statusCode, 204)
  assertError(await change(other.id), 404, 'not_found')
  const listed = (await get(token, `/v3/user/${owner.id}/projects`)).json() as { id: string }[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [mine.id],
  )
  const upload = async (id: string) => {
    const { payload, headers } = await form(versionData({ project_id: id }), [{ name: 'file', bytes: modJar(id) }])
    return t.as({ token }).post('/v3/version', payload, { headers: { ...headers, 'x-client': '192.0.2.1' } })
  }
  assert.equal((await upload(mine.id)).statusCode, 201)
  assertError(await upload(other.id), 400, 'validation_error', 'project_id')
})

test('a token of an organization covers its projects and creates others only there', async () => {
  const owner = await t.make.account()
  const organization = await teamFactories(t.deps.db).organization(owner)
  const token = await limited(owner, { organizations: [organization.id] })
  const later = await t.make.project({ organization_id: organization.id, status: 'draft' })
  assert.equal((await get(token, `/v3/project/${later.id}`)).statusCode, 200)
  const post = async (slug: string, organization_id: string | null) => {
    const { payload, headers } = await form(projectData(slug, organization_id === null ? {} : { organization_id }))
    return t.as({ token }).post('/v3/project', payload, { headers: { ...headers, 'x-client': '192.0.2.1' } })
  }
  assert.equal((await post('limited-inside', organization.id)).statusCode, 201)
  assertError(await post('limited-outside', null), 403, 'unauthorized')
})

test('operations without a statement name the limits, and the own account shows no private data', async () => {
  const owner = await t.make.account()
  const { id } = await t.make.project({ owner })
  const token = await limited(owner, { projects: [id] })
  const refused = await get(token, `/v3/user/${owner.id}/notifications`)
  assertError(refused, 403, 'unauthorized')
  assert.ok(refused.json().description.includes(id))
  assert.deepEqual(refused.json().details, { limits: { projects: [id], organizations: [] } })
  const own = (await get(token, '/v3/user')).json()
  assert.deepEqual([own.id, own.email ?? null, own.payout_data ?? null], [owner.id, null, null])
})

test('a moderator has no special rights with a fine-grained token', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const { id } = await t.make.project({ owner: moderator })
  const hidden = await t.make.project({ status: 'draft' })
  const token = await limited(moderator, { projects: [id] })
  assertError(await get(token, `/v3/project/${hidden.id}`), 404, 'not_found')
  assertError(await get(token, '/_internal/moderation/projects'), 403, 'unauthorized')
})

test('a token that is limited to networks works only from there, and other uses are recorded once per hour', async () => {
  const owner = await t.make.account()
  const answer = await create(owner, { addresses: ['192.0.2.7/24', '2001:db8::/32', '198.51.100.4'] })
  const { access_token: token, limits, id } = answer.json()
  assert.deepEqual(limits, {
    projects: null,
    organizations: null,
    addresses: ['192.0.2.0/24', '198.51.100.4/32', '2001:db8::/32'],
  })
  for (const address of ['192.0.2.200', '2001:db8:1::1', '198.51.100.4', '::ffff:192.0.2.9'])
    assert.equal((await get(token, '/v3/user', address)).statusCode, 200, address)
  // Not limited to resources, so it can do everything that its scopes allow.
  assert.equal((await get(token, `/v3/user/${owner.id}/notifications`)).statusCode, 200)
  const refusals = async () =>
    (await t.as(owner).get('/_internal/account/audit-log', FROM('192.0.2.1')))
      .json()
      .entries.filter((entry: { action: string }) => entry.action === 'token.address_refused')
  for (const address of ['192.0.3.1', '2001:db9::1', '198.51.100.5'])
    assertError(await get(token, '/v3/user', address), 401, 'unauthorized')
  assert.deepEqual(
    (await refusals()).map((entry: { subject: { id: string } }) => entry.subject.id),
    [id],
  )
  t.advance(HOUR_MS)
  assertError(await get(token, '/v3/user', '203.0.113.9'), 401, 'unauthorized')
  assert.equal((await refusals()).length, 2)
})

test('limits are checked and cannot be changed', async () => {
  const owner = await t.make.account()
  const { id } = await t.make.project({ owner })
  const strange = await t.make.project()
  const organization = await teamFactories(t.deps.db).organization(await t.make.account())
  for (const [limits, field] of [
    [{ projects: [id, strange.id] }, 'limits.projects.1'],
    [{ projects: ['unknown1'] }, 'limits.projects.0'],
    [{ organizations: [organization.id] }, 'limits.organizations.0'],
    [{ addresses: ['192.0.2.0/33'] }, 'limits.addresses.0'],
    [{ addresses: ['192.0.2.1', 'localhost'] }, 'limits.addresses.1'],
    [{ addresses: ['::ffff:192.0.2.1'] }, 'limits.addresses.0'],
    [{ addresses: ['fe80::1%eth0'] }, 'limits.addresses.0'],
    [{ addresses: ['2001:db8::/129'] }, 'limits.addresses.0'],
    [{ projects: [] }, 'limits.projects'],
    [{ organizations: [] }, 'limits.organizations'],
    [{ addresses: [] }, 'limits.addresses'],
    [{}, 'limits'],
    [{ projects: Array(101).fill(id) }, 'limits.projects'],
    ['everything', 'limits'],
  ] as const)
    assertError(await create(owner, limits), 400, 'validation_error', field)
  const made = (await create(owner, { projects: [id] })).json()
  const change = await t.as(owner).patch(`/_internal/pat/${made.id}`, { limits: { projects: [] } }, FROM('192.0.2.1'))
  assertError(change, 400, 'validation_error', 'limits')
  assert.equal((await create(owner, null)).statusCode, 201)
})

test('a token of somebody who leaves the project covers it no more', async () => {
  const [owner, member] = [await t.make.account(), await t.make.account()]
  const project = await t.make.project({ owner, status: 'draft' })
  await t.make.member({ teamId: project.teamId, accountId: member.id })
  const token = await limited(member, { projects: [project.id] })
  assert.equal((await get(token, `/v3/project/${project.id}`)).statusCode, 200)
  const left = await t
    .as(member)
    .delete(`/v3/team/${project.teamId}/members/${member.id}`, undefined, FROM('192.0.2.1'))
  assert.equal(left.statusCode, 204)
  assertError(await get(token, `/v3/project/${project.id}`), 404, 'not_found')
})

test('the operator limits the lifetime of new tokens', async () => {
  const owner = await t.make.account()
  assert.equal((await create(owner, null, inDays(90))).statusCode, 201)
  const late = await create(owner, null, inDays(91))
  assertError(late, 400, 'validation_error', 'expires')
  assert.match(late.json().description, /at most 90 days/)
})
