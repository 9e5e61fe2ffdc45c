// Threads that wait for an answer of the moderators.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, talk } = await teamApp()
const mira = await t.make.account({ role: 'moderator' })

const PATH = '/_internal/moderation/threads'
async function list(query: Record<string, string | number> = {}) {
  const answer = await t.as(mira).get(PATH, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json() as { total: number; threads: { id: string; text: string; author: string; type: string }[] }
}
const ids = async (query?: Record<string, string | number>) => (await list(query)).threads.map(({ id }) => id)
async function write(who: Person, threadId: string, text: string, isPrivate = false): Promise<void> {
  const body = { type: 'text', body: text, private: isPrivate }
  assert.equal((await t.as(who).post(`/v3/thread/${threadId}`, { body })).statusCode, 204)
}
async function projectThread(): Promise<{ id: string; owner: Person; projectId: string }> {
  const { id: projectId, owner } = await t.make.project({ status: 'processing' })
  const row = t.deps.db.selectFrom('thread').select('id').where('project_id', '=', projectId)
  return { ...(await row.executeTakeFirstOrThrow()), owner, projectId }
}

test('a thread waits from the first unanswered message until a moderator answers, decides or closes', async () => {
  const { id, owner, projectId } = await projectThread()
  await t.make.version({ project: { id: projectId, slug: '', teamId: '', owner } })
  const reporter = await t.make.account()
  const report = await talk.report(reporter)
  await write(owner, id, 'When will you look?')
  await write(reporter, report.threadId, 'There is more')
  await write(owner, id, 'Hello?')
  const { total, threads } = await list()
  assert.deepEqual([total, threads.map((thread) => thread.id)], [2, [id, report.threadId]])
  assert.deepEqual(
    [threads[0]?.text, threads[0]?.author, threads[0]?.type],
    ['When will you look?', owner.username, 'project'],
  )
  assert.deepEqual(await ids({ type: 'report' }), [report.threadId])
  assert.deepEqual(await ids({ count: 1, offset: 1 }), [report.threadId])

  await write(mira, id, 'Not before Monday', true)
  assert.deepEqual(await ids(), [id, report.threadId], 'a private note answers nobody')
  await write(mira, id, 'On Monday')
  assert.deepEqual(await ids(), [report.threadId])
  await write(owner, id, 'Thank you')
  assert.deepEqual(await ids(), [report.threadId, id], 'the newest message waits last')
  assert.equal((await t.as(mira).patch(`/v3/project/${projectId}`, { status: 'approved' })).statusCode, 204)
  assert.equal((await t.as(mira).patch(`/v3/report/${report.id}`, { closed: true })).statusCode, 204)
  assert.deepEqual(await ids(), [])
  assert.equal((await t.as(owner).patch(`/v3/project/${projectId}`, { status: 'archived' })).statusCode, 204)
  assert.deepEqual(await ids(), [], 'a status that the owner chose asks nothing')
})

test('a deleted message no longer waits, and a deleted project has no thread to answer', async () => {
  const { id, owner, projectId } = await projectThread()
  await write(owner, id, 'Buy lamps')
  await write(owner, id, 'Now')
  const { messages } = (await t.as(mira).get(`/v3/thread/${id}`)).json()
  for (const [index, message] of messages.entries()) {
    assert.deepEqual(await ids(), [id])
    const who = index === 0 ? mira : owner
    assert.equal((await t.as(who).delete(`/v3/message/${message.id}`)).statusCode, 204)
  }
  assert.deepEqual(await ids(), [])
  await write(owner, id, 'Again')
  assert.equal((await t.as(owner).delete(`/v3/project/${projectId}`)).statusCode, 204)
  assert.deepEqual(await ids(), [])
})

test('the list has two statements, whatever its length, and is for moderators', async () => {
  const reporter = await t.make.account()
  const read = () => t.queriesOf(() => list())
  const { threadId } = await talk.report(reporter)
  await write(reporter, threadId, '<script>alert(1)</script>')
  await read()
  const few = await read()
  for (let n = 0; n < 10; n += 1) await write(reporter, (await talk.report(reporter)).threadId, 'x'.repeat(500))
  const many = await read()
  assert.deepEqual([few.queries.length, many.queries.length], [2, 2])
  assert.deepEqual([many.result.threads.length, many.result.threads[1]?.text.length], [11, 400])
  assertError(await t.as(reporter).get(PATH), 403, 'unauthorized')
  assertError(await t.anyone.get(PATH), 401, 'unauthorized')
  assertError(await t.as(mira).get(PATH, { query: { type: 'direct_message' } }), 400, 'invalid_input', 'type')
})
