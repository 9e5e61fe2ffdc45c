import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '#test/support/app/test-app.ts'
import type { ThreadView } from '#test/support/factories/conversation-factories.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

const thread = async (client: Client, id: string): Promise<ThreadView> => {
  const answer = await client.get(`/v3/thread/${id}`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const texts = ({ messages }: ThreadView): (string | undefined)[] => messages.map(({ body }) => body.body)

test('a project’s thread is for its accepted members, those of its organization, and moderators', async () => {
  const [owner, invitee, head, orgInvitee, stranger] = await t.make.people(5)
  const organization = await make.organization(head)
  await make.member(organization.teamId, orgInvitee, { accepted: false })
  const project = await make.project(owner, { status: 'private', organization_id: organization.id })
  await make.member(project.teamId, invitee, { accepted: false, permissions: 1023 })
  const id = await talk.projectThread(project.id)
  await talk.message(id, owner, { body: 'Is it good?' })

  for (const reader of [owner, head, moderator]) {
    const { messages, members, ...rest } = await thread(t.as(reader), id)
    assert.deepEqual(rest, { id, type: 'project', project_id: project.id, report_id: null })
    assert.deepEqual([messages.length, members.map((member) => member.id)], [1, [owner.id]])
  }
  for (const other of [invitee, orgInvitee, stranger]) {
    assertError(await t.as(other).get(`/v3/thread/${id}`), 404, 'not_found')
    assertError(await t.as(other).post(`/v3/thread/${id}`, { body: { type: 'text', body: 'Hi' } }), 404, 'not_found')
    assert.deepEqual((await t.as(other).get('/v3/threads', { query: { ids: JSON.stringify([id]) } })).json(), [])
  }
})

test('only the reporter and moderators see a report’s thread, not the reported user', async () => {
  const [reporter, subject] = [await t.make.account(), await t.make.account()]
  const { id, threadId } = await talk.report(reporter, { item: subject })
  for (const reader of [reporter, moderator]) {
    const { type, project_id, report_id, messages, members } = await thread(t.as(reader), threadId)
    assert.deepEqual([type, project_id, report_id, messages, members], ['report', null, id, [], []])
  }
  assertError(await t.as(subject).get(`/v3/thread/${threadId}`), 404, 'not_found')
})

test('only moderators see private messages, and moderators’ names', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  const send = (who: Person, body: object) =>
    t.as(who).post(`/v3/thread/${threadId}`, { body: { type: 'text', ...body } })
  assert.equal((await send(reporter, { body: 'They copy me' })).statusCode, 204)
  assert.equal((await send(moderator, { body: 'I know them', private: true })).statusCode, 204)
  const whole = await thread(t.as(moderator), threadId)
  const [, hidden] = whole.messages
  assert.ok(hidden)
  assert.equal((await send(moderator, { body: 'We look at it', replying_to: hidden.id })).statusCode, 204)

  const asModerator = await thread(t.as(moderator), threadId)
  assert.deepEqual(texts(asModerator), ['They copy me', 'I know them', 'We look at it'], 'oldest first')
  assert.deepEqual(
    asModerator.messages.map(({ author_id, hide_identity, body }) => [author_id, hide_identity, body.private]),
    [
      [reporter.id, false, false],
      [moderator.id, true, true],
      [moderator.id, true, false],
    ],
  )
  assert.equal(asModerator.messages[2]?.body.replying_to, hidden.id)
  assert.deepEqual(
    asModerator.members.map(({ id }) => id),
    [reporter.id, moderator.id],
  )

  const answer = await t.as(reporter).get(`/v3/thread/${threadId}`)
  const asReporter = answer.json() as ThreadView
  assert.deepEqual(texts(asReporter), ['They copy me', 'We look at it'])
  assert.deepEqual(
    asReporter.messages.map(({ author_id }) => author_id),
    [reporter.id, null],
  )
  assert.equal(asReporter.messages[1]?.body.replying_to, null, 'an answer to a hidden message names nothing')
  assert.deepEqual(
    asReporter.members.map(({ id }) => id),
    [reporter.id],
  )
  for (const secret of [moderator.id, moderator.username, hidden.id]) assert.ok(!answer.body.includes(secret))
})

test('the thread of a deleted project stays readable to moderators', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const id = await talk.projectThread(project.id)
  await talk.message(id, owner, { body: 'Bye' })
  assert.equal((await t.as(owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  const left = await thread(t.as(moderator), id)
  assert.deepEqual([left.project_id, left.type, texts(left)], [null, 'project', ['Bye']])
  assertError(await t.as(owner).get(`/v3/thread/${id}`), 404, 'not_found')
})

test('a list keeps the order asked for and leaves out what is not for the caller', async () => {
  const [reporter, other] = [await t.make.account(), await t.make.account()]
  const own = [await talk.report(reporter), await talk.report(reporter)]
  const foreign = await talk.report(other)
  const ids = [own[1]?.threadId, foreign.threadId, 'unknown0', own[0]?.threadId, own[1]?.threadId]
  const list = async (who: Person) => {
    const answer = await t.as(who).get('/v3/threads', { query: { ids: JSON.stringify(ids) } })
    return (answer.json() as ThreadView[]).map(({ id }) => id)
  }
  assert.deepEqual(await list(reporter), [own[1]?.threadId, own[0]?.threadId])
  assert.deepEqual(await list(moderator), [own[1]?.threadId, foreign.threadId, own[0]?.threadId])
})

test('a list costs the same number of statements whatever its length', async () => {
  const reporter = await t.make.account()
  const project = await make.project(reporter)
  const ids = [await talk.projectThread(project.id)]
  const authors = await t.make.people(8)
  for (let i = 0; i < 50; i += 1) {
    const { threadId } = await talk.report(reporter)
    ids.push(threadId)
    await talk.message(threadId, authors[i % 8] ?? reporter)
  }
  const count = async (wanted: string[]): Promise<number> => {
    const { result, queries } = await t.queriesOf(() =>
      t.as(reporter).get('/v3/threads', { query: { ids: JSON.stringify(wanted) } }),
    )
    assert.equal((result.json() as ThreadView[]).length, wanted.length)
    return queries.length
  }
  await count(ids)
  assert.deepEqual([await count(ids.slice(0, 2)), await count(ids)], [3, 3], 'threads, memberships, messages')
})

test('threads that are too long for one answer together are rejected together', async () => {
  const reporter = await t.make.account()
  const ids = await Promise.all([talk.report(reporter), talk.report(reporter)])
  const query = { ids: JSON.stringify(ids.map(({ threadId }) => threadId)) }
  await t.deps.db
    .updateTable('thread')
    .set({ size_bytes: 16 * 1024 * 1024 + 1 })
    .where(
      'report_id',
      'in',
      ids.map(({ id }) => id),
    )
    .execute()
  assertError(await t.as(reporter).get('/v3/threads', { query }), 400, 'invalid_input', 'ids')
  assert.equal((await t.as(reporter).get(`/v3/thread/${ids[0].threadId}`)).statusCode, 200)
})

test('reading needs a token with THREAD_READ and well-formed IDs', async () => {
  const reporter = await t.make.account()
  const { threadId } = await talk.report(reporter)
  assertError(await t.anyone.get(`/v3/thread/${threadId}`), 401, 'unauthorized')
  const pat = await t.make.pat(reporter, scopeBits('ALL_BUT', 'THREAD_READ'))
  const refused = await t.as(pat).get(`/v3/thread/${threadId}`)
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /THREAD_READ/)
  const only = await t.make.pat(reporter, scopeBits('ONLY', 'THREAD_READ'))
  assert.equal((await t.as(only).get(`/v3/thread/${threadId}`)).statusCode, 200)
  assertError(await t.as(reporter).get('/v3/thread/not-base62'), 400, 'decoding_error', 'id')
  assertError(await t.as(reporter).get('/v3/thread/unknown0'), 404, 'not_found')
  assertError(
    await t.as(reporter).get('/v3/threads', { query: { ids: '["not-base62"]' } }),
    400,
    'decoding_error',
    'ids.0',
  )
  assertError(await t.as(reporter).get('/v3/threads'), 400, 'invalid_input', 'ids')
  const answer = await t.as(reporter).get(`/v3/thread/${threadId}`)
  assert.match(String(answer.headers['cache-control']), /^private/)
  assert.ok(answer.headers.etag)
})
