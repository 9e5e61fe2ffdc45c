import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Client } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { CollectionView } from './views.ts'

const { t, make } = await teamApp()

/** A collection made by SQL; each is a day older than the one made before it. */
let made = 0
async function collection(owner: Person, status = 'listed', projectIds: readonly string[] = []): Promise<string> {
  const id = newId()
  made += 1
  const created = new Date(Date.UTC(2026, 0, 1) - made * DAY_MS)
  await t.deps.db
    .insertInto('collection')
    .values({
      id,
      account_id: owner.id,
      name: `Lights ${made}`,
      status: status as CollectionView['status'],
      created,
      updated: created,
    })
    .execute()
  if (projectIds.length > 0) {
    const rows = projectIds.map((project_id, position) => ({ collection_id: id, project_id, position }))
    await t.deps.db.insertInto('collection_project').values(rows).execute()
  }
  return id
}
const list = async (client: Client, path: string): Promise<CollectionView[]> => {
  const answer = await client.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const ids = (views: readonly CollectionView[]): string[] => views.map(({ id }) => id)
const named = (wanted: readonly string[]): string => `/v3/collections?ids=${encodeURIComponent(JSON.stringify(wanted))}`

test('listed and unlisted collections are public; only the creator and moderators see private and rejected ones', async () => {
  const [creator, stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  const listed = await collection(creator)
  const unlisted = await collection(creator, 'unlisted')
  const hidden = [await collection(creator, 'private'), await collection(creator, 'rejected')]
  const all = [listed, unlisted, ...hidden]
  const unread = await t.make.pat(creator, parseScopeNames('COLLECTION_WRITE').bits)

  for (const client of [t.anyone, t.as(stranger), t.as(unread), t.as({ token: 'dps_nonsense' })]) {
    for (const id of [listed, unlisted]) assert.equal((await client.get(`/v3/collection/${id}`)).statusCode, 200)
    for (const id of hidden) assertError(await client.get(`/v3/collection/${id}`), 404, 'not_found')
    assert.deepEqual(ids(await list(client, named(all))), [listed, unlisted])
    assert.deepEqual(ids(await list(client, `/v3/user/${creator.id}/collections`)), [listed])
  }
  for (const person of [creator, moderator, admin]) {
    for (const id of all) assert.equal((await t.as(person).get(`/v3/collection/${id}`)).statusCode, 200)
    assert.deepEqual(ids(await list(t.as(person), named(all))), all)
    assert.deepEqual(ids(await list(t.as(person), `/v3/user/${creator.username.toUpperCase()}/collections`)), all)
  }
})

test('each viewer finds the IDs of the projects that they can see, in the order of the creator', async () => {
  const [creator, mate, moderator] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
  ])
  const open = await make.project(mate)
  const draft = await make.project(mate, { status: 'draft' })
  const withheld = await make.project(mate, { status: 'withheld' })
  const everything = [withheld.id, draft.id, open.id]
  const id = await collection(creator, 'listed', everything)
  const read = async (client: Client) => (await client.get(`/v3/collection/${id}`)).json().projects
  assert.deepEqual(await read(t.anyone), [withheld.id, open.id])
  assert.deepEqual(await read(t.as(creator)), [withheld.id, open.id])
  assert.deepEqual(await read(t.as(mate)), everything)
  assert.deepEqual(await read(t.as(moderator)), everything)
  const unread = await t.make.pat(mate, parseScopeNames('COLLECTION_READ').bits)
  assert.deepEqual(await read(t.as(unread)), [withheld.id, open.id], 'without PROJECT_READ one is anybody')

  await t.deps.db.updateTable('project').set({ status: 'private' }).where('id', '=', open.id).execute()
  assert.deepEqual(await read(t.anyone), [withheld.id])
  await t.deps.db.deleteFrom('project').where('id', '=', withheld.id).execute()
  assert.deepEqual(await read(t.anyone), [])
  assert.deepEqual(await read(t.as(mate)), [draft.id, open.id])
})

test('lists by ID keep the order asked for, collapse duplicates and leave out what is unknown', async () => {
  const creator = await t.make.account()
  const [first, second] = [await collection(creator), await collection(creator)]
  assert.deepEqual(ids(await list(t.anyone, named([second, first, second, 'zzzzzzzz']))), [second, first])
  assert.deepEqual(await list(t.anyone, named([])), [])
  assertError(await t.anyone.get(named([first, 'not-an-id'])), 400, 'decoding_error', 'ids.1')
  assertError(await t.anyone.get('/v3/collections?ids=nonsense'), 400, 'invalid_input', 'ids')
  assertError(await t.anyone.get('/v3/collections?ids=[5]'), 400, 'invalid_input', 'ids.0')
  assertError(await t.anyone.get('/v3/collections'), 400, 'invalid_input', 'ids')
  const many = Array.from({ length: 1001 }, (_, index) => `a${index}`)
  assertError(await t.anyone.get(named(many)), 400, 'invalid_input', 'ids')
  assert.deepEqual(await list(t.anyone, named(many.slice(1))), [])
})

test('a collection is named by its ID alone; an unknown one is 404, an unknown user too', async () => {
  assertError(await t.anyone.get('/v3/collection/not-an-id'), 400, 'decoding_error', 'id')
  assertError(await t.anyone.get('/v3/collection/zzzzzzzz'), 404, 'not_found')
  assertError(await t.anyone.get('/v3/user/nobody-here/collections'), 404, 'not_found')
})

test('reads cost one query, for one collection as for fifty, for two projects as for a thousand', async () => {
  const creator = await t.make.account()
  const projects = await make.projects(1024)
  const small = await collection(creator, 'listed', projects.slice(0, 2))
  const large = await collection(creator, 'listed', projects)
  const others = []
  for (let i = 0; i < 50; i += 1) others.push(await collection(creator, 'listed', projects.slice(i, i + 5)))
  await t.anyone.get(`/v3/user/${creator.id}`)
  for (const path of [
    `/v3/collection/${small}`,
    `/v3/collection/${large}`,
    named([small]),
    named([large, ...others]),
    `/v3/user/${creator.id}/collections`,
  ]) {
    const { queries } = await t.queriesOf(() => list(t.anyone, path))
    assert.equal(queries.length, 1, path)
  }
  assert.deepEqual((await list(t.anyone, named([large])))[0]?.projects, projects)
})

test('an unchanged collection returns 304 to clients that have it, with a separate response for signed-in users', async () => {
  const creator = await t.make.account()
  const id = await collection(creator)
  const first = await t.anyone.get(`/v3/collection/${id}`)
  const again = await t.anyone.get(`/v3/collection/${id}`, { headers: { 'if-none-match': String(first.headers.etag) } })
  assert.deepEqual([first.statusCode, again.statusCode, again.body], [200, 304, ''])
  assert.match(String(first.headers['cache-control']), /^public/)
  assert.match(String((await t.as(creator).get(`/v3/collection/${id}`)).headers['cache-control']), /^private/)
})
