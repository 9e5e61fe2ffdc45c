// Edits of several versions in one request.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())

const patch = (by: Person | { token: string }, ids: readonly string[], body: object) =>
  t.as(by).patch('/v3/versions', body, { query: { ids: JSON.stringify(ids) } })

async function makeVersions(project: MadeProject, count: number, status = 'listed'): Promise<string[]> {
  const made: string[] = []
  for (let n = 0; n < count; n++) made.push((await t.make.version({ project, status, version_number: `1.${n}` })).id)
  return made
}

async function read(by: Person, ids: readonly string[]): Promise<Record<string, unknown>[]> {
  return (await t.as(by).get('/v3/versions', { query: { ids: JSON.stringify(ids) } })).json()
}

const fieldOf = async (by: Person, ids: readonly string[], field: string): Promise<unknown[]> =>
  (await read(by, ids)).map((version) => version[field])

test('changes the status and the simple fields of all versions, of several projects', async () => {
  const project = await t.make.project()
  const other = await t.make.project({ owner: project.owner })
  const ids = [...(await makeVersions(project, 3)), ...(await makeVersions(other, 1, 'draft'))]
  const body = { status: 'archived', featured: true, version_type: 'beta', ordering: 4 }
  const answer = await patch(project.owner, ids, body)
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  for (const version of await read(project.owner, ids)) {
    const { status, featured, version_type, ordering } = version
    assert.deepEqual({ status, featured, version_type, ordering }, body)
  }
  const audited = await t.deps.db
    .selectFrom('audit_entry')
    .select('subject_id')
    .where('action', '=', 'version.status_changed')
    .where('subject_id', 'in', ids)
    .execute()
  assert.deepEqual(audited.map(({ subject_id }) => subject_id).sort(), ids.toSorted())
  assert.equal((await patch(project.owner, ids, { status: 'unlisted' })).statusCode, 204)
  assert.deepEqual((await t.anyone.get(`/v3/project/${project.id}`)).json().versions, [])
  assert.equal((await patch(project.owner, ids, {})).statusCode, 204)
  assert.equal((await patch(project.owner, [], { status: 'listed' })).statusCode, 204)
})

test('cancels a schedule, and notifies followers of versions that become listed', async () => {
  const project = await t.make.project()
  const follower = await t.make.account()
  assert.equal((await t.as(follower).post(`/v3/project/${project.id}/follow`)).statusCode, 204)
  const ids = await makeVersions(project, 2, 'draft')
  const [first = ''] = ids
  const schedule = { status: 'scheduled', requested_status: 'listed', scheduled_at: '2100-01-01T00:00:00Z' }
  assert.equal((await t.as(project.owner).patch(`/v3/version/${first}`, schedule)).statusCode, 204)
  assert.equal((await patch(project.owner, ids, { status: 'listed' })).statusCode, 204)
  assert.deepEqual(await fieldOf(project.owner, ids, 'scheduled_at'), [null, null])
  await t.runJobs()
  assert.equal((await t.as(follower).get(`/v3/user/${follower.id}/notifications`)).json().length, 2)
})

test('changes nothing if one version is missing, hidden or not permitted', async () => {
  const project = await t.make.project()
  const { owner } = project
  const ids = await makeVersions(project, 2)
  const strange = await t.make.project()
  const [open = ''] = await makeVersions(strange, 1)
  const [hidden = ''] = await makeVersions(strange, 1, 'draft')
  const body = { status: 'archived' }
  assertError(await patch(owner, [...ids, 'zzzzzzzz'], body), 404, 'not_found')
  assertError(await patch(owner, [...ids, hidden], body), 404, 'not_found')
  assertError(await patch(owner, [...ids, open], body), 403, 'unauthorized')
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 4 })
  assertError(await patch(helper, ids, body), 403, 'unauthorized')
  assert.deepEqual(await fieldOf(owner, ids, 'status'), ['listed', 'listed'])
})

test('rejects bad input and callers without credentials or scope', async () => {
  const project = await t.make.project()
  const ids = await makeVersions(project, 1)
  const { owner } = project
  assertError(await patch(owner, ids, { status: 'scheduled' }), 400, 'validation_error', 'status')
  assertError(await patch(owner, ids, { status: 'deleted' }), 400, 'validation_error', 'status')
  assertError(await patch(owner, ids, { featured: 'yes' }), 400, 'validation_error', 'featured')
  assertError(await patch(owner, ['a-b'], { featured: true }), 400, 'decoding_error', 'ids.0')
  assertError(await t.as(owner).patch('/v3/versions', { featured: true }), 400, 'invalid_input', 'ids')
  const query = { ids: JSON.stringify(ids) }
  assertError(await t.anyone.patch('/v3/versions', { featured: true }, { query }), 401, 'unauthorized')
  const weak = await t.make.pat(owner, scopeBits('ALL_BUT', 'VERSION_WRITE'))
  assertError(await patch(weak, ids, { featured: true }), 403, 'unauthorized')
})

test('the number of statements does not grow with the versions, and parallel edits do not block each other', async () => {
  const project = await t.make.project()
  assert.equal((await patch(project.owner, await makeVersions(project, 1), { featured: true })).statusCode, 204)
  const counts: number[] = []
  for (const size of [2, 20]) {
    const ids = await makeVersions(project, size)
    const { result, queries } = await t.queriesOf(() => patch(project.owner, ids, { featured: true }))
    assert.equal(result.statusCode, 204)
    counts.push(queries.length)
    const forward = patch(project.owner, ids, { status: 'archived' })
    const backward = patch(project.owner, ids.toReversed(), { status: 'unlisted' })
    assert.deepEqual([(await forward).statusCode, (await backward).statusCode], [204, 204])
    assert.equal(new Set(await fieldOf(project.owner, ids, 'status')).size, 1)
  }
  assert.equal(counts[0], counts[1])
})
