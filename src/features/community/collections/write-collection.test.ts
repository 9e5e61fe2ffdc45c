import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'
import type { CollectionView } from './views.ts'

const t = await testApp({ env: { QUOTA_COLLECTIONS: '100', REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())
const make = teamFactories(t.deps.db)
const creator = await t.make.account()

const scopes = (names: string): number => parseScopeNames(names).bits

async function create(person: { token: string }, body: Record<string, unknown> = {}): Promise<CollectionView> {
  const answer = await t.as(person).post('/v3/collection', { name: 'Lights', ...body })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}
const read = async (id: string, person: { token: string } = creator): Promise<CollectionView> =>
  (await t.as(person).get(`/v3/collection/${id}`)).json()
const setStatus = (id: string, status: string) =>
  t.deps.db
    .updateTable('collection')
    .set({ status: status as CollectionView['status'] })
    .where('id', '=', id)
    .execute()

test('a new collection is listed and holds its projects by ID, in the order given, each once', async () => {
  const [first, second, third] = await Promise.all([
    make.project(creator),
    make.project(creator),
    make.project(creator),
  ])
  const names = [third.slug, first.id, third.id, second.slug.toUpperCase(), first.slug]
  const collection = await create(creator, { name: '  Lights  ', description: 'All that shines', projects: names })
  const { id, created, updated, ...rest } = collection
  assert.match(id, /^[0-9A-Za-z]{8}$/)
  assert.equal(created, updated)
  assert.deepEqual(rest, {
    user: creator.id,
    name: 'Lights',
    description: 'All that shines',
    icon_url: null,
    raw_icon_url: null,
    color: null,
    status: 'listed',
    projects: [third.id, first.id, second.id],
    revision: 2,
  })
  assert.deepEqual(await read(id), collection)
})

test('creating needs a token, its scope, and a verified address where the operator asks for one', async () => {
  assertError(await t.anyone.post('/v3/collection', { name: 'Lights' }), 401, 'unauthorized')
  const weak = await t.make.pat(creator, scopes('COLLECTION_WRITE'))
  const refused = await t.as(weak).post('/v3/collection', { name: 'Lights' })
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /COLLECTION_CREATE/)

  const unverified = await t.make.account({ email_verified: false })
  assertError(await t.as(unverified).post('/v3/collection', { name: 'Lights' }), 403, 'unauthorized')
})

test('each field of a new collection is held to its limits', async () => {
  const post = (body: Record<string, unknown>) => t.as(creator).post('/v3/collection', body)
  const valid = { name: 'Lights' }
  await assertRefusedValues(post, valid, 'name', [
    'ab',
    'n'.repeat(65),
    '   ',
    ' a ',
    '\u200b'.repeat(3),
    5,
    null,
    ABSENT,
  ])
  await assertRefusedValues(post, valid, 'description', ['ab', 'd'.repeat(256), 5, []])
  await assertRefusedValues(post, valid, 'projects', ['text', {}, 5])
  assertError(await post({ name: 'Lights', projects: [5] }), 400, 'validation_error', 'projects.0')
  assertError(await post({ name: 'Lights', projects: ['x'.repeat(65)] }), 400, 'validation_error', 'projects.0')
  assertError(await t.as(creator).post('/v3/collection'), 400, 'json_error')
  for (const body of [
    { name: 'abc' },
    { name: '𝕃'.repeat(64) },
    { name: 'Lights', description: 'd'.repeat(255) },
    { name: 'Lights', description: 'abc', projects: [] },
    { name: 'Lights', description: null, projects: null, status: 'private', unknown: true },
  ]) {
    const { status } = await create(creator, body)
    assert.equal(status, 'listed')
  }
})

test('1024 projects are taken in one go, 1025 are not', async () => {
  const owner = await t.make.account()
  const ids = await make.projects(1024)
  await create(owner)
  const { result, queries } = await t.queriesOf(() => create(owner, { projects: ids }))
  assert.deepEqual(result.projects, ids)
  const { queries: fewQueries } = await t.queriesOf(() => create(owner, { projects: ids.slice(0, 2) }))
  assert.equal(queries.length, fewQueries.length)
  assertError(
    await t.as(owner).post('/v3/collection', { name: 'Lights', projects: [...ids, ids[0]] }),
    400,
    'validation_error',
    'projects',
  )
})

test('an unknown or hidden project in a list is named by its place, and nothing is made', async () => {
  const person = await t.make.account()
  const stranger = await t.make.account()
  const open = await make.project(stranger)
  const draft = await make.project(stranger, { status: 'draft' })
  for (const name of ['zzzzzzzz', 'no-such-project', draft.id, draft.slug]) {
    const answer = await t.as(person).post('/v3/collection', { name: 'Lights', projects: [open.id, name] })
    assertError(answer, 400, 'validation_error', 'projects.1')
  }
  assert.deepEqual((await t.as(person).get(`/v3/user/${person.id}/collections`)).json(), [])
  assert.deepEqual((await create(stranger, { projects: [draft.slug] })).projects, [draft.id], 'members see their draft')
  const unread = await t.make.pat(stranger, scopes('COLLECTION_CREATE COLLECTION_READ'))
  const blind = await t.as(unread).post('/v3/collection', { name: 'Lights', projects: [draft.id] })
  assertError(blind, 400, 'validation_error', 'projects.0')
})

test('two concurrent creations cannot exceed a quota with room for one; deleting frees space; admins have no quota', async () => {
  const person = await t.make.account()
  await t.deps.db.insertInto('quota_override').values({ account_id: person.id, collections: 2 }).execute()
  const kept = await create(person)
  const post = () => t.as(person).post('/v3/collection', { name: 'Lights' })
  const answers = await Promise.all([post(), post(), post()])
  assert.deepEqual(statuses(answers), [201, 400, 400])
  assertError(await post(), 400, 'LimitReached')
  assert.equal((await t.as(person).delete(`/v3/collection/${kept.id}`)).statusCode, 204)
  assert.equal((await post()).statusCode, 201)
  const admin = await t.make.account({ role: 'admin' })
  await t.deps.db.insertInto('quota_override').values({ account_id: admin.id, collections: 0 }).execute()
  await create(admin)
})

test('a patch changes what it names, replaces the whole list, and moves `updated` each time', async () => {
  const [first, second] = await Promise.all([make.project(creator), make.project(creator)])
  const before = await create(creator, { description: 'All that shines', projects: [first.id] })
  const patch = (body: Record<string, unknown>) => t.as(creator).patch(`/v3/collection/${before.id}`, body)
  t.advance(1000)
  assert.equal((await patch({ name: ' Lamps ', new_projects: [second.slug, first.id, second.id] })).statusCode, 204)
  const renamed = await read(before.id)
  assert.deepEqual(
    [renamed.name, renamed.description, renamed.projects, renamed.created],
    ['Lamps', 'All that shines', [second.id, first.id], before.created],
  )
  assert.ok(renamed.updated > before.updated)
  t.advance(1000)
  assert.equal((await patch({ description: null, name: null, status: null, new_projects: null })).statusCode, 204)
  const cleared = await read(before.id)
  assert.deepEqual([cleared.name, cleared.description, cleared.projects.length], ['Lamps', null, 2])
  assert.ok(cleared.updated > renamed.updated)
  t.advance(1000)
  assert.equal((await patch({})).statusCode, 204)
  assert.ok((await read(before.id)).updated > cleared.updated)
  assert.equal((await patch({ new_projects: [] })).statusCode, 204)
  assert.deepEqual((await read(before.id)).projects, [])
})

test('each field of a patch is held to its limits, and a rejected patch saves nothing', async () => {
  const { id } = await create(creator, { description: 'All that shines' })
  const patch = (body: Record<string, unknown>) => t.as(creator).patch(`/v3/collection/${id}`, body)
  const valid = { name: 'Lamps' }
  await assertRefusedValues(patch, valid, 'name', ['ab', 'n'.repeat(65), '   ', 5])
  await assertRefusedValues(patch, valid, 'description', ['ab', 'd'.repeat(257), 5])
  await assertRefusedValues(patch, valid, 'status', ['unknown', 'LISTED', '', 5])
  await assertRefusedValues(patch, valid, 'new_projects', ['text', Array.from({ length: 1025 }, () => 'a')])
  assertError(await patch({ ...valid, new_projects: ['zzzzzzzz'] }), 400, 'validation_error', 'new_projects.0')
  assertError(await patch({ ...valid, status: 'private' }), 403, 'unauthorized')
  const after = await read(id)
  assert.deepEqual([after.name, after.description, after.status], ['Lights', 'All that shines', 'listed'])
  assert.equal((await patch({ description: 'd'.repeat(256) })).statusCode, 204)
})

test('permissions for each status follow the table of the specification', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const { id } = await create(creator)
  const set = async (person: Person, from: string, to: string): Promise<number> => {
    await setStatus(id, from)
    const { statusCode } = await t.as(person).patch(`/v3/collection/${id}`, { status: to })
    const now = (await read(id)).status
    assert.equal(now, statusCode === 204 ? to : from)
    return statusCode
  }
  const all = ['listed', 'unlisted', 'private', 'rejected']
  for (const from of all) {
    for (const to of all) {
      const mayCreator = ['listed', 'unlisted'].includes(from) && ['listed', 'unlisted'].includes(to)
      assert.equal(await set(creator, from, to), mayCreator ? 204 : 403, `creator: ${from} to ${to}`)
      assert.equal(await set(moderator, from, to), 204, `moderator: ${from} to ${to}`)
    }
  }
})

test('only the creator edits and deletes; a moderator changes the status and nothing else; hidden is absent', async () => {
  const [stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  const { id } = await create(creator)
  const path = `/v3/collection/${id}`
  for (const person of [stranger, moderator, admin]) {
    assertError(await t.as(person).patch(path, { name: 'Taken' }), 403, 'unauthorized')
    assertError(await t.as(person).patch(path, { new_projects: [] }), 403, 'unauthorized')
    assertError(await t.as(person).delete(path), 403, 'unauthorized')
  }
  assertError(await t.as(stranger).patch(path, { status: 'unlisted' }), 403, 'unauthorized')
  assertError(await t.as(moderator).patch(path, { status: 'private', description: null }), 403, 'unauthorized')
  assert.equal((await read(id)).status, 'listed')
  await setStatus(id, 'private')
  assertError(await t.as(stranger).patch(path, { name: 'Taken' }), 404, 'not_found')
  assertError(await t.as(stranger).delete(path), 404, 'not_found')
  assertError(await t.as(stranger).patch('/v3/collection/zzzzzzzz', { name: 'Taken' }), 404, 'not_found')
  assertError(await t.as(stranger).patch('/v3/collection/not-an-id', { name: 'Taken' }), 400, 'decoding_error')
  assert.equal((await t.as(creator).patch(path, { name: 'Still mine' })).statusCode, 204)

  const weak = await t.make.pat(creator, scopes('COLLECTION_WRITE'))
  assertError(await t.as(weak).delete(path), 403, 'unauthorized')
  assertError(await t.as(await t.make.pat(creator, scopes('COLLECTION_DELETE'))).patch(path, {}), 403, 'unauthorized')
  assertError(await t.anyone.delete(path), 401, 'unauthorized')
  assert.equal((await t.as(creator).delete(path)).statusCode, 204)
  assertError(await t.as(creator).delete(path), 404, 'not_found')
})

test('two concurrent replacements of a list leave one complete list', async () => {
  const projects = await Promise.all(Array.from({ length: 20 }, () => make.project(undefined)))
  const ids = projects.map((project) => project.id)
  const { id } = await create(creator, { projects: ids })
  const lists = [ids.slice(0, 12), ids.slice(8).reverse()]
  const answers = await Promise.all(
    lists.map((new_projects) => t.as(creator).patch(`/v3/collection/${id}`, { new_projects })),
  )
  assert.deepEqual(statuses(answers), [204, 204])
  const left = (await read(id)).projects
  assert.ok(lists.some((list) => JSON.stringify(list) === JSON.stringify(left)))
})
