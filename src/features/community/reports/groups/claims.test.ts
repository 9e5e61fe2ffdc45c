// Claims of reported items: races, the next item, the end of a claim, and permissions.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())
const [ann, ben, subject] = await t.make.people(3)
const mira = await t.make.account({ role: 'moderator' })
const jon = await t.make.account({ role: 'moderator' })
const PATH = '/_internal/moderation/reports'

beforeEach(async () => {
  await t.deps.db.deleteFrom('report').execute()
  await t.deps.db.deleteFrom('report_claim').execute()
})

async function report(id: string, by = ann, report_type = 'spam'): Promise<string> {
  t.advance(1000)
  const answer = await t.as(by).post('/v3/report', { report_type, item_type: 'user', item_id: id, body: 'Look' })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
const claim = (who: { token: string }, id: string) => t.as(who).put(`${PATH}/${id}/claim`)
const release = (who: { token: string }, id: string) => t.as(who).delete(`${PATH}/${id}/claim`)
const next = (who: { token: string }, body: object = {}) => t.as(who).post(`${PATH}/next`, body)
const groups = async (query: Record<string, string> = {}) => (await t.as(mira).get(PATH, { query })).json().groups

test('a claim is about all reports of an item; one of two moderators gets it', async () => {
  const [first, second] = [await report(subject.id), await report(subject.id, ben)]
  const answers = await Promise.all([claim(mira, first), claim(jon, second)])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 409])
  const winner = answers[0]?.statusCode === 200 ? mira : jon
  const loser = winner === mira ? jon : mira
  const refused = await claim(loser, second)
  assertError(refused, 409, 'conflict')
  assert.equal(refused.json().details.claimed_by.id, winner.id)
  assertError(await release(loser, first), 409, 'conflict')
  const [group] = await groups()
  assert.equal(group.claimed_by.id, winner.id)
  assert.ok(Date.parse(group.claimed_until) > t.deps.now())
  assert.equal((await claim(winner, second)).statusCode, 200, 'extends it')
  const log = await t.as(mira).get('/_internal/moderation/log', { query: { action: 'report.claimed' } })
  assert.equal(log.json().entries.length, 1)
  assert.equal((await release(winner, first)).statusCode, 204)
  assert.equal((await groups())[0].claimed_by, null)
})

test('the next item is the one with the oldest unclaimed report that matches, and moderators get different items', async () => {
  const [old, middle] = [await report(subject.id), await report(ben.id, ann, 'malicious')]
  const both = await Promise.all([next(mira), next(jon)])
  assert.deepEqual(both.map((answer) => answer.json().report_id).sort(), [old, middle].sort())
  assert.deepEqual((await next(mira)).json(), { report_id: null })
  for (const each of [mira, jon]) for (const id of [old, middle]) await release(each, id)
  assert.equal((await next(mira, { report_type: 'malicious' })).json().report_id, middle)
  assert.deepEqual((await next(mira, { item_type: 'project' })).json(), { report_id: null })
  assert.equal((await groups({ claim: 'mine' })).length, 1)
  assert.equal((await groups({ claim: 'unassigned' })).length, 1)
  assert.equal((await groups({ claim: 'others' })).length, 0)
  assertError(await t.as(mira).get(PATH, { query: { claim: 'all' } }), 400, 'invalid_input', 'claim')
  assertError(await next(mira, { item_type: 'file' }), 400, 'validation_error', 'item_type')
})

test('closing the last open report ends the claim, and an expired claim can be taken over', async () => {
  const [first, second] = [await report(subject.id), await report(subject.id, ben)]
  await claim(mira, first)
  const close = (ids: string[]) => t.as(mira).post(`${PATH}/close`, { ids, outcome: 'action' })
  assert.equal((await close([first])).statusCode, 204)
  assert.equal((await groups())[0].claimed_by.id, mira.id)
  assert.equal((await t.as(mira).patch(`/v3/report/${second}`, { closed: true })).statusCode, 204)
  assert.equal((await groups({ state: 'closed' }))[0].claimed_by, null)
  assertError(await claim(mira, first), 409, 'conflict')
  const later = await report(subject.id)
  await claim(mira, later)
  await t.deps.db
    .updateTable('report_claim')
    .set({ until: new Date(0) })
    .execute()
  assert.equal((await groups())[0].claimed_by, null)
  assert.equal((await claim(jon, later)).statusCode, 200)
})

test('claims are for moderators', async () => {
  const id = await report(subject.id)
  for (const answer of [await claim(ann, id), await release(ann, id), await next(ann)])
    assertError(answer, 403, 'unauthorized')
  assertError(await t.anyone.put(`${PATH}/${id}/claim`), 401, 'unauthorized')
  assertError(await claim(mira, 'AAAAAAAA'), 404, 'not_found')
  assertError(await claim(mira, 'not-base62'), 400, 'decoding_error', 'id')
})
