// The pages for reports, scans and threads: access, closing, conflicts and hostile texts.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })
beforeEach(() => t.deps.db.deleteFrom('report').execute())

const LIST = '/moderation/reports'
async function makeReport(reporter: Person, item: { type: string; id: string }, body = 'Look'): Promise<string> {
  const input = { report_type: 'spam', item_type: item.type, item_id: item.id, body }
  const answer = await t.as(reporter).post('/v3/report', input)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
const isClosed = async (id: string): Promise<boolean> => (await t.as(mira).get(`/v3/report/${id}`)).json().closed

test('the pages are for moderators: visitors are led to sign in, other users see no page', async () => {
  const id = await makeReport(jon, { type: 'user', id: mira.id })
  const user = visitor(t, (await t.make.account()).token)
  for (const path of [LIST, `${LIST}/${id}`, '/moderation/scans', '/moderation/threads']) {
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
    assertSays(await user.get(path), 404, 'does not exist')
  }
  assertSays(await visitor(t, mira.token).get(`${LIST}/zzzzzzzz`), 404, 'does not exist')
})

test('the list groups reports by item and is filtered by the URL', async () => {
  const [ann, ben] = await t.make.people(2)
  const project = await t.make.project({ name: `Lantern ${HOSTILE}` })
  await makeReport(ann, { type: 'project', id: project.id })
  await makeReport(ben, { type: 'project', id: project.id })
  await makeReport(ann, { type: 'user', id: ben.id })
  const closed = await makeReport(ben, { type: 'user', id: ann.id })
  assert.equal((await t.as(mira).patch(`/v3/report/${closed}`, { closed: true, outcome: 'no_action' })).statusCode, 204)
  const page = visitor(t, mira.token)
  const list = await page.get(LIST)
  assertSays(list, 200, '2 reported items')
  assertSays(list, 200, 'No closed reports')
  assertSays(list, 200, '0 of one closed report led to action')
  assertSays(list, 200, 'Latest report')
  assertValidHtml(list.body)
  assert.ok(!list.body.includes('<script>alert'))
  assertSays(await page.get(`${LIST}?item_type=user`), 200, '1 reported item')
  assertSays(await page.get(`${LIST}?state=closed`), 200, '1 reported item')
  assertSays(await page.get(`${LIST}?state=strange&page=999`), 200, 'No reports match the filter.')
})

test('a moderator answers, closes all reports about an item with a message, and reopens one', async () => {
  const [ann, ben, subject] = await t.make.people(3)
  const item = { type: 'user', id: subject.id }
  const [first, second] = [await makeReport(ann, item, `**Bold** ${HOSTILE}`), await makeReport(ben, item)]
  const path = `${LIST}/${first}`
  const page = visitor(t, mira.token)
  const shown = await page.get(path)
  assertSays(shown, 200, '2 reports about this item')
  assertValidHtml(shown.body)
  assert.ok(shown.body.includes('<strong>Bold</strong>') && !shown.body.includes('<script>alert'))

  const reply = await page.send(path, path, { do: 'reply', body: 'We look into it.' })
  assertLeads(reply, `${path}?done=report-replied`)
  assertSays(await page.get(path), 200, 'We look into it.')
  assertSays(await page.send(path, path, { do: 'reply', body: ' ' }), 400, 'must not be blank')

  const missing = await page.send(path, path, { do: 'close', message: HOSTILE })
  assert.equal(missing.statusCode, 400)
  assert.ok(missing.body.includes('&lt;/textarea&gt;'), 'the message stays')
  assertSays(missing, 400, 'The outcome must be one of the choices')
  assertValidHtml(missing.body)
  const fields = { do: 'close', ids: [first, second], outcome: 'action', message: 'Thank you' }
  assertLeads(await page.send(path, path, fields), `${path}?done=reports-closed`)
  assert.deepEqual([await isClosed(first), await isClosed(second)], [true, true])
  assertSays(await visitor(t, ben.token).get(`/dashboard/reports/${second}`), 200, 'Thank you')

  assertLeads(await page.send(path, path, { do: 'reopen' }), `${path}?done=report-reopened`)
  assert.deepEqual([await isClosed(first), await isClosed(second)], [false, true])
})

test('saved replies are inserted into the message with the name of the project, and stay editable', async () => {
  const project = await t.make.project({ name: `Lantern ${HOSTILE}` })
  const id = await makeReport(jon, { type: 'project', id: project.id })
  const saved = {
    topic: 'Thanks',
    language: 'en',
    title: 'Thank the reporter',
    body: 'We removed {file} of {project}.',
  }
  const reply = (await t.as(mira).post('/_internal/moderation/replies', saved)).json()
  const path = `${LIST}/${id}`
  const page = visitor(t, mira.token)
  const fields = { do: 'insert', ids: [id], replies: [reply.id], message: 'Thank you.' }
  const shown = await page.send(path, path, fields)
  assertSays(shown, 200, `Thank you.\n\nWe removed {file} of Lantern ${HOSTILE}.`)
  assertValidHtml(shown.body)
  assert.equal(await isClosed(id), false)
})

test('when another moderator has closed the report, nothing changes and the message stays', async () => {
  const [ann, subject] = await t.make.people(2)
  const id = await makeReport(ann, { type: 'user', id: subject.id })
  const other = await makeReport(ann, { type: 'user', id: subject.id })
  const path = `${LIST}/${id}`
  const page = visitor(t, mira.token)
  const shown = await page.get(path)
  assert.equal((await t.as(jon).patch(`/v3/report/${id}`, { closed: true })).statusCode, 204)
  const refused = await page.sendFrom(shown, path, {
    do: 'close',
    ids: [id, other],
    outcome: 'no_action',
    message: 'My text',
  })
  assertSays(refused, 409, 'Another moderator has closed some of these reports')
  assertSays(refused, 409, 'My text')
  assertValidHtml(refused.body)
  assert.equal(await isClosed(other), false)
})

test('the list and the report need the same number of statements for many reports', async () => {
  const [ann, ben] = await t.make.people(2)
  const id = await makeReport(ann, { type: 'user', id: ben.id })
  const page = visitor(t, mira.token)
  const count = async (path: string): Promise<number> => {
    await page.get(path)
    return (await t.queriesOf(() => page.get(path))).queries.length
  }
  const few = [await count(LIST), await count(`${LIST}/${id}`)]
  for (let n = 0; n < 12; n += 1) {
    await makeReport(ann, { type: 'user', id: ben.id })
    await makeReport(ann, { type: 'project', id: (await t.make.project()).id })
  }
  assert.deepEqual([await count(LIST), await count(`${LIST}/${id}`)], few)
})

test('scans are listed by state with their findings, and a quarantined version is released', async () => {
  const project = await t.make.project({ name: 'Lantern' })
  const version = await t.make.version({ project, status: 'unknown', version_number: '2.0.0' })
  const findings = [{ file_id: 'f', filename: `${HOSTILE}.jar`, verdict: 'quarantine', reason: 'EICAR' }]
  await t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: version.id,
      state: 'quarantine',
      reason: 'EICAR',
      findings: JSON.stringify(findings),
      next_attempt: new Date(),
      requested: new Date(),
    })
    .execute()
  const page = visitor(t, mira.token)
  const list = await page.get('/moderation/scans')
  assertSays(list, 200, 'Lantern 2.0.0')
  assertValidHtml(list.body)
  assert.ok(!list.body.includes('<script>alert'))
  assertSays(await page.get('/moderation/scans?query=torch'), 200, 'No scans are in this state.')
  assertSays(await page.get('/moderation/scans?state=warn'), 200, 'No scans are in this state.')
  const release = { do: 'release', id: version.id }
  assertLeads(
    await page.send('/moderation/scans', '/moderation/scans', release),
    '/moderation/scans?done=scan-released',
  )
  const { state } = (await t.as(mira).get(`/v3/version/${version.id}/scan`)).json()
  assert.equal(state, 'pass')
  const again = await page.sendFrom(list, '/moderation/scans', release)
  assertSays(again, 400, 'does not hold this version back')
})

test('threads that wait for an answer link to their report or project', async () => {
  const [ann, subject] = await t.make.people(2)
  const id = await makeReport(ann, { type: 'user', id: subject.id })
  const { thread_id } = (await t.as(ann).get(`/v3/report/${id}`)).json()
  const body = { type: 'text', body: `Please look. ${HOSTILE}` }
  assert.equal((await t.as(ann).post(`/v3/thread/${thread_id}`, { body })).statusCode, 204)
  const page = visitor(t, mira.token)
  const list = await page.get('/moderation/threads')
  assertSays(list, 200, '1 thread waits for an answer')
  assert.ok(list.body.includes(`/moderation/reports/${id}#thread`) && !list.body.includes('<script>alert'))
  assertValidHtml(list.body)
  assertSays(await page.get('/moderation/threads?type=project'), 200, 'No threads wait for an answer.')
})
