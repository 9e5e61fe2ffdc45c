// Claims of projects under review: making, extending, releasing, the next project, races and filters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationFactories } from '#test/support/factories/conversation-factories.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type Owned, scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })
const owner = await t.make.account()

const QUEUE = '/_internal/moderation/projects'
const claim = (who: Person, { id }: Owned) => t.as(who).put(`${QUEUE}/${id}/claim`)
const release = (who: Person, { id }: Owned) => t.as(who).delete(`${QUEUE}/${id}/claim`)
const next = (who: Person, body: object = {}) => t.as(who).post(`${QUEUE}/next`, body)
const listed = async (who: Person, query: Record<string, string>): Promise<string[]> => {
  const answer = await t.as(who).get(QUEUE, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().projects.map(({ id }: { id: string }) => id)
}

/** Empties the queue and puts this number of projects into it, oldest first. */
async function fillQueue(count: number): Promise<Owned[]> {
  await t.deps.db.updateTable('project').set({ status: 'rejected' }).where('status', '=', 'processing').execute()
  const projects: Owned[] = []
  for (let n = 0; n < count; n++) {
    const project = await make.project(owner, { status: 'processing' })
    const queued = new Date(Date.UTC(2026, 0, 1, 0, n))
    await t.deps.db.updateTable('project').set({ queued }).where('id', '=', project.id).execute()
    projects.push(project)
  }
  return projects
}

/** Lets the claim of a project expire. */
const expire = ({ id }: Owned) =>
  t.deps.db
    .updateTable('moderation_claim')
    .set({ until: new Date(0) })
    .where('project_id', '=', id)
    .execute()

test('a claim lasts 30 minutes, is shown in the queue and is extended by its holder', async () => {
  const [project] = (await fillQueue(1)) as [Owned]
  const first = await claim(mira, project)
  assert.equal(first.statusCode, 200, first.body)
  assert.deepEqual(first.json().claimed_by, { id: mira.id, username: 'mira' })
  const rest = Date.parse(first.json().claimed_until) - Date.now()
  assert.ok(rest > 25 * 60_000 && rest <= 30 * 60_000 + 5000, String(rest))
  const shown = (await t.as(jon).get(QUEUE)).json().projects[0]
  assert.deepEqual([shown.claimed_by, shown.claimed_until], [first.json().claimed_by, first.json().claimed_until])
  const again = await claim(mira, project)
  assert.ok(Date.parse(again.json().claimed_until) > Date.parse(first.json().claimed_until))
  const entries = (
    await t
      .as(await t.make.account({ role: 'admin' }))
      .get('/_internal/admin/audit-log', { query: { action: 'project.claimed', subject_id: project.id } })
  ).json().entries
  assert.equal(entries.length, 1, 'the audit log records the claim once')
})

test('another moderator cannot claim or release it, and learns who holds it', async () => {
  const [project] = (await fillQueue(1)) as [Owned]
  await claim(mira, project)
  for (const answer of [await claim(jon, project), await release(jon, project)]) {
    assertError(answer, 409, 'conflict')
    assert.equal(answer.json().details.claimed_by.username, 'mira')
  }
  assert.equal((await release(mira, project)).statusCode, 204)
  assert.equal((await release(mira, project)).statusCode, 204, 'without a claim')
  assert.equal((await claim(jon, project)).json().claimed_by.username, 'jon')
  await expire(project)
  assert.equal((await claim(mira, project)).json().claimed_by.username, 'mira', 'after it expired')
})

test('only projects under review can be claimed, and a decision ends the claim', async () => {
  const [project] = (await fillQueue(1)) as [Owned]
  await claim(mira, project)
  assert.equal((await t.as(jon).patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
  assertError(await claim(mira, project), 409, 'conflict')
  const rows = await t.deps.db.selectFrom('moderation_claim').selectAll().where('project_id', '=', project.id).execute()
  assert.deepEqual(rows, [])
  assertError(await t.as(mira).put(`${QUEUE}/Zzzzzzzz/claim`), 404, 'not_found')
})

test('the next project is the oldest one that nobody has claimed', async () => {
  const [first, second, third] = (await fillQueue(3)) as [Owned, Owned, Owned]
  await claim(jon, first)
  const answer = await next(mira)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual([answer.json().project.id, answer.json().project.position], [second.id, 2])
  assert.deepEqual(answer.json().project.claimed_by, { id: mira.id, username: 'mira' })
  assert.equal((await next(mira, { sort: 'newest' })).json().project.id, third.id)
  assert.deepEqual((await next(mira)).json(), { project: null })
  await expire(first)
  assert.equal((await next(mira)).json().project.id, first.id)
})

test('moderators who ask for the next project at the same time get different ones', async () => {
  const projects = await fillQueue(8)
  const answers = await Promise.all(projects.map((_, n) => next(n % 2 === 0 ? mira : jon)))
  const ids = answers.map((answer) => answer.json().project.id)
  assert.deepEqual(new Set(ids), new Set(projects.map(({ id }) => id)))
  const [project] = (await fillQueue(1)) as [Owned]
  const both = await Promise.all([claim(mira, project), claim(jon, project)])
  assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
})

test('the queue is filtered by claim, by the state of the scan and by earlier decisions', async () => {
  const [mine, others, free] = (await fillQueue(3)) as [Owned, Owned, Owned]
  await claim(mira, mine)
  await claim(jon, others)
  assert.deepEqual(await listed(mira, { claim: 'mine' }), [mine.id])
  assert.deepEqual(await listed(mira, { claim: 'others' }), [others.id])
  assert.deepEqual(await listed(mira, { claim: 'unassigned' }), [free.id])
  await expire(others)
  assert.deepEqual(await listed(mira, { claim: 'unassigned' }), [others.id, free.id])

  const version = await make.version(free.id, owner)
  await t.deps.db
    .insertInto('version_scan')
    .values({ version_id: version, state: 'quarantine', next_attempt: new Date(), requested: new Date() })
    .execute()
  assert.deepEqual(await listed(mira, { scan: 'quarantine' }), [free.id])
  assert.deepEqual(await listed(mira, { scan: 'warn' }), [])
  assert.deepEqual(await listed(mira, { scan: 'none' }), [mine.id, others.id])
})

test('a project that was decided on before is a repeated review', async () => {
  const [decided, fresh] = (await fillQueue(2)) as [Owned, Owned]
  const { projectThread } = conversationFactories(t.deps.db)
  for (const { id } of [decided, fresh]) {
    await projectThread(id)
    await make.version(id, owner)
  }
  const set = async (who: Person, { id }: Owned, status: string): Promise<void> => {
    assert.equal((await t.as(who).patch(`/v3/project/${id}`, { status })).statusCode, 204)
  }
  await set(mira, decided, 'rejected')
  await set(owner, decided, 'processing')
  assert.deepEqual(await listed(mira, { review: 'repeat' }), [decided.id])
  assert.deepEqual(await listed(mira, { review: 'first' }), [fresh.id])
})

test('claims are for moderators with PROJECT_WRITE', async () => {
  const [project] = (await fillQueue(1)) as [Owned]
  const reader = await t.make.pat(mira, scopeBits('ALL_BUT', 'PROJECT_WRITE'))
  for (const caller of [t.as(owner), t.as(reader)]) {
    assertError(await caller.put(`${QUEUE}/${project.id}/claim`), 403, 'unauthorized')
    assertError(await caller.delete(`${QUEUE}/${project.id}/claim`), 403, 'unauthorized')
    assertError(await caller.post(`${QUEUE}/next`, {}), 403, 'unauthorized')
  }
  assertError(await t.anyone.post(`${QUEUE}/next`, {}), 401, 'unauthorized')
  assertError(await next(mira, { project_type: 'song' }), 400, 'invalid_input', 'project_type')
  assertError(await next(mira, { sort: 'random' }), 400, 'validation_error', 'sort')
})
