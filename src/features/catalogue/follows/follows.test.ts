import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()

const follow = (person: { token: string }, name: string) => t.as(person).post(`/v3/project/${name}/follow`)
const unfollow = (person: { token: string }, name: string) => t.as(person).delete(`/v3/project/${name}/follow`)
const followers = async (name: string): Promise<number> => (await t.anyone.get(`/v3/project/${name}`)).json().followers
const follows = async (person: Person): Promise<string[]> => {
  const answer = await t.as(person).get(`/v3/user/${person.id}/follows`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().map(({ id }: { id: string }) => id)
}

test('following is counted immediately for everyone; following or unfollowing twice is rejected', async () => {
  const [owner, fan] = await Promise.all([t.make.account(), t.make.account()])
  const project = await make.project(owner)
  assert.equal(await followers(project.slug), 0)
  assert.equal((await follow(fan, project.slug.toUpperCase())).statusCode, 204)
  assert.equal(await followers(project.slug), 1)
  assertError(await follow(fan, project.id), 400, 'invalid_input')
  assert.equal(await followers(project.id), 1)
  assert.equal((await unfollow(fan, project.id)).statusCode, 204)
  assert.equal(await followers(project.slug), 0)
  assertError(await unfollow(fan, project.slug), 400, 'invalid_input')
  assert.equal(await followers(project.id), 0)
})

test('of many concurrent attempts by one user, exactly one follows and exactly one unfollows', async () => {
  const [owner, fan] = await Promise.all([t.make.account(), t.make.account()])
  const project = await make.project(owner)
  const tries = await Promise.all(Array.from({ length: 8 }, () => follow(fan, project.id)))
  assert.deepEqual(statuses(tries), [204, 400, 400, 400, 400, 400, 400, 400])
  assert.equal(await followers(project.id), 1)
  const leaving = await Promise.all(Array.from({ length: 8 }, () => unfollow(fan, project.id)))
  assert.deepEqual(statuses(leaving), [204, 400, 400, 400, 400, 400, 400, 400])
  assert.equal(await followers(project.id), 0)
})

test('the counter is correct after many users followed and unfollowed concurrently', async () => {
  const people = await t.make.people(12)
  const project = await make.project(undefined)
  await Promise.all(people.map((person) => follow(person, project.id)))
  await Promise.all(
    people.map((person, index) => (index % 2 === 0 ? unfollow(person, project.id) : follow(person, project.id))),
  )
  assert.equal(await followers(project.id), 6)
  await Promise.all(people.flatMap((person) => [follow(person, project.id), unfollow(person, project.id)]))
  const { count } = await t.deps.db
    .selectFrom('follow')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow()
  assert.equal(await followers(project.id), count)
})

test('following needs a token with USER_WRITE and a visible project', async () => {
  const [owner, fan] = await Promise.all([t.make.account(), t.make.account()])
  const draft = await make.project(owner, { status: 'draft' })
  assertError(await t.anyone.post(`/v3/project/${draft.id}/follow`), 401, 'unauthorized')
  assertError(await t.anyone.delete(`/v3/project/${draft.id}/follow`), 401, 'unauthorized')
  const reader = await t.make.pat(fan, parseScopeNames('USER_READ PROJECT_WRITE').bits)
  const refused = await follow(reader, draft.id)
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /USER_WRITE/)
  assertError(await follow(fan, draft.id), 404, 'not_found')
  assertError(await unfollow(fan, draft.id), 404, 'not_found')
  assertError(await follow(fan, 'no-such-project'), 404, 'not_found')
  assertError(await unfollow(fan, 'no-such-project'), 404, 'not_found')
  assert.equal((await follow(owner, draft.slug)).statusCode, 204)
})

test('a project that was hidden leaves the list of its followers, who can still leave it', async () => {
  const [owner, fan] = await Promise.all([t.make.account(), t.make.account()])
  const [first, second] = [await make.project(owner), await make.project(owner)]
  for (const { id } of [first, second]) assert.equal((await follow(fan, id)).statusCode, 204)
  assert.deepEqual(await follows(fan), [second.id, first.id], 'the last followed first')
  assert.equal((await t.as(owner).patch(`/v3/project/${first.id}`, { status: 'private' })).statusCode, 204)
  assert.deepEqual(await follows(fan), [second.id])
  assert.equal((await unfollow(fan, first.id)).statusCode, 204)
  assertError(await unfollow(fan, first.id), 404, 'not_found')
  const { followers: left } = (await t.as(owner).get(`/v3/project/${first.id}`)).json()
  assert.equal(left, 0)
})

test('only the user and admins see followed projects', async () => {
  const [fan, stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  const project = await make.project(undefined)
  await follow(fan, project.id)
  const path = `/v3/user/${fan.username}/follows`
  assertError(await t.anyone.get(path), 401, 'unauthorized')
  assertError(await t.as(await t.make.pat(fan, parseScopeNames('USER_WRITE').bits)).get(path), 403, 'unauthorized')
  for (const person of [stranger, moderator]) assertError(await t.as(person).get(path), 403, 'unauthorized')
  assertError(await t.as(admin).get('/v3/user/nobody-here/follows'), 404, 'not_found')
  for (const person of [fan, admin]) {
    const answer = await t.as(person).get(path)
    assert.deepEqual([answer.statusCode, answer.json().length], [200, 1])
    assert.match(String(answer.headers['cache-control']), /^private/)
  }
})

test('a token without PROJECT_READ lists only public followed projects', async () => {
  const owner = await t.make.account()
  const [open, draft] = [await make.project(owner), await make.project(owner, { status: 'draft' })]
  await follow(owner, open.id)
  await follow(owner, draft.id)
  assert.deepEqual(await follows(owner), [draft.id, open.id])
  const reader = await t.make.pat(owner, parseScopeNames('USER_READ').bits)
  assert.deepEqual(await follows({ ...owner, ...reader }), [open.id])
})

test('the list costs as many queries for fifty projects as for two', async () => {
  const fan = await t.make.account()
  const projects = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      make.project(undefined, { status: index % 5 === 0 ? 'private' : 'approved' }),
    ),
  )
  const followAll = (some: typeof projects) =>
    t.deps.db
      .insertInto('follow')
      .values(some.map(({ id }) => ({ account_id: fan.id, project_id: id })))
      .execute()
  await followAll(projects.slice(0, 2))
  const few = await t.queriesOf(() => follows(fan))
  await followAll(projects.slice(2))
  const many = await t.queriesOf(() => follows(fan))
  assert.deepEqual([few.result.length, many.result.length], [1, 40])
  assert.ok(many.queries.length <= few.queries.length, `${many.queries.length} queries`)
  assert.ok(many.queries.length <= 3)
})
