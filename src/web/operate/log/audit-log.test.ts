import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AUDIT_ACTIONS } from '#features/basics/audit/actions.ts'
import { COMMAND, ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'
import { isMessageKey } from '#web/ui/languages.ts'

const PATH = '/operator/audit-log'

let t: TestApp
let admin: Visitor
let hollisId: string
before(async () => {
  t = await testApp()
  admin = visitor(t, (await t.make.account({ role: 'admin', username: 'olga' })).token)
  const { id } = await t.make.account({ username: 'hollis' })
  hollisId = id
  const actor = ownerAt(id, { ip: '192.0.2.7' })
  for (let n = 0; n < 55; n += 1)
    await recordAudit(t.deps.db, { action: 'search.rebuild_requested', actor: COMMAND, details: { n } })
  const details = { before: '<i>private</i>', after: null, fields: ['a', 'b'], forced: true }
  const subject = { kind: 'report', id: 'AABBCCDD' } as const
  await recordAudit(t.deps.db, { action: 'report.closed', actor, subject, details })
})
after(() => t.close())

test('every action has a name', () => {
  assert.deepEqual(
    AUDIT_ACTIONS.filter((action) => !isMessageKey(`operate.action.${action}`)),
    [],
  )
})

const rowsOf = (body: string): number => body.match(/<tr id="entry-/g)?.length ?? 0

test('pages of 50 entries continue where the previous page ended', async () => {
  const first = await admin.get(PATH)
  assert.equal(rowsOf(first.body), 50)
  const older = /href="(\/operator\/audit-log\?before=\d+)"/.exec(first.body)?.[1] ?? ''
  const second = await admin.get(older)
  assert.equal(rowsOf(second.body), 6)
  assert.ok(!second.body.includes('Older entries'))
})

test('filters are in the URL, and accept usernames and days', async () => {
  for (const query of [
    'action=report.closed',
    'actor=hollis',
    'user=HOLLIS',
    `actor=${hollisId}`,
    'subject_kind=report&subject_id=AABBCCDD',
  ]) {
    const page = await admin.get(`${PATH}?${query}`)
    assert.equal(rowsOf(page.body), 1, query)
    assertSays(page, 200, 'Report closed')
  }
  const day = new Date(t.deps.now()).toISOString().slice(0, 10)
  assert.equal(rowsOf((await admin.get(`${PATH}?since=${day}&until=${day}`)).body), 50)
  assertSays(await admin.get(`${PATH}?until=2020-01-01`), 200, 'No entry matches')
})

test('details are a table of names and values, with markup as text', async () => {
  const page = await admin.get(`${PATH}?action=report.closed`)
  assertSays(page, 200, '<i>private</i>')
  assert.ok(!page.body.includes('<i>private</i>'))
  assert.match(page.body, /<th scope="row"><code>fields<\/code><\/th><td><bdi>a, b<\/bdi>/)
  assert.match(page.body, /<th scope="row"><code>after<\/code><\/th><td><bdi>empty<\/bdi>/)
  assertSays(page, 200, '192.0.2.7')
})

test('a wrong filter is shown at its field with the typed value', async () => {
  for (const [query, status, text] of [
    ['actor=nobody', 400, 'must be the username or the ID of an account'],
    ['since=yesterday', 400, 'The first day'],
    ['action=report.burnt', 400, 'The action'],
    ['since=2026-02-02&until=2026-01-01', 400, 'until must be after since'],
  ] as const) {
    const page = await admin.get(`${PATH}?${query}`)
    assertSays(page, status, text)
  }
  assert.match((await admin.get(`${PATH}?actor=nobody`)).body, /value="nobody"/)
})

test('the export has the filtered entries as CSV and JSON', async () => {
  const csv = await admin.get(`${PATH}/export?action=report.closed&format=csv`)
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(csv.body.trim().split('\r\n').length, 2)
  const json = await admin.get(`${PATH}/export?format=jsonl`)
  const lines = json.body.trim().split('\n')
  assert.equal(lines.length, 56)
  assert.equal(JSON.parse(lines.at(-1) ?? '').action, 'report.closed')
  assert.match(String(json.headers['content-disposition']), /audit-log\.jsonl/)
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  assert.equal((await moderator.get(`${PATH}/export`)).statusCode, 404)
})

test('entries name their objects with links; objects are found by name, texts and staff by fields, days by a picker', async () => {
  const project = await t.make.project({ name: 'Lantern <b>', owner: await t.make.account({ username: 'nell' }) })
  const version = await t.make.version({ project, version_number: '4.2.0' })
  const mira = await t.make.account({ role: 'moderator', username: 'mira' })
  const actor = ownerAt(mira.id, { ip: '192.0.2.8' })
  const subject = { kind: 'version', id: version.id } as const
  await recordAudit(t.deps.db, { action: 'version.deleted', actor, subject, details: { project: project.id } })
  const about = { kind: 'project', id: project.id } as const
  await recordAudit(t.deps.db, {
    action: 'project.changed',
    actor: ownerAt(hollisId, { ip: '192.0.2.7' }),
    subject: about,
  })
  const page = await admin.get(`${PATH}?subject_id=${project.slug}`)
  assert.equal(rowsOf(page.body), 1)
  assert.match(page.body, new RegExp(`<a href="/project/${project.id}"><bdi>Lantern &lt;b&gt;</bdi></a>`))
  assertValidHtml(page.body)
  const staff = await admin.get(`${PATH}?staff=true&query=version.del`)
  assert.equal(rowsOf(staff.body), 1)
  assertSays(staff, 200, 'Lantern <b> 4.2.0')
  assert.ok(!staff.body.includes(`<code>${version.id}</code>`), 'names instead of IDs')
  const link = /href="(\/project\/[^"]*\/version\/\w+)"/.exec(staff.body)?.[1] ?? assert.fail('no link to the version')
  assert.ok([200, 301].includes((await admin.get(link)).statusCode), link)
  assert.equal(rowsOf((await admin.get(`${PATH}?query=LANTERN-none`)).body), 0)
  assert.equal(staff.body.match(/type="date"/g)?.length, 2)
  const time = new Date(t.deps.now() - 1000).toISOString()
  assertSays(await admin.get(`${PATH}?since=${time}`), 200, `value="${time}"`)
})
