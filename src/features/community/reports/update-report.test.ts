import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageView } from '#test/support/factories/conversation-factories.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError, mailsTo } from '#test/support/http/account-steps.ts'

const { t, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

const patch = (who: Person | { token: string }, id: string, body: unknown) => t.as(who).patch(`/v3/report/${id}`, body)
const get = async (id: string) => (await t.as(moderator).get(`/v3/report/${id}`)).json()
const messages = async (who: Person, threadId: string): Promise<MessageView[]> =>
  (await t.as(who).get(`/v3/thread/${threadId}`)).json().messages

test('the reporter and moderators can change the text; other users get 404', async () => {
  const [reporter, stranger] = [await t.make.account(), await t.make.account()]
  const { id } = await talk.report(reporter)
  assert.equal((await patch(reporter, id, { body: 'More to say' })).statusCode, 204)
  assert.equal((await get(id)).body, 'More to say')
  assert.equal((await patch(moderator, id, { body: 'Without the address' })).statusCode, 204)
  assert.equal((await get(id)).body, 'Without the address')
  assert.equal((await patch(reporter, id, {})).statusCode, 204, 'nothing asked, nothing done')
  assertError(await patch(stranger, id, { body: 'Mine' }), 404, 'not_found')
  assertError(await patch(stranger, id, { closed: true }), 404, 'not_found')
  assertError(await patch(moderator, 'unknown0', { closed: true }), 404, 'not_found')
  assertError(await patch(moderator, 'not-base62', { closed: true }), 400, 'decoding_error', 'id')
  assert.equal((await patch(reporter, id, { body: null, closed: null })).statusCode, 204, 'null stands for absent')
  for (const body of ['', ' \u200b', 'x'.repeat(65_537), 5])
    assertError(await patch(reporter, id, { body }), 400, 'validation_error', 'body')
  assertError(await patch(moderator, id, { closed: 'yes' }), 400, 'validation_error', 'closed')
  assert.equal((await get(id)).body, 'Without the address')
  assert.equal((await patch(reporter, id, { body: 'x'.repeat(65_536) })).statusCode, 204)
})

test('only moderators close and reopen; when that is rejected the text stays too', async () => {
  const reporter = await t.make.account()
  const { id } = await talk.report(reporter)
  for (const body of [{ closed: true, body: 'Closed by me' }, { closed: false }])
    assertError(await patch(reporter, id, body), 403, 'unauthorized')
  const report = await get(id)
  assert.deepEqual([report.closed, report.body], [false, 'Look at this'])
})

test('closing and reopening appear in the thread without a name, and the reporter receives an email', async () => {
  const reporter = await t.make.account()
  const { id, threadId } = await talk.report(reporter)
  assert.equal((await patch(moderator, id, { closed: true })).statusCode, 204)
  assert.equal((await get(id)).closed, true)
  assertError(await patch(reporter, id, { body: 'But' }), 400, 'invalid_input')
  assert.equal((await patch(moderator, id, { body: 'Kept short' })).statusCode, 204)
  assert.deepEqual((await t.as(reporter).get('/v3/report')).json(), [])
  assert.equal((await patch(moderator, id, { closed: false })).statusCode, 204)
  assert.equal((await get(id)).closed, false)
  assert.equal((await patch(reporter, id, { body: 'Thank you' })).statusCode, 204)

  const seen = (who: Person) => messages(who, threadId)
  assert.deepEqual(
    (await seen(reporter)).map(({ body, author_id, hide_identity }) => [body, author_id, hide_identity]),
    [
      [{ type: 'thread_closure' }, null, true],
      [{ type: 'thread_reopen' }, null, true],
    ],
  )
  assert.deepEqual(
    (await seen(moderator)).map(({ author_id }) => author_id),
    [moderator.id, moderator.id],
  )
  const told = { type: 'report_status_updated', report_id: id, outcome: null }
  assert.deepEqual(await talk.notificationsOf(reporter), [
    { ...told, closed: true },
    { ...told, closed: false },
  ])
  assert.equal((await mailsTo(t, reporter.email, /report/)).length, 2)
  assert.deepEqual((await t.as(reporter).get(`/v3/user/${reporter.id}/notifications`)).json(), [], 'by mail only')
})

test('one of several concurrent requests closes a report, and none fails', async () => {
  const reporter = await t.make.account()
  const second = await t.make.account({ role: 'moderator' })
  const { id, threadId } = await talk.report(reporter)
  const close = (closed: boolean) =>
    Promise.all([moderator, second, moderator, second].map((who) => patch(who, id, { closed })))
  assert.deepEqual(
    (await close(true)).map(({ statusCode }) => statusCode),
    [204, 204, 204, 204],
  )
  assert.deepEqual(
    (await close(true)).map(({ statusCode }) => statusCode),
    [204, 204, 204, 204],
  )
  assert.deepEqual(
    (await messages(moderator, threadId)).map(({ body }) => body.type),
    ['thread_closure'],
  )
  assert.equal((await talk.notificationsOf(reporter)).length, 1)
})

test('a message that is concurrent with the closing either precedes it or is rejected', async () => {
  const reporter = await t.make.account()
  for (let round = 0; round < 5; round += 1) {
    const { id, threadId } = await talk.report(reporter)
    const say = { body: { type: 'text', body: 'One more thing' } }
    const [said, closed] = await Promise.all([
      t.as(reporter).post(`/v3/thread/${threadId}`, say),
      patch(moderator, id, { closed: true }),
    ])
    assert.equal(closed.statusCode, 204)
    const types = (await messages(moderator, threadId)).map(({ body }) => body.type)
    assert.deepEqual(types, said.statusCode === 204 ? ['text', 'thread_closure'] : ['thread_closure'])
    if (said.statusCode !== 204) assertError(said, 400, 'invalid_input')
  }
})

test('moderators delete a report with its thread; its reporter cannot', async () => {
  const [reporter, stranger] = [await t.make.account(), await t.make.account()]
  const { id, threadId } = await talk.report(reporter)
  await talk.message(threadId, reporter)
  const remove = (who: Person | { token: string }) => t.as(who).delete(`/v3/report/${id}`)
  assertError(await t.anyone.delete(`/v3/report/${id}`), 401, 'unauthorized')
  assertError(await remove(stranger), 404, 'not_found')
  assertError(await remove(reporter), 403, 'unauthorized')
  assertError(await remove(await t.make.pat(moderator, scopeBits('ALL_BUT', 'REPORT_DELETE'))), 403, 'unauthorized')
  assert.equal((await remove(await t.make.pat(moderator, scopeBits('ONLY', 'REPORT_DELETE')))).statusCode, 204)
  assertError(await remove(moderator), 404, 'not_found')
  for (const path of [`/v3/report/${id}`, `/v3/thread/${threadId}`]) {
    assertError(await t.as(moderator).get(path), 404, 'not_found')
    assertError(await t.as(reporter).get(path), 404, 'not_found')
  }
})

test('changing needs a token with REPORT_WRITE', async () => {
  const reporter = await t.make.account()
  const { id } = await talk.report(reporter)
  assertError(await t.anyone.patch(`/v3/report/${id}`, { body: 'x' }), 401, 'unauthorized')
  assertError(
    await patch(await t.make.pat(reporter, scopeBits('ALL_BUT', 'REPORT_WRITE')), id, { body: 'x' }),
    403,
    'unauthorized',
  )
  assert.equal(
    (await patch(await t.make.pat(reporter, scopeBits('ONLY', 'REPORT_WRITE')), id, { body: 'x' })).statusCode,
    204,
  )
})

test('a deleted account’s reports go; reports about it and its place in talk stay', async () => {
  const [reporter, other] = [await t.make.account(), await t.make.account()]
  const own = await talk.report(reporter, { item: other })
  const aboutIt = await talk.report(other, { item: reporter })
  assert.equal((await t.as(reporter).delete(`/v3/user/${reporter.id}`)).statusCode, 204)
  assertError(await t.as(moderator).get(`/v3/report/${own.id}`), 404, 'not_found')
  assertError(await t.as(moderator).get(`/v3/thread/${own.threadId}`), 404, 'not_found')
  assert.equal((await t.as(other).get(`/v3/report/${aboutIt.id}`)).statusCode, 200)
})
