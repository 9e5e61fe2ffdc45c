import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, mailsTo } from '#test/support/http/account-steps.ts'

const { t, make, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

const about = (item_type: string, item_id: string) => ({
  report_type: 'spam',
  item_type,
  item_id,
  body: 'This is spam.',
})
const file = (who: Person, body: object) => t.as(who).post('/v3/report', body)

test('creating a report returns it with 201, creates a thread and sends the reporter an email', async () => {
  const [reporter, owner] = [await t.make.account(), await t.make.account()]
  const project = await make.project(owner)
  const answer = await file(reporter, about('project', project.id))
  assert.equal(answer.statusCode, 201, answer.body)
  const { id, created, thread_id, ...report } = answer.json()
  assert.deepEqual(report, {
    report_type: 'spam',
    item_id: project.id,
    item_type: 'project',
    reporter: reporter.id,
    body: 'This is spam.',
    closed: false,
    closed_at: null,
    outcome: null,
  })
  assert.match(id, /^[0-9A-Za-z]{8}$/)
  assert.ok(Math.abs(Date.parse(created) - t.deps.now()) < 60_000)
  assert.deepEqual((await t.as(reporter).get(`/v3/report/${id}`)).json(), answer.json())
  const thread = (await t.as(reporter).get(`/v3/thread/${thread_id}`)).json()
  assert.deepEqual([thread.type, thread.report_id, thread.messages], ['report', id, []])
  assert.deepEqual(await talk.notificationsOf(reporter), [{ type: 'report_submitted', report_id: id }])
  assert.deepEqual(await talk.notificationsOf(owner), [], 'whom it is about is not told')
  assert.equal((await mailsTo(t, reporter.email, /report/)).length, 1)
})

test('checks each field and stores nothing of a rejected report', async () => {
  const [reporter, subject] = [await t.make.account(), await t.make.account()]
  const send = (body: Record<string, unknown>) => file(reporter, body)
  const valid = about('user', subject.id)
  const refused = (field: string, values: unknown[]) => assertRefusedValues(send, valid, field, values)
  await refused('report_type', [ABSENT, null, 7, 'rudeness', 'Spam', ''])
  await refused('item_type', [ABSENT, null, 'team', 'shared-instance', 'User'])
  await refused('item_id', [ABSENT, 5, '', 'unknown0', subject.username, 'not-base62', 'x'.repeat(65)])
  await refused('body', [ABSENT, null, '', ' \u200b', 'x'.repeat(65_537)])
  await refused('uploaded_images', ['abc', Array(11).fill('a')])
  assertError(await send({ ...valid, uploaded_images: ['unknown0'] }), 400, 'validation_error', 'uploaded_images.0')
  assert.deepEqual((await t.as(reporter).get('/v3/report')).json(), [])
  assert.deepEqual(await talk.notificationsOf(reporter), [])
  assert.equal((await send({ ...valid, body: 'x'.repeat(65_536) })).statusCode, 201)
})

test('every kind of report can be about every kind of item, by ID and not by name', async () => {
  const [reporter, owner] = [await t.make.account(), await t.make.account()]
  const project = await make.project(owner)
  const version = await make.version(project.id, owner)
  const types: string[] = (await t.anyone.get('/v3/report_type')).json().report_types
  for (const report_type of types)
    assert.equal((await file(reporter, { ...about('user', owner.id), report_type })).statusCode, 201)
  assert.equal((await file(reporter, about('version', version))).statusCode, 201)
  assertError(await file(reporter, about('project', version)), 400, 'validation_error', 'item_id')
  assertError(await file(reporter, about('project', project.slug.slice(0, 11))), 400, 'validation_error', 'item_id')
})

test('only users who can see a resource can report it', async () => {
  const [owner, stranger, invitee] = [await t.make.account(), await t.make.account(), await t.make.account()]
  const hidden = await make.project(owner, { status: 'private' })
  await make.member(hidden.teamId, invitee, { accepted: false })
  const open = await make.project(owner, { status: 'unlisted' })
  const draft = await make.version(open.id, owner, 'draft')
  const inHidden = await make.version(hidden.id, owner)
  for (const item of [about('project', hidden.id), about('version', draft), about('version', inHidden)]) {
    assertError(await file(stranger, item), 400, 'validation_error', 'item_id')
    assert.equal((await file(owner, item)).statusCode, 201)
    assert.equal((await file(moderator, item)).statusCode, 201)
  }
  assert.equal((await file(invitee, about('project', hidden.id))).statusCode, 201)
  assert.equal((await file(stranger, about('project', open.id))).statusCode, 201)
})

test('reporting needs a token with REPORT_CREATE', async () => {
  const reporter = await t.make.account()
  const body = about('user', moderator.id)
  assertError(await t.anyone.post('/v3/report', body), 401, 'unauthorized')
  const pat = await t.make.pat(reporter, scopeBits('ALL_BUT', 'REPORT_CREATE'))
  assertError(await t.as(pat).post('/v3/report', body), 403, 'unauthorized')
  const only = await t.make.pat(reporter, scopeBits('ONLY', 'REPORT_CREATE'))
  assert.equal((await t.as(only).post('/v3/report', body)).statusCode, 201)
})

test('a report outlives what it is about', async () => {
  const [reporter, owner] = [await t.make.account(), await t.make.account()]
  const project = await make.project(owner)
  const version = await make.version(project.id, owner)
  const reports = [await file(reporter, about('project', project.id)), await file(reporter, about('version', version))]
  assert.equal((await t.as(owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  for (const report of reports)
    assert.deepEqual((await t.as(reporter).get(`/v3/report/${report.json().id}`)).json(), report.json())
})

test('an account has at most 256 open reports, also when the last two are created concurrently', async () => {
  const reporter = await t.make.account()
  await talk.report(reporter, { closed: true })
  await t.deps.pool.query(
    `insert into report (id, report_type, item_type, item_id, reporter_id, body)
     select 'full' || n, 'spam', 'user', $1, $1, 'x' from generate_series(1, 255) n`,
    [reporter.id],
  )
  const answers = await Promise.all([1, 2, 3].map(() => file(reporter, about('user', moderator.id))))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400])
  assertError(await file(reporter, about('user', moderator.id)), 400, 'LimitReached')
})
