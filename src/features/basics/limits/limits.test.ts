import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'

const t = await testApp({ env: { QUOTA_ORGANIZATIONS: '2' } })
after(() => t.close())
const make = teamFactories(t.deps.db)

type By = { token: string }
const limit = async (by: By, kind: string) => (await t.as(by).get(`/v3/limits/${kind}`)).json()
const create = (by: By, slug: string) =>
  t.as(by).post('/v3/organization', { slug, name: 'Limited', description: 'One more of them' })
const override = (person: Person, fields: { projects?: number; organizations?: number }) =>
  t.deps.db
    .insertInto('quota_override')
    .values({ account_id: person.id, ...fields })
    .execute()

test('owned resources count; memberships, invitations and resources of an organization do not', async () => {
  const [owner, other] = [await t.make.account(), await t.make.account()]
  assert.deepEqual(await limit(owner, 'projects'), { current: 0, max: 256 })
  assert.deepEqual(await limit(owner, 'organizations'), { current: 0, max: 2 })
  assert.deepEqual(await limit(owner, 'collections'), { current: 0, max: 32 })
  const organization = await make.organization(owner)
  await make.project(owner)
  await make.project(undefined, { organization_id: organization.id })
  for (const team of [await make.project(other), await make.organization(other)])
    await make.member(team.teamId, owner, { permissions: 1023 })
  await make.member((await make.project(other)).teamId, owner, { accepted: false })
  assert.deepEqual(await limit(owner, 'projects'), { current: 1, max: 256 })
  assert.deepEqual(await limit(owner, 'organizations'), { current: 1, max: 2 })
})

test('limits need a valid token', async () => {
  const owner = await t.make.account()
  const token = await t.make.pat(owner, 1)
  for (const kind of ['projects', 'organizations', 'collections']) {
    assert.equal((await t.as(token).get(`/v3/limits/${kind}`)).statusCode, 200)
    assertError(await t.anyone.get(`/v3/limits/${kind}`), 401, 'unauthorized')
  }
  assertError(await t.as(owner).get('/v3/limits/versions'), 404, 'not_found')
})

test('at the limit, creation fails until a resource is given away; only one of two parallel creations succeeds', async () => {
  const owner = await t.make.account()
  await create(owner, 'at-the-limit-1')
  const answers = await Promise.all([2, 3, 4].map((number) => create(owner, `at-the-limit-${number}`)))
  assert.deepEqual(statuses(answers), [201, 400, 400])
  const refused = answers.find(({ statusCode }) => statusCode === 400)
  assert.deepEqual(refused?.json(), {
    error: 'LimitReached',
    description: 'You have reached your limit for organizations (2)',
    details: { kind: 'organizations', current: 2, max: 2 },
  })
  assert.deepEqual(await limit(owner, 'organizations'), { current: 2, max: 2 })
  await t.as(owner).delete('/v3/organization/at-the-limit-1')
  assert.equal((await create(owner, 'at-the-limit-5')).statusCode, 201)
})

test("an account's own limits replace the defaults, one by one, and admins have none", async () => {
  const [trusted, blocked] = [await t.make.account(), await t.make.account()]
  const admin = await t.make.account({ role: 'admin' })
  await override(trusted, { organizations: 3 })
  await override(blocked, { organizations: 0, projects: 1 })
  assert.deepEqual(await limit(trusted, 'organizations'), { current: 0, max: 3 })
  assert.deepEqual(await limit(trusted, 'projects'), { current: 0, max: 256 })
  assert.deepEqual(await limit(blocked, 'projects'), { current: 0, max: 1 })
  assertError(await create(blocked, 'never-made'), 400, 'LimitReached')
  for (const number of [1, 2, 3]) {
    assert.equal((await create(trusted, `trusted-${number}`)).statusCode, 201)
    assert.equal((await create(admin, `admin-${number}`)).statusCode, 201)
  }
  assertError(await create(trusted, 'trusted-4'), 400, 'LimitReached')
  assert.deepEqual(await limit(admin, 'organizations'), { current: 3, max: null })
})
