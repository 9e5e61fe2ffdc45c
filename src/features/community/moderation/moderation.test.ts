import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type Owned, scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })
const owner = await t.make.account()

const PATH = '/_internal/moderation/projects'
const minute = (n: number): Date => new Date(Date.UTC(2026, 0, 1, 0, n))

/** Empties the queue and puts these projects into it, by the minutes at which they entered. */
async function queueOf(...entries: { at: number | null; published?: number; name?: string }[]): Promise<Owned[]> {
  await t.deps.db.updateTable('project').set({ status: 'rejected' }).where('status', '=', 'processing').execute()
  const projects: Owned[] = []
  for (const { at, published = 0, name = 'Lantern' } of entries) {
    const project = await make.project(owner, { status: 'processing' })
    await t.deps.db
      .updateTable('project')
      .set({ queued: at === null ? null : minute(at), published: minute(published), name })
      .where('id', '=', project.id)
      .execute()
    projects.push(project)
  }
  return projects
}

type Queue = { total: number; projects: { id: string; position: number; project_types: string[] }[] }
const queue = async (query: Call['query'] = {}): Promise<Queue> => {
  const answer = await t.as(moderator).get(PATH, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const places = ({ projects }: Queue) => projects.map(({ id, position }) => [id, position])
const found = async (query: Call['query']) => {
  const { total, projects } = await queue(query)
  return [total, projects.map(({ id }) => id)]
}

test('the queue holds what is under review, in the order of entering, with each project’s place', async () => {
  const [late, early, unmarked] = (await queueOf({ at: 30 }, { at: 10 }, { at: null, published: 20 })) as [
    Owned,
    Owned,
    Owned,
  ]
  await make.project(owner, { status: 'draft' })
  const all = await queue()
  assert.equal(all.total, 3)
  assert.deepEqual(places(all), [
    [early.id, 1],
    [unmarked.id, 2],
    [late.id, 3],
  ])
  assert.deepEqual(places(await queue({ sort: 'newest' })), [
    [late.id, 3],
    [unmarked.id, 2],
    [early.id, 1],
  ])
  assert.deepEqual(places(await queue({ count: 1, offset: 1 })), [[unmarked.id, 2]])
  const beyond = await queue({ offset: 3 })
  assert.deepEqual([beyond.total, beyond.projects], [3, []])
  const second = await t.as(moderator).get(`/v2${PATH}`)
  assert.deepEqual(second.json(), all, 'the same under both prefixes')
})

test("an entry contains the data for a moderator's decision", async () => {
  const [project] = (await queueOf({ at: 10, published: 5 })) as [Owned]
  await make.version(project.id, owner)
  const organization = await make.organization(owner)
  const ofOrganization = await make.project(undefined, { status: 'processing', organization_id: organization.id })
  const { projects } = (await t.as(moderator).get(PATH)).json()
  const { updated, seen, owner_record, ...first } = projects[0]
  assert.match(seen, /^[0-9a-f]{32}\.\w*$/)
  assert.ok(Date.parse(updated) > 0)
  assert.deepEqual(first, {
    id: project.id,
    slug: project.slug,
    name: 'Lantern',
    summary: 'A small light',
    icon_url: null,
    status: 'processing',
    requested_status: null,
    queued: minute(10).toISOString(),
    published: minute(5).toISOString(),
    project_types: ['mod'],
    thread_id: null,
    position: 1,
    scans: [],
    scan_passed: false,
    ownership: { kind: 'user', id: owner.id, name: owner.username, icon_url: null },
    claimed_by: null,
    claimed_until: null,
    appeal: null,
    waits_for_reply: false,
  })
  const { created, ...record } = owner_record
  assert.ok(Date.parse(created) > 0)
  assert.deepEqual(record, { approved: 0, rejected: 0, reports: 0, downloads: 0, suspended: false, language: null })
  assert.equal(projects[1].id, ofOrganization.id)
  assert.deepEqual(projects[1].ownership, {
    kind: 'organization',
    id: organization.id,
    name: 'Makers of lanterns',
    icon_url: null,
  })
})

test('the list is narrowed by name, slug and type; places stay those of the whole queue', async () => {
  const [a, b, c] = (await queueOf(
    { at: 1, name: 'Red Lamp' },
    { at: 2, name: 'Blue_Lamp' },
    { at: 3, name: 'Torch' },
  )) as [Owned, Owned, Owned]
  await make.version(b.id, owner)
  await make.version(c.id, owner, 'draft')
  assert.deepEqual(await found({ query: ' LAMP ' }), [2, [a.id, b.id]])
  assert.deepEqual(await found({ query: c.slug.slice(3) }), [1, [c.id]])
  assert.deepEqual(await found({ query: 'd_l' }), [0, []], 'no pattern signs')
  assert.deepEqual(await found({ query: 'e_l' }), [1, [b.id]])
  assert.deepEqual(await found({ query: '%' }), [0, []])
  assert.deepEqual(await found({ query: ' ' }), [3, [a.id, b.id, c.id]])
  assert.deepEqual(await found({ project_type: 'mod' }), [1, [b.id]])
  assert.deepEqual(await found({ project_type: 'none' }), [2, [a.id, c.id]], 'drafts give no type')
  assert.deepEqual(await found({ project_type: 'modpack', query: 'lamp' }), [0, []])
  assert.deepEqual(places(await queue({ query: 'torch' })), [[c.id, 3]])
})

test('values outside their limits are rejected', async () => {
  const refused: [string, Call['query']][] = [
    ['count', { count: 201 }],
    ['count', { count: -1 }],
    ['offset', { offset: -1 }],
    ['sort', { sort: 'random' }],
    ['project_type', { project_type: 'song' }],
    ['query', { query: 'x'.repeat(257) }],
  ]
  for (const [field, query] of refused)
    assertError(await t.as(moderator).get(PATH, query === undefined ? {} : { query }), 400, 'invalid_input', field)
  assert.ok((await queue({ count: 200 })).total >= 0)
})

test('the queue is for moderators with PROJECT_READ', async () => {
  assertError(await t.anyone.get(PATH), 401, 'unauthorized')
  assertError(await t.as(owner).get(PATH), 403, 'unauthorized')
  assertError(
    await t.as(await t.make.pat(moderator, scopeBits('ALL_BUT', 'PROJECT_READ'))).get(PATH),
    403,
    'unauthorized',
  )
  assert.equal((await t.as(await t.make.pat(moderator, scopeBits('ONLY', 'PROJECT_READ'))).get(PATH)).statusCode, 200)
  assert.equal((await t.as(await t.make.account({ role: 'admin' })).get(PATH)).statusCode, 200)
})

test('the queue costs three statements whatever its length', async () => {
  await queueOf(...Array.from({ length: 50 }, (_, n) => ({ at: n })))
  await queue()
  for (const count of [2, 50]) {
    const { result, queries } = await t.queriesOf(() => queue({ count }))
    assert.deepEqual([result.projects.length, queries.length], [count, 3])
  }
})

test('members and moderators see a project’s place; others do not', async () => {
  const [first, second] = (await queueOf({ at: 1 }, { at: 2 })) as [Owned, Owned]
  const [member, invitee, stranger] = [await t.make.account(), await t.make.account(), await t.make.account()]
  await make.member(second.teamId, member)
  await make.member(second.teamId, invitee, { accepted: false })
  const place = (who: Person, project: Owned) => t.as(who).get(`/v3/project/${project.slug}/queue`)
  for (const person of [owner, member, moderator])
    assert.deepEqual((await place(person, second)).json(), { position: 2, total: 2 })
  assertError(await place(invitee, second), 403, 'unauthorized')
  assertError(await place(stranger, second), 404, 'not_found')
  assertError(await t.anyone.get(`/v3/project/${second.id}/queue`), 401, 'unauthorized')
  assertError(
    await t.as(await t.make.pat(owner, scopeBits('ALL_BUT', 'PROJECT_READ'))).get(`/v3/project/${second.id}/queue`),
    403,
    'unauthorized',
  )

  assert.equal((await t.as(moderator).patch(`/v3/project/${first.id}`, { status: 'approved' })).statusCode, 204)
  assert.deepEqual((await place(owner, second)).json(), { position: 1, total: 1 }, 'a review moves the others up')
  assert.deepEqual((await place(owner, first)).json(), { position: null, total: 1 })
  assertError(await place(stranger, first), 403, 'unauthorized')
})

test('a resubmitted project goes to the end of the queue', async () => {
  const [first, second] = (await queueOf({ at: 1 }, { at: 2 })) as [Owned, Owned]
  await make.version(first.id, owner)
  const set = (who: Person, status: string) => t.as(who).patch(`/v3/project/${first.id}`, { status })
  assert.equal((await set(moderator, 'rejected')).statusCode, 204)
  assert.equal((await set(owner, 'processing')).statusCode, 204)
  assert.deepEqual(places(await queue()), [
    [second.id, 1],
    [first.id, 2],
  ])
})
