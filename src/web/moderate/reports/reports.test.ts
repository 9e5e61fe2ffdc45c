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
const DRAFT = {
  name: 'Lantern',
  slug: 'report-lantern',
  description: 'It shines',
  categories: [],
  license_id: 'MIT',
  is_draft: true,
  project_type: 'mod',
}
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
  assertSays(missing, 400, 'Choose “Led to action” or “No action” as the outcome')
  assertValidHtml(missing.body)
  const fields = { do: 'close', ids: [first, second], outcome: 'action', message: 'Thank you' }
  assertLeads(await page.send(path, path, fields), `${path}?done=reports-closed`)
  assert.deepEqual([await isClosed(first), await isClosed(second)], [true, true])
  assertSays(await visitor(t, ben.token).get(`/dashboard/reports/${second}`), 200, 'Thank you')

  assertLeads(await page.send(path, path, { do: 'reopen' }), `${path}?done=report-reopened`)
  assert.deepEqual([await isClosed(first), await isClosed(second)], [false, true])
})

test('all open reports of an item are selected, and "Close and next" opens the next unclaimed item', async () => {
  const [ann, ben, subject, other] = await t.make.people(4)
  const [first, second] = [
    await makeReport(ann, { type: 'user', id: subject.id }),
    await makeReport(ben, { type: 'user', id: subject.id }),
  ]
  t.advance(1000)
  const taken = await makeReport(ann, { type: 'user', id: jon.id })
  t.advance(1000)
  const next = await makeReport(ann, { type: 'user', id: other.id })
  assert.equal((await t.as(jon).put(`/_internal/moderation/reports/${taken}/claim`)).statusCode, 200)
  const page = visitor(t, mira.token)
  const path = `${LIST}/${first}`
  const shown = await page.get(path)
  for (const id of [first, second])
    assert.match(shown.body, new RegExp(`name="ids" value="${id}" checked form="close"|value="${id}" checked`))
  const fields = { do: 'next', ids: [first, second], outcome: 'no_action', message: '' }
  assertLeads(await page.sendFrom(shown, path, fields), `${LIST}/${next}?done=reports-closed`)
  assertSays(await page.get(`${LIST}/${next}`), 200, 'You are handling these reports.')
  assertSays(await page.get(`${LIST}/${taken}`), 200, 'jon')
  const released = await page.send(`${LIST}/${next}`, `${LIST}/${next}`, { do: 'release' })
  assertLeads(released, `${LIST}/${next}?done=report-released`)
  const list = await page.get(LIST)
  assertValidHtml(list.body)
  const claimed = await page.sendFrom(list, LIST, { do: `claim.${next}` })
  assertLeads(claimed, `${LIST}?done=report-claimed#r-${next}`)
  assertSays(await page.get(`${LIST}?claim=mine`), 200, '1 reported item')
  const last = { do: 'next', ids: [next], outcome: 'action', message: '' }
  const done = await page.send(`${LIST}/${next}`, `${LIST}/${next}`, last)
  assertLeads(done, `${LIST}?done=reports-closed`)
})

test('the page shows the item with its owner; takedown, message and suspension return to the report', async () => {
  const owner = await t.make.account({ username: 'quartzine' })
  const project = (await t.as(owner).post('/v3/project', { ...DRAFT, summary: `A light ${HOSTILE}` })).json()
  await t.deps.db
    .updateTable('project')
    .set({ status: 'approved', downloads: 1234 })
    .where('id', '=', project.id)
    .execute()
  const id = await makeReport(jon, { type: 'project', id: project.id })
  const path = `${LIST}/${id}`
  const page = visitor(t, mira.token)
  const shown = await page.get(path)
  for (const text of [
    'A light',
    '1,234',
    'quartzine',
    'Ask an operator to suspend',
    '0 approved, 0 rejected, 1 report',
  ])
    assertSays(shown, 200, text)
  assert.ok(!shown.body.includes(HOSTILE) && !shown.body.includes('value="suspend"'))
  assertValidHtml(shown.body)
  assertSays(await page.sendFrom(shown, path, { do: 'tell', text: ' ' }), 400, 'The message must not be blank')
  assertLeads(await page.sendFrom(shown, path, { do: 'tell', text: 'Is it yours?' }), `${path}?done=owner-told`)
  assertSays(await visitor(t, owner.token).get('/mod/report-lantern/settings/review'), 200, 'Is it yours?')
  assertSays(await page.sendFrom(shown, path, { do: 'ask', request: '' }), 400, 'must not be blank')
  assertLeads(await page.sendFrom(shown, path, { do: 'ask', request: 'Please' }), `${path}?done=operators-asked`)
  assertSays(await page.sendFrom(shown, path, { do: 'suspend', reason: 'Spam' }), 404, 'no account to suspend')
  const unknown = await page.sendFrom(shown, path, { do: 'hide', visibility: 'unlisted' })
  assertSays(unknown, 400, 'The visibility must be one of')
  const hidden = await page.sendFrom(shown, path, {
    do: 'hide',
    visibility: 'withheld',
    notice: 'Not yours',
    block_files: 'true',
  })
  const location = String(hidden.headers.location)
  assert.match(location, new RegExp(`^${path}\\?done=taken-down&takedown=\\w{8}$`))
  const after = await page.get(location)
  assertSays(after, 200, 'View takedown')
  assertSays(after, 200, 'Withheld')
  assertValidHtml(after.body)
  const operator = visitor(t, (await t.make.account({ role: 'admin' })).token)
  const form = await operator.get(path)
  assertSays(form, 200, 'Suspend quartzine')
  assertSays(await operator.sendFrom(form, path, { do: 'suspend', reason: 'Spam', days: 'x' }), 400, 'number of days')
  assertLeads(
    await operator.sendFrom(form, path, { do: 'suspend', reason: 'Spam', days: '7' }),
    `${path}?done=account-suspended`,
  )
  assertSays(await page.get(path), 200, 'Suspended')
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
