// Records of users: the record, the owner's record in the queue, the note and the message to the operators.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError, mailsTo } from '#test/support/http/account-steps.ts'

const { t, talk } = await teamApp()
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })

const path = ({ id }: { id: string }) => `/_internal/moderation/users/${id}`
async function record(person: { id: string }) {
  const answer = await t.as(mira).get(path(person))
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
async function decide(project: MadeProject, ...statuses: string[]): Promise<void> {
  for (const status of statuses) {
    const answer = await t.as(mira).patch(`/v3/project/${project.id}`, { status })
    assert.equal(answer.statusCode, 204, answer.body)
  }
}
/** A project under review with a version. */
async function submitted(owner: Person): Promise<MadeProject> {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.make.version({ project })
  return project
}

test('the record has facts, projects, decisions, reports, quarantined versions and suspensions', async () => {
  const [owner, reporter] = await t.make.people(2)
  const [good, bad] = [await submitted(owner), await submitted(owner)]
  await decide(good, 'approved', 'withheld')
  await decide(bad, 'rejected')
  const version = await t.make.version({ project: good, version_number: '2.0.0' })
  await t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: version.id,
      state: 'quarantine',
      reason: 'EICAR',
      next_attempt: new Date(),
      requested: new Date(),
    })
    .execute()
  for (const [item_type, item_id] of [
    ['user', owner.id],
    ['project', good.id],
    ['version', version.id],
  ]) {
    const report = { report_type: 'spam', item_type, item_id, body: 'Look' }
    assert.equal((await t.as(reporter).post('/v3/report', report)).statusCode, 201)
  }
  const own = await talk.report(owner, { item: reporter })
  await t.deps.db.updateTable('report').set({ closed: true, outcome: 'action' }).where('id', '=', own.id).execute()
  await suspendAccount(t.deps, SYSTEM, { name: owner.id, reason: 'Advertising', until: null })

  const found = await record(owner)
  assert.deepEqual(
    [found.user.id, found.user.email, found.email_verified, found.has_totp],
    [owner.id, null, true, false],
  )
  assert.equal(found.suspended.reason, 'Advertising')
  assert.deepEqual(found.counts, {
    projects: 2,
    approved: 1,
    rejected: 2,
    reports: 3,
    reports_action: 0,
    reports_by: 1,
    reports_by_closed: 1,
    reports_by_action: 1,
  })
  assert.deepEqual(
    found.reviews.map((each: Record<string, string>) => [each['old_status'], each['new_status'], each['moderator']]),
    [
      ['processing', 'rejected', 'mira'],
      ['approved', 'withheld', 'mira'],
      ['processing', 'approved', 'mira'],
    ],
  )
  const directions = found.reports.map(({ direction }: { direction: string }) => direction)
  assert.deepEqual(directions.sort(), ['about', 'about', 'about', 'by'])
  assert.deepEqual(
    found.versions.map(({ version_number, reason }: Record<string, string>) => [version_number, reason]),
    [['2.0.0', 'EICAR']],
  )
  assert.deepEqual(
    found.suspensions.map(({ action, reason }: Record<string, string>) => [action, reason]),
    [['account.suspended', 'Advertising']],
  )
  const times: string[] = found.timeline.map(({ at }: { at: string }) => at)
  assert.deepEqual(times, times.toSorted().reverse())
  const kinds = new Set(found.timeline.map(({ kind }: { kind: string }) => kind))
  assert.deepEqual([...kinds].sort(), [
    'joined',
    'project',
    'quarantine',
    'report_about',
    'report_by',
    'review',
    'suspension',
  ])
})

test('the queue shows the records of owners, with the same number of statements for any number of owners', async () => {
  const owners = await t.make.people(6)
  for (const owner of owners) {
    await decide(await submitted(owner), 'rejected')
    await submitted(owner)
  }
  const read = (count: number) =>
    t.queriesOf(() => t.as(mira).get('/_internal/moderation/projects', { query: { count } }))
  await read(1)
  const [few, many] = [await read(1), await read(100)]
  assert.equal(few.queries.length, many.queries.length)
  const rows: { ownership: { id: string }; owner_record: { created: string } }[] = many.result.json().projects
  const row = rows.find(({ ownership }) => ownership.id === owners[0]?.id)
  assert.ok(row)
  const { created, ...record } = row.owner_record
  assert.deepEqual(record, { approved: 0, rejected: 1, reports: 0, downloads: 0, suspended: false, language: null })
  assert.ok(Date.parse(created) > 0)
})

test('a record has one statement for its lists, whatever their length', async () => {
  const [few, many] = await t.make.people(2)
  for (let n = 0; n < 20; n += 1) {
    await t.make.project({ owner: many })
    await talk.report(many, { item: few })
  }
  const read = (person: Person) => t.queriesOf(() => t.as(mira).get(path(person)))
  await read(few)
  const [a, b] = [await read(few), await read(many)]
  assert.equal(a.queries.length, b.queries.length)
  assert.equal(b.result.json().projects.length, 20)
  assert.equal(a.result.json().counts.reports, 20)
})

test('moderators share one note about a user; a stale revision gets the current note', async () => {
  const person = await t.make.account()
  const notes = `${path(person)}/notes`
  assert.deepEqual((await t.as(mira).get(notes)).json(), { body: '', revision: 0, author: null, updated: null })
  const first = await t.as(mira).put(notes, { body: 'Warned on Monday', revision: 0 })
  assert.deepEqual([first.statusCode, first.json().revision, first.json().author], [200, 1, 'mira'])
  const stale = await t.as(jon).put(notes, { body: 'Harmless', revision: 0 })
  assertError(stale, 409, 'conflict')
  assert.deepEqual(stale.json().details.current, first.json())
  const second = await t.as(jon).put(notes, { body: '', revision: 1 })
  assert.deepEqual([second.json().body, second.json().revision, second.json().author], ['', 2, 'jon'])
  const both = await Promise.all([
    t.as(mira).put(notes, { body: 'Mine', revision: 2 }),
    t.as(jon).put(notes, { body: 'Theirs', revision: 2 }),
  ])
  assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
  assertError(await t.as(mira).put(notes, { body: 'x'.repeat(16_385), revision: 3 }), 400, 'validation_error', 'body')
  assertError(await t.as(mira).put(notes, { body: 'x', revision: -1 }), 400, 'validation_error', 'revision')
  assertError(await t.as(mira).put(notes, { body: 'x' }), 400, 'validation_error', 'revision')
  const race = await t.make.account()
  const writes = [mira, jon].map((who) => t.as(who).put(`${path(race)}/notes`, { body: who.username, revision: 0 }))
  assert.deepEqual((await Promise.all(writes)).map(({ statusCode }) => statusCode).sort(), [200, 409])
})

test('a note stays when its author is deleted, and is deleted with the user it is about', async () => {
  const [author, person] = [await t.make.account({ role: 'moderator' }), await t.make.account()]
  const notes = `${path(person)}/notes`
  await t.as(author).put(notes, { body: 'Known', revision: 0 })
  assert.equal((await t.as(author).delete(`/v3/user/${author.id}`)).statusCode, 204)
  const note = (await t.as(mira).get(notes)).json()
  assert.deepEqual([note.body, note.author], ['Known', null])
  assert.equal((await t.as(person).delete(`/v3/user/${person.id}`)).statusCode, 204)
  assertError(await t.as(mira).get(notes), 404, 'not_found')
  const rows = await t.deps.db.selectFrom('user_note').selectAll().where('account_id', '=', person.id).execute()
  assert.deepEqual(rows, [])
})

test('a message to the operators is mailed to every admin and recorded', async () => {
  const [person, admin] = [await t.make.account(), await t.make.account({ role: 'admin' })]
  const ask = (body: object) => t.as(mira).post(`${path(person)}/operator-message`, body)
  assert.equal((await ask({ message: 'Please suspend this spammer.' })).statusCode, 204)
  await t.runJobs()
  const [mail] = await mailsTo(t, admin.email, /moderator asks you/)
  assert.match(mail ?? '', /Please suspend this spammer\./)
  assert.match(mail ?? '', new RegExp(`/moderation/user/${person.id}`))
  const query = { action: 'account.operators_asked', subject_id: person.id }
  const [entry] = (await t.as(admin).get('/_internal/admin/audit-log', { query })).json().entries
  assert.equal(entry.actor.id, mira.id)
  assertError(await ask({ message: ' ' }), 400, 'validation_error', 'message')
  assertError(await ask({ message: 'x'.repeat(4097) }), 400, 'validation_error', 'message')
  assertError(await t.as(mira).post(`${path({ id: 'unknown0' })}/operator-message`, { message: 'x' }), 404, 'not_found')
})

test('records and notes are for moderators; other users learn nothing about them', async () => {
  const person = await t.make.account()
  await t.as(mira).put(`${path(person)}/notes`, { body: 'Secret remark', revision: 0 })
  const reader = await t.make.pat(mira, scopeBits('ALL_BUT', 'USER_WRITE'))
  const blind = await t.make.pat(mira, scopeBits('ALL_BUT', 'USER_READ'))
  const calls = (who: { token: string }) => [
    t.as(who).put(`${path(person)}/notes`, { body: 'x', revision: 1 }),
    t.as(who).post(`${path(person)}/operator-message`, { message: 'x' }),
  ]
  const reads = (who: { token: string }) => [t.as(who).get(path(person)), t.as(who).get(`${path(person)}/notes`)]
  for (const answer of await Promise.all([...calls(person), ...reads(person), ...calls(reader), ...reads(blind)])) {
    assertError(answer, 403, 'unauthorized')
    assert.ok(!answer.body.includes('Secret remark'))
  }
  for (const answer of await Promise.all(reads(reader))) assert.equal(answer.statusCode, 200)
  assertError(await t.anyone.get(path(person)), 401, 'unauthorized')
  assertError(await t.as(mira).get(path({ id: 'nobody-here' })), 404, 'not_found')
  assert.ok(!(await t.as(person).post('/_internal/gdpr/export')).body.includes('Secret remark'))
})
