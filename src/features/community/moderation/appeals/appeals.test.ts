// Appeals: who can appeal, once per decision; who decides; queue, thread, notifications and undo.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()
const mira = await t.make.account({ role: 'moderator' })
const jon = await t.make.account({ role: 'moderator' })
const admin = await t.make.account({ role: 'admin' })
const QUEUE = '/_internal/moderation/projects'
const TEXT = 'The licence allows this.'

beforeEach(() => t.deps.db.deleteFrom('project').execute())

/** A project that mira has just rejected or withheld. */
async function decided(status = 'rejected', by: Person = mira): Promise<string> {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.make.version({ project })
  assert.equal((await set(by, project.id, status)).statusCode, 204)
  return project.id
}
const set = (who: Person, id: string, status: string) => t.as(who).patch(`/v3/project/${id}`, { status })
const appeal = (who: Person, id: string, body: unknown = TEXT) => t.as(who).post(`/v3/project/${id}/appeal`, { body })
const stateOf = async (id: string, who: Person = owner) => (await t.as(who).get(`/v3/project/${id}/appeal`)).json()
const reject = (who: Person, id: string, more: object = {}) =>
  t.as(who).post(`${QUEUE}/${id}/appeal/reject`, { message: 'It does not.', ...more })
async function appealed(status = 'rejected', by: Person = mira): Promise<string> {
  const id = await decided(status, by)
  const answer = await appeal(owner, id)
  assert.equal(answer.statusCode, 204, answer.body)
  return id
}
async function queue(who: Person = jon, query: Record<string, string> = {}) {
  const answer = await t.as(who).get(QUEUE, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().projects as Record<string, unknown>[]
}
async function messages(id: string, who: Person = owner) {
  const { thread_id: thread } = (await t.as(owner).get(`/v3/project/${id}`)).json()
  return (await t.as(who).get(`/v3/thread/${thread}`)).json().messages as {
    body: Record<string, unknown>
    appeal?: string
  }[]
}
const notifications = async () =>
  (await t.as(owner).get(`/v3/user/${owner.id}/notifications`)).json().map(({ body }: { body: object }) => body)

test('a member appeals once, and the project enters the queue with its status', async () => {
  const id = await decided('withheld')
  assert.deepEqual((await stateOf(id)).appeal, null)
  assert.equal((await stateOf(id)).possible, true)
  const place = async () => (await t.as(owner).get(`/v3/project/${id}/queue`)).json().position
  assert.equal(await place(), null)
  const [first, second] = await Promise.all([appeal(owner, id), appeal(owner, id)])
  assert.deepEqual([first.statusCode, second.statusCode].toSorted(), [204, 409])
  assertError(await appeal(owner, id), 409, 'conflict')
  const { possible, decision, appeal: made } = await stateOf(id)
  assert.deepEqual([possible, decision.status, made.outcome, made.closed], [false, 'withheld', null, null])
  assert.deepEqual(await stateOf(id, jon), await stateOf(id), 'moderators see the same')
  const [row] = await queue()
  assert.deepEqual(
    [row?.['id'], row?.['status'], row?.['appeal']],
    [id, 'withheld', { created: made.created, text: TEXT, decided_by: { id: mira.id, username: mira.username } }],
  )
  assert.equal(await place(), 1)
  assert.equal((await t.anyone.get(`/v3/project/${id}`)).statusCode, 200, 'a withheld project stays public')
  const posted = (await messages(id)).at(-1)
  assert.equal(posted?.appeal, 'made')
  const body = { type: 'text', body: TEXT, private: false, replying_to: null, associated_images: [] }
  assert.deepEqual(posted?.body, body)
  assert.deepEqual((await t.as(jon).get('/_internal/moderation/threads')).json().threads, [], 'the queue has it')
})

test('only members with EDIT_DETAILS appeal, a decision of a moderator, with a text', async () => {
  const id = await decided()
  const [helper, stranger] = [await t.make.account(), await t.make.account()]
  const { team_id: teamId } = await t.deps.db
    .selectFrom('project')
    .select('team_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await t.make.member({ teamId, accountId: helper.id, permissions: 1, accepted: true })
  for (const who of [helper, jon, admin]) assertError(await appeal(who, id), 403, 'unauthorized')
  assertError(await appeal(stranger, id), 404, 'not_found')
  assertError(await t.as(stranger).get(`/v3/project/${id}/appeal`), 404, 'not_found')
  assertError(await t.anyone.post(`/v3/project/${id}/appeal`, { body: TEXT }), 401, 'unauthorized')
  for (const body of ['', ' \u200b', 'x'.repeat(8193), 5])
    assertError(await appeal(owner, id, body), 400, 'validation_error', 'body')
  assert.equal((await appeal(owner, id, 'x'.repeat(8192))).statusCode, 204)
  for (const status of ['draft', 'approved', 'processing']) {
    const { id: other } = await t.make.project({ owner, status })
    assertError(await appeal(owner, other), 409, 'conflict')
  }
  const withheld = await decided('withheld')
  const visitor = await t.as(stranger).get(`/v3/project/${withheld}/appeal`)
  assertError(visitor, 403, 'unauthorized')
})

test('the decider cannot claim or refuse the appeal, and the next button skips it', async () => {
  const id = await appealed()
  const next = async (who: Person) => (await t.as(who).post(`${QUEUE}/next`, {})).json().project?.id
  assert.equal((await queue(mira))[0]?.['id'], id, 'the decider sees it')
  assert.equal(await next(mira), undefined)
  assertError(await t.as(mira).put(`${QUEUE}/${id}/claim`), 403, 'unauthorized')
  assertError(await reject(mira, id), 403, 'unauthorized')
  assertError(await set(mira, id, 'withheld'), 403, 'unauthorized')
  assert.equal(await next(jon), id)
  assert.equal((await reject(jon, id)).statusCode, 204)
  assert.equal((await stateOf(id)).appeal.outcome, 'rejected')
  assert.deepEqual(await queue(), [])
})

test('the decider can give in, operators can decide, and so can the only moderator', async () => {
  const own = await appealed()
  t.advance(6 * 60_000)
  assert.equal((await set(mira, own, 'approved')).statusCode, 204)
  const byAdmin = await appealed('rejected', admin)
  assert.equal((await reject(admin, byAdmin)).statusCode, 204)
  const staff = t.deps.db.updateTable('account').where('id', 'in', [jon.id, admin.id])
  await staff.set({ suspended_at: new Date(), suspension_reason: 'Away' }).execute()
  const alone = await appealed()
  assert.equal((await t.as(mira).post(`${QUEUE}/next`, {})).json().project?.id, alone)
  assert.equal((await reject(mira, alone)).statusCode, 204)
  await staff.set({ suspended_at: null, suspension_reason: null }).execute()
})

test('a rejected appeal keeps the decision, answers in the thread and notifies the members', async () => {
  const id = await appealed()
  const { seen } = (await t.as(jon).get(`${QUEUE}/${id}/changes`)).json()
  assertError(await reject(jon, id, { message: ' ' }), 400, 'validation_error', 'message')
  assertError(await reject(jon, id, { seen: 'old' }), 409, 'conflict')
  const answers = await Promise.all([reject(jon, id, { seen }), reject(admin, id, { seen })])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  assertError(await reject(jon, id), 409, 'conflict')
  const last = (await messages(id)).at(-1)
  assert.deepEqual([last?.body['body'], last?.appeal], ['It does not.', 'rejected'])
  assert.ok((await notifications()).some(({ type }: { type: string }) => type === 'moderator_message'))
  assertError(await appeal(owner, id), 409, 'conflict')
  const log = await t.as(admin).get('/_internal/admin/audit-log', { query: { subject_id: id } })
  const actions = log.json().entries.map(({ action }: { action: string }) => action)
  assert.deepEqual(actions.slice(0, 2), ['project.appeal_rejected', 'project.appealed'])
  assert.equal((await set(owner, id, 'processing')).statusCode, 204, 'a resubmission stays possible')
})

test('a changed decision accepts the appeal; undoing it opens the appeal again; a new decision can be appealed', async () => {
  const id = await appealed()
  assert.equal((await set(jon, id, 'approved')).statusCode, 204)
  assert.equal((await messages(id)).at(-1)?.appeal, 'accepted')
  assert.deepEqual(await stateOf(id), { possible: false, decision: null, appeal: null })
  assert.equal((await set(jon, id, 'rejected')).statusCode, 204)
  assert.equal((await stateOf(id)).appeal.outcome, null)
  assert.equal((await queue())[0]?.['id'], id)
  assert.equal((await set(jon, id, 'withheld')).statusCode, 204)
  assert.equal((await stateOf(id)).possible, true)
  assert.equal((await appeal(owner, id)).statusCode, 204)
  assertError(await reject(jon, id), 403, 'unauthorized')
  assert.equal((await reject(mira, id)).statusCode, 204)
})

test('messages of decisions are in the thread before the status, also of an accepted appeal; undo removes them', async () => {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.make.version({ project })
  const { id } = project
  const decide = (who: Person, body: object) => t.as(who).patch(`/v3/project/${id}`, body)
  const read = async () =>
    (await messages(id)).map(({ body, appeal }) => appeal ?? body['body'] ?? `to ${body['new_status']}`)
  const size = async () =>
    (await t.deps.db.selectFrom('thread').select('size_bytes').where('project_id', '=', id).executeTakeFirst())
      ?.size_bytes
  const before = await size()
  const details = `${'ä'.repeat(2000)} and more`
  const long = { moderation_message: `${'ä'.repeat(1999)}…`, moderation_message_body: details }
  assert.equal((await decide(mira, { status: 'rejected', ...long })).statusCode, 204)
  assert.deepEqual(await read(), [details, 'to rejected'], 'the details repeat the start')
  assert.equal((await set(mira, id, 'processing')).statusCode, 204)
  assert.deepEqual(await read(), [])
  assert.equal(await size(), before)
  const short = { moderation_message: 'Copy of Lantern.', moderation_message_body: '**No**' }
  assert.equal((await decide(mira, { status: 'rejected', ...short })).statusCode, 204)
  assert.equal((await appeal(owner, id)).statusCode, 204)
  const accepted = { status: 'approved', moderation_message: 'You are right.' }
  assert.equal((await decide(jon, accepted)).statusCode, 204)
  const all = ['Copy of Lantern.\n\n**No**', 'to rejected', 'made', 'You are right.', 'accepted']
  assert.deepEqual(await read(), all)
  assert.deepEqual((await messages(id, jon)).length, all.length)
  assert.equal((await set(jon, id, 'rejected')).statusCode, 204)
  assert.deepEqual(await read(), all.slice(0, 3))
  assert.equal((await queue())[0]?.['waits_for_reply'], false)
  assert.equal((await decide(jon, { ...accepted, moderation_message: ' ' })).statusCode, 204)
  assert.deepEqual(await read(), [...all.slice(0, 3), 'accepted'], 'a blank message is not posted')
})

test('submitting again withdraws the appeal, and a decision with an appeal cannot be undone', async () => {
  const again = await appealed()
  assert.equal((await set(owner, again, 'processing')).statusCode, 204)
  assert.deepEqual(
    (await queue()).map(({ id, appeal }) => [id, appeal]),
    [[again, null]],
  )
  const row = await t.deps.db
    .selectFrom('project_appeal')
    .select('outcome')
    .where('project_id', '=', again)
    .executeTakeFirst()
  assert.equal(row?.outcome, 'withdrawn')
  const kept = await appealed()
  assertError(await set(mira, kept, 'processing'), 409, 'conflict')
  assert.equal((await reject(jon, kept)).statusCode, 204)
  assertError(await set(mira, kept, 'processing'), 409, 'conflict')
  const undone = await decided()
  assert.equal((await set(mira, undone, 'processing')).statusCode, 204)
  assert.equal((await stateOf(undone)).decision, null)
  assert.equal((await set(jon, undone, 'rejected')).statusCode, 204)
  assert.equal((await stateOf(undone)).possible, true)
})

test('the queue can be filtered by appeals and by projects that were submitted again', async () => {
  const first = await t.make.project({ owner, status: 'processing' })
  const open = await appealed()
  const again = await decided()
  assert.equal((await set(owner, again, 'processing')).statusCode, 204)
  const ids = async (review: string) => (await queue(jon, { review })).map(({ id }) => id)
  assert.deepEqual([await ids('appeal'), await ids('repeat'), await ids('first')], [[open], [again], [first.id]])
  assert.equal((await queue()).length, 3)
  assertError(await t.as(jon).get(QUEUE, { query: { review: 'second' } }), 400, 'invalid_input', 'review')
  const next = await t.as(jon).post(`${QUEUE}/next`, { review: 'appeal' })
  assert.equal(next.json().project.id, open)
})
