import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProjectStatus } from '#taxonomy/project-status.ts'
import type { ThreadView } from '#test/support/factories/conversation-factories.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

const send = (who: Person | { token: string }, threadId: string, body: unknown) =>
  t.as(who).post(`/v3/thread/${threadId}`, { body })
const say = (who: Person, threadId: string, text = 'Hello') => send(who, threadId, { type: 'text', body: text })
const read = async (who: Person, threadId: string): Promise<ThreadView> =>
  (await t.as(who).get(`/v3/thread/${threadId}`)).json()
const messageCount = async (threadId: string): Promise<number> => (await read(moderator, threadId)).messages.length

test('a message needs a text within its limits, of the type for users', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  const refused = async (body: unknown, field: string) =>
    assertError(await send(reporter, threadId, body), 400, 'validation_error', field)
  await refused({ type: 'status_change', body: 'x', old_status: 'draft', new_status: 'approved' }, 'body.type')
  await refused({ type: 'deleted', body: 'x' }, 'body.type')
  await refused({ type: 'text' }, 'body.body')
  await refused({ type: 'text', body: 5 }, 'body.body')
  await refused({ type: 'text', body: ' \u200b\n' }, 'body.body')
  await refused({ type: 'text', body: 'x'.repeat(65_537) }, 'body.body')
  await refused({ type: 'text', body: 'x', private: 'yes' }, 'body.private')
  await refused({ type: 'text', body: 'x', associated_images: Array(11).fill('a') }, 'body.associated_images')
  await refused({ type: 'text', body: 'x', associated_images: ['unknown0'] }, 'body.associated_images.0')
  await refused({ type: 'text', body: 'x', replying_to: 'not-base62' }, 'body.replying_to')
  await refused(undefined, 'body')
  assert.equal(await messageCount(threadId), 0, 'nothing of it is stored')
  assert.equal((await say(reporter, threadId, 'x'.repeat(65_536))).statusCode, 204)
  assert.equal(
    (await send(reporter, threadId, { type: 'text', body: 'y', private: null, replying_to: null })).statusCode,
    204,
  )
  assert.equal(await messageCount(threadId), 2)
})

test('writing needs a token with THREAD_WRITE and a thread that is the caller’s to read', async () => {
  const [reporter, stranger] = [await t.make.account(), await t.make.account()]
  const { threadId } = await talk.report(reporter)
  const body = { body: { type: 'text', body: 'Hi' } }
  assertError(await t.anyone.post(`/v3/thread/${threadId}`, body), 401, 'unauthorized')
  const pat = await t.make.pat(reporter, scopeBits('ALL_BUT', 'THREAD_WRITE'))
  assertError(await t.as(pat).post(`/v3/thread/${threadId}`, body), 403, 'unauthorized')
  assertError(await t.as(pat).delete('/v3/message/unknown0'), 403, 'unauthorized')
  assertError(await say(stranger, threadId), 404, 'not_found')
  assertError(await say(reporter, 'unknown0'), 404, 'not_found')
  assertError(await say(reporter, 'not-base62'), 400, 'decoding_error', 'id')
  const only = await t.make.pat(reporter, scopeBits('ONLY', 'THREAD_WRITE'))
  assert.equal((await t.as(only).post(`/v3/thread/${threadId}`, body)).statusCode, 204)
})

test('only moderators write privately', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  assertError(await send(reporter, threadId, { type: 'text', body: 'psst', private: true }), 403, 'unauthorized')
  assert.equal(await messageCount(threadId), 0)
})

test('an answer names a message of the same thread that its author reads', async () => {
  const reporter = await t.make.account()
  const [here, there] = [await talk.report(reporter), await talk.report(reporter)]
  const first = await talk.message(here.threadId, reporter)
  const elsewhere = await talk.message(there.threadId, reporter)
  const hidden = await talk.message(here.threadId, moderator, { private: true })
  const reply = (who: Person, to: string) => send(who, here.threadId, { type: 'text', body: 'Yes', replying_to: to })
  for (const target of [elsewhere, hidden, 'unknown0'])
    assertError(await reply(reporter, target), 400, 'validation_error', 'body.replying_to')
  assert.equal((await reply(reporter, first)).statusCode, 204)
  assert.equal((await reply(moderator, hidden)).statusCode, 204)
  const replies = (await read(moderator, here.threadId)).messages.map(({ body }) => body.replying_to)
  assert.deepEqual(replies, [null, null, first, hidden])
})

test('a reporter writes nothing into a closed report, moderators do', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter, { closed: true })
  assertError(await say(reporter, threadId), 400, 'invalid_input')
  assert.equal((await say(moderator, threadId)).statusCode, 204)
})

test('a moderator’s message to a project notifies its accepted members, unless it is private or the project is under review', async () => {
  const [owner, member, invitee, head] = await t.make.people(4)
  const organization = await make.organization(head)
  const project = await make.project(owner, { status: 'rejected', organization_id: organization.id })
  await make.member(project.teamId, member)
  await make.member(project.teamId, invitee, { accepted: false })
  const threadId = await talk.projectThread(project.id)
  const status = (value: ProjectStatus) =>
    t.deps.db.updateTable('project').set({ status: value }).where('id', '=', project.id).execute()

  assert.equal((await say(owner, threadId)).statusCode, 204)
  assert.equal((await send(moderator, threadId, { type: 'text', body: 'hm', private: true })).statusCode, 204)
  await status('processing')
  assert.equal((await say(moderator, threadId)).statusCode, 204)
  for (const person of [owner, member, head, moderator]) assert.deepEqual(await talk.notificationsOf(person), [])

  await status('rejected')
  assert.equal((await say(moderator, threadId, 'Please change the name')).statusCode, 204)
  const message_id = (await read(moderator, threadId)).messages.at(-1)?.id
  for (const person of [owner, member, head]) {
    assert.deepEqual(await talk.notificationsOf(person), [
      { type: 'moderation_message_received', project_id: project.id },
      { type: 'moderator_message', thread_id: threadId, message_id, project_id: project.id, report_id: null },
    ])
  }
  for (const person of [invitee, moderator]) assert.deepEqual(await talk.notificationsOf(person), [])
  const [shown] = (await t.as(owner).get(`/v3/user/${owner.id}/notifications`)).json()
  assert.equal(shown.link, `/project/${project.id}`)
})

test('a moderator’s message in a report notifies only its reporter', async () => {
  const [reporter, moderatingReporter] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const { id, threadId } = await talk.report(reporter)
  assert.equal((await say(reporter, threadId)).statusCode, 204)
  assert.equal((await send(moderator, threadId, { type: 'text', body: 'hm', private: true })).statusCode, 204)
  assert.deepEqual(await talk.notificationsOf(reporter), [])
  assert.equal((await say(moderator, threadId)).statusCode, 204)
  const message_id = (await read(moderator, threadId)).messages.at(-1)?.id
  assert.deepEqual(await talk.notificationsOf(reporter), [
    { type: 'moderator_message', thread_id: threadId, message_id, project_id: null, report_id: id },
  ])
  const own = await talk.report(moderatingReporter)
  assert.equal((await say(moderatingReporter, own.threadId)).statusCode, 204)
  assert.deepEqual(await talk.notificationsOf(moderatingReporter), [], 'the author of a message is not notified')
  assert.deepEqual(await talk.notificationsOf(moderator), [])
})

test('a deleted message keeps its place without its text; its author and moderators delete it', async () => {
  const [reporter, subject] = [await t.make.account(), await t.make.account()]
  const { threadId } = await talk.report(reporter, { item: subject })
  const [first, second] = [
    await talk.message(threadId, reporter),
    await talk.message(threadId, moderator, { body: 'Answer' }),
  ]
  const hidden = await talk.message(threadId, moderator, { body: 'Secret', private: true })
  const remove = (who: Person, id: string) => t.as(who).delete(`/v3/message/${id}`)
  assertError(await remove(subject, first), 404, 'not_found')
  assertError(await remove(reporter, hidden), 404, 'not_found')
  assertError(await remove(reporter, 'unknown0'), 404, 'not_found')
  assertError(await remove(reporter, 'not-base62'), 400, 'decoding_error', 'id')
  assertError(await remove(reporter, second), 403, 'unauthorized')
  assertError(await t.anyone.delete(`/v3/message/${first}`), 401, 'unauthorized')

  assert.equal((await remove(reporter, first)).statusCode, 204)
  assert.equal((await remove(reporter, first)).statusCode, 204, 'repeating the request is not an error')
  assert.equal((await remove(moderator, hidden)).statusCode, 204)
  const bodies = async (who: Person) =>
    (await read(who, threadId)).messages.map(({ id, body }) => [id, body.type, body.private])
  assert.deepEqual(await bodies(reporter), [
    [first, 'deleted', false],
    [second, 'text', false],
  ])
  assert.deepEqual(await bodies(moderator), [
    [first, 'deleted', false],
    [second, 'text', false],
    [hidden, 'deleted', true],
  ])
  assert.equal((await remove(moderator, second)).statusCode, 204)
  const { rows } = await t.deps.pool.query('select body::text from thread_message where thread_id = $1', [threadId])
  for (const { body } of rows) assert.doesNotMatch(body, /Hello|Answer|Secret/)
})

test('event records of a thread cannot be deleted', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const threadId = await talk.projectThread(project.id)
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'unlisted' })).statusCode, 204)
  const [event] = (await read(owner, threadId)).messages
  assert.deepEqual(event?.body, { type: 'status_change', old_status: 'approved', new_status: 'unlisted' })
  assert.deepEqual([event?.author_id, event?.hide_identity], [owner.id, false])
  assertError(await t.as(owner).delete(`/v3/message/${event?.id}`), 400, 'invalid_input')
  assertError(await t.as(moderator).delete(`/v3/message/${event?.id}`), 400, 'invalid_input')
})

test('a full thread takes no more words, except a moderator’s', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  const fill = (bytes: number) =>
    t.deps.db.updateTable('thread').set({ size_bytes: bytes }).where('id', '=', threadId).execute()
  await fill(4 * 1024 * 1024 - 1024 - 5)
  assertError(await say(reporter, threadId, 'Lights'), 400, 'LimitReached')
  assert.equal((await say(reporter, threadId, 'Light')).statusCode, 204)
  assertError(await say(reporter, threadId, 'L'), 400, 'LimitReached')
  assert.equal((await say(moderator, threadId, 'Light')).statusCode, 204)
  assert.equal(await messageCount(threadId), 2)
})

test('concurrent messages have one order', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => say(n % 2 === 0 ? reporter : moderator, threadId, `m${n}`)),
  )
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    Array(12).fill(204),
  )
  const [once, again] = [await read(reporter, threadId), await read(reporter, threadId)]
  assert.deepEqual(once, again)
  assert.equal(new Set(once.messages.map(({ body }) => body.body)).size, 12)
  const times = once.messages.map(({ created }) => created)
  assert.deepEqual(times, times.toSorted())
  const { size_bytes } = await t.deps.db
    .selectFrom('thread')
    .select('size_bytes')
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow()
  assert.equal(size_bytes, 12 * 1024 + 10 * 2 + 2 * 3)
})
