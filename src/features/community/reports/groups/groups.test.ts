// Reports by item, closing several of them, and the filters of the list.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError, mailsTo } from '#test/support/http/account-steps.ts'

const { t, talk } = await teamApp()
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })
beforeEach(() => t.deps.db.deleteFrom('report').execute())

const GROUPS = '/_internal/moderation/reports'
const close = (who: Person | { token: string }, body: object) => t.as(who).post(`${GROUPS}/close`, body)
const report = async (id: string) => (await t.as(mira).get(`/v3/report/${id}`)).json()
async function groups(query: Record<string, string | number> = {}) {
  const answer = await t.as(mira).get(GROUPS, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
async function make(reporter: Person, item_type: string, item_id: string, report_type = 'spam'): Promise<string> {
  const answer = await t.as(reporter).post('/v3/report', { report_type, item_type, item_id, body: 'Look' })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

test('reports are grouped by item, with reasons, times and the record of the reporters', async () => {
  const [ann, ben, subject] = await t.make.people(3)
  const project = await t.make.project({ name: 'Lantern' })
  const version = await t.make.version({ project, version_number: '2.0.0' })
  const first = await make(ann, 'project', project.id)
  await make(ben, 'project', project.id, 'malicious')
  await make(ben, 'project', project.id)
  await make(ben, 'version', version.id)
  await make(ann, 'user', subject.id)
  assert.equal((await close(mira, { ids: [first], outcome: 'action' })).statusCode, 204)

  const found = await groups()
  assert.deepEqual([found.total, found.open, found.closed], [3, 4, 1])
  const names = found.groups.map((each: { item: { name: string } }) => each.item.name)
  assert.deepEqual(names, ['Lantern', 'Lantern 2.0.0', subject.username])
  const [group] = (await groups({ state: 'all' })).groups
  assert.deepEqual([group.item_type, group.item_id, group.reports, group.open], ['project', project.id, 3, 2])
  assert.deepEqual(group.item, { name: 'Lantern', status: 'approved', project_id: project.id, slug: project.slug })
  assert.deepEqual(group.types, [
    { type: 'spam', count: 2 },
    { type: 'malicious', count: 1 },
  ])
  assert.ok(group.first < group.open_since && group.open_since < group.latest)
  assert.deepEqual(group.reporters, [
    { id: ben.id, username: ben.username, reports: 3, closed: 0, action: 0 },
    { id: ann.id, username: ann.username, reports: 2, closed: 1, action: 1 },
  ])
  assert.equal(group.reporter_count, 2)
})

test('groups are filtered by state, kind and reason, and paged; a deleted item stays in the list', async () => {
  const [ann, subject] = await t.make.people(2)
  const project = await t.make.project()
  await make(ann, 'project', project.id, 'malicious')
  const closed = await make(ann, 'user', subject.id)
  await close(mira, { ids: [closed], outcome: 'no_action' })
  const items = async (query: Record<string, string | number>) =>
    (await groups(query)).groups.map(({ item_id }: { item_id: string }) => item_id)
  assert.deepEqual(await items({}), [project.id])
  assert.deepEqual(await items({ state: 'closed' }), [subject.id])
  assert.deepEqual(await items({ state: 'all' }), [project.id, subject.id])
  assert.deepEqual(await items({ state: 'all', item_type: 'user' }), [subject.id])
  assert.deepEqual(await items({ state: 'all', report_type: 'malicious' }), [project.id])
  assert.deepEqual(await items({ state: 'all', count: 1, offset: 1 }), [subject.id])
  assert.equal((await t.as(project.owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  const [group] = (await groups()).groups
  assert.deepEqual([group.item_id, group.item], [project.id, null])
  for (const [field, value] of [
    ['state', 'new'],
    ['item_type', 'song'],
    ['count', 101],
    ['offset', -1],
  ] as const)
    assertError(await t.as(mira).get(GROUPS, { query: { [field]: value } }), 400, 'invalid_input', field)
})

test('10,000 reports need the same number of statements as one', async () => {
  const [ann, ben] = await t.make.people(2)
  await make(ann, 'user', ben.id)
  const read = () => t.queriesOf(() => groups({ count: 100 }))
  await read()
  const few = await read()
  const rows = Array.from({ length: 10_000 }, (_, n) => ({
    id: newId(),
    report_type: n % 3 === 0 ? 'spam' : 'malicious',
    item_type: 'project' as const,
    item_id: `item${n % 500}`,
    reporter_id: n % 2 === 0 ? ann.id : ben.id,
    body: 'Look',
  }))
  for (let n = 0; n < rows.length; n += 2_000) {
    await t.deps.db
      .insertInto('report')
      .values(rows.slice(n, n + 2_000))
      .execute()
  }
  const many = await read()
  assert.equal(many.queries.length, few.queries.length)
  assert.deepEqual([many.result.total, many.result.open, many.result.groups.length], [501, 10_001, 100])
})

test('reports about one item are closed together, with a message to each reporter', async () => {
  const [ann, ben, subject] = await t.make.people(3)
  const ids = [await make(ann, 'user', subject.id), await make(ben, 'user', subject.id)]
  const body = { ids, outcome: 'action', message: 'Thank you. We removed **the text**.' }
  assert.equal((await close(mira, body)).statusCode, 204)
  for (const [index, reporter] of [ann, ben].entries()) {
    const found = await report(ids[index] ?? '')
    assert.deepEqual([found.closed, found.outcome], [true, 'action'])
    const { messages } = (await t.as(reporter).get(`/v3/thread/${found.thread_id}`)).json()
    const shown = messages.map((each: { body: { type: string; body?: string }; author_id: string | null }) => [
      each.body.type,
      each.body.body,
      each.author_id,
    ])
    assert.deepEqual(shown, [
      ['text', body.message, null],
      ['thread_closure', undefined, null],
    ])
    assert.ok((await talk.notificationsOf(reporter)).some(({ type }) => type === 'moderator_message'))
  }
  await t.runJobs()
  assert.equal((await mailsTo(t, ann.email, /was closed$/)).length, 1)
  assert.equal((await t.as(mira).patch(`/v3/report/${ids[0]}`, { closed: false })).statusCode, 204)
  const reopened = await report(ids[0] ?? '')
  assert.deepEqual([reopened.closed, reopened.outcome, reopened.closed_at], [false, null, null])
})

test('closing is all or nothing: another item, an unknown ID or a closed report changes nothing', async () => {
  const [ann, one, two] = await t.make.people(3)
  const [a, b, other] = [
    await make(ann, 'user', one.id),
    await make(ann, 'user', one.id),
    await make(ann, 'user', two.id),
  ]
  const outcome = 'no_action'
  assertError(await close(mira, { ids: [a, other], outcome }), 400, 'validation_error', 'ids')
  assertError(await close(mira, { ids: [a, newId()], outcome }), 400, 'validation_error', 'ids.1')
  assertError(await close(mira, { ids: [a, a], outcome }), 400, 'validation_error', 'ids')
  assertError(await close(mira, { ids: [], outcome }), 400, 'validation_error', 'ids')
  assertError(await close(mira, { ids: [a] }), 400, 'validation_error', 'outcome')
  assertError(await close(mira, { ids: [a], outcome: 'fun' }), 400, 'validation_error', 'outcome')
  assertError(await close(mira, { ids: [a], outcome, message: ' ' }), 400, 'validation_error', 'message')
  assert.equal((await close(jon, { ids: [b], outcome })).statusCode, 204)
  const late = await close(mira, { ids: [a, b], outcome, message: 'Closed' })
  assertError(late, 409, 'conflict')
  assert.deepEqual(late.json().details.closed, [b])
  const { closed, thread_id } = await report(a)
  assert.equal(closed, false)
  assert.deepEqual((await t.as(mira).get(`/v3/thread/${thread_id}`)).json().messages, [])
})

test('of two moderators who close the same report at the same time, one learns of the other', async () => {
  const [ann, subject] = await t.make.people(2)
  const ids = [await make(ann, 'user', subject.id), await make(ann, 'user', subject.id)]
  const answers = await Promise.all([
    close(mira, { ids, outcome: 'action' }),
    close(jon, { ids: ids.toReversed(), outcome: 'no_action' }),
  ])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  const { thread_id } = await report(ids[0] ?? '')
  assert.equal((await t.as(mira).get(`/v3/thread/${thread_id}`)).json().messages.length, 1)
})

test('the outcome belongs to closed reports and to moderators; reporters see it', async () => {
  const [ann, subject] = await t.make.people(2)
  const id = await make(ann, 'user', subject.id)
  const patch = (who: Person, body: object) => t.as(who).patch(`/v3/report/${id}`, body)
  assertError(await patch(mira, { outcome: 'action' }), 400, 'validation_error', 'outcome')
  assertError(await patch(ann, { outcome: 'action' }), 403, 'unauthorized')
  assertError(await patch(mira, { closed: true, outcome: 'maybe' }), 400, 'validation_error', 'outcome')
  assert.equal((await patch(mira, { closed: true, outcome: 'no_action' })).statusCode, 204)
  assert.equal((await patch(mira, { outcome: 'action' })).statusCode, 204)
  const seen = (await t.as(ann).get(`/v3/report/${id}`)).json()
  assert.deepEqual([seen.closed, seen.outcome], [true, 'action'])
  assert.ok(Date.parse(seen.closed_at) > 0)
  const list = async (query: Record<string, string>) =>
    (await t.as(ann).get('/v3/report', { query })).json().map((each: { id: string }) => each.id)
  assert.deepEqual(await list({}), [])
  assert.deepEqual(await list({ state: 'closed' }), [id])
  assert.deepEqual(await list({ state: 'all', item_type: 'user', item_id: subject.id, report_type: 'spam' }), [id])
  assert.deepEqual(await list({ state: 'all', item_id: ann.id }), [])
})

test('groups and closing are for moderators with the scopes of reports', async () => {
  const [ann, subject] = await t.make.people(2)
  const body = { ids: [await make(ann, 'user', subject.id)], outcome: 'action' }
  const reader = await t.make.pat(mira, scopeBits('ALL_BUT', 'REPORT_WRITE'))
  for (const who of [ann, reader]) assertError(await close(who, body), 403, 'unauthorized')
  assertError(await t.as(ann).get(GROUPS), 403, 'unauthorized')
  assertError(await t.anyone.get(GROUPS), 401, 'unauthorized')
  assertError(await t.anyone.post(`${GROUPS}/close`, body), 401, 'unauthorized')
  assert.equal((await t.as(reader).get(GROUPS)).statusCode, 200)
})
