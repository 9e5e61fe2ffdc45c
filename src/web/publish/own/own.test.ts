// The user's own reports and followed projects.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'
const REPORTS = '/dashboard/reports'
const FOLLOWS = '/dashboard/follows'

const t = await testApp()
after(() => t.close())
const ann = await t.make.account({ username: 'ann' })
const mira = await t.make.account({ role: 'moderator', username: 'mira' })

async function report(): Promise<string> {
  const input = {
    report_type: 'spam',
    item_type: 'user',
    item_id: (await t.make.account()).id,
    body: `Look ${HOSTILE}`,
  }
  return (await t.as(ann).post('/v3/report', input)).json().id
}

test('the reporter sees their reports with the conversation, and says that a report is no longer needed', async () => {
  const page = visitor(t, ann.token)
  assertSays(await page.get(REPORTS), 200, 'You have not reported anything.')
  const id = await report()
  const path = `${REPORTS}/${id}`
  const list = await page.get(REPORTS)
  assertSays(list, 200, 'Spam')
  assertValidHtml(list.body)
  const shown = await page.get(path)
  assertSays(shown, 200, 'There are no messages.')
  assertValidHtml(shown.body)
  assert.ok(!shown.body.includes('<script>alert'))
  assertLeads(await page.sendFrom(shown, path, { do: 'withdraw' }), `${path}?done=report-replied`)
  assertSays(await page.get(path), 200, 'I no longer need this report.')
  assertSays(await page.sendFrom(shown, path, { do: 'send', body: ' ' }), 400, 'must not be blank')

  assert.equal((await t.as(mira).patch(`/v3/report/${id}`, { closed: true, outcome: 'action' })).statusCode, 204)
  const closed = await page.get(path)
  assertSays(closed, 200, 'This report is closed.')
  assertSays(closed, 200, 'Closed, led to action')
  assertSays(await page.get(REPORTS), 200, 'Closed, led to action')
  assert.equal((await t.as(mira).patch(`/v3/report/${id}`, { outcome: 'no_action' })).statusCode, 204)
  for (const shown of [path, REPORTS]) assertSays(await page.get(shown), 200, 'Closed, no action')
  const late = await page.sendFrom(shown, path, { do: 'send', body: 'More to say' })
  assertSays(late, 400, 'This report is closed')
  assertSays(late, 400, 'More to say')
})

test('reports show what was reported, with its kind and a link, as long as the reporter can see it', async () => {
  const ben = await t.make.account()
  const project = await t.make.project({ name: 'Lantern <b>' })
  const version = await t.make.version({ project, version_number: '2.0.0+a' })
  const ids = new Map<string, string>()
  for (const [type, id] of [
    ['project', project.id],
    ['version', version.id],
    ['user', mira.id],
  ] as const) {
    const input = { report_type: 'spam', item_type: type, item_id: id, body: 'Look' }
    ids.set(type, (await t.as(ben).post('/v3/report', input)).json().id)
  }
  const page = visitor(t, ben.token)
  const list = await page.get(REPORTS)
  assertValidHtml(list.body)
  for (const text of ['Lantern <b>', 'Lantern <b> 2.0.0+a', 'mira', 'Project', 'Version', 'User'])
    assertSays(list, 200, text)
  const pathIn = async (type: string): Promise<string> => {
    const { body } = await page.get(`${REPORTS}/${ids.get(type)}`)
    return /<span>\w+: <a href="([^"]+)">/.exec(body)?.[1] ?? assert.fail(body)
  }
  assert.match(await pathIn('project'), /^\/mod\/[^/]+$/)
  assertSays(await page.get(await pathIn('version')), 200, '2.0.0+a')
  assert.equal(await pathIn('user'), '/user/mira')
  await t.deps.db
    .updateTable('project')
    .set({ status: 'rejected', name: 'Secret' })
    .where('id', '=', project.id)
    .execute()
  t.deps.cache.clear()
  const hidden = await page.get(REPORTS)
  assertSays(hidden, 200, `no longer visible (${project.id})`)
  assert.ok(!hidden.body.includes('Secret') && !hidden.body.includes('2.0.0'))
})

test('the reports of others do not exist, and their moderators stay anonymous', async () => {
  const id = await report()
  const path = `${REPORTS}/${id}`
  for (const person of [await t.make.account(), mira])
    assertSays(await visitor(t, person.token).get(path), 404, 'does not exist')
  assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  const { thread_id } = (await t.as(ann).get(`/v3/report/${id}`)).json()
  const body = { type: 'text', body: 'We look into it.' }
  await t.as(mira).post(`/v3/thread/${thread_id}`, { body })
  await t.as(mira).post(`/v3/thread/${thread_id}`, { body: { ...body, body: 'A known spammer', private: true } })
  const shown = await visitor(t, ann.token).get(path)
  assertSays(shown, 200, 'A moderator')
  assert.ok(!shown.body.includes('mira') && !shown.body.includes('A known spammer'))
})

test('followed projects have the latest version for the setup of the user', async () => {
  const page = visitor(t, ann.token)
  assertSays(await page.get(FOLLOWS), 200, 'You do not follow any projects.')
  const project = await t.make.project({ name: 'Lantern' })
  const day = (n: number): Date => new Date(Date.UTC(2026, 0, n))
  await t.make.version({ project, version_number: '1.0.0', game_versions: ['1.20.1'], date_published: day(1) })
  await t.make.version({ project, version_number: '2.0.0', game_versions: ['1.21.1'], date_published: day(2) })
  await t.make.version({ project, version_number: '3.0.0', status: 'draft', date_published: day(3) })
  assert.equal((await t.as(ann).post(`/v3/project/${project.id}/follow`)).statusCode, 204)
  const list = await page.get(FOLLOWS)
  assertSays(list, 200, '2.0.0')
  assertValidHtml(list.body)
  assert.ok(!list.body.includes('3.0.0'))
  page.cookies.set('__Host-depot-setup', encodeURIComponent('1.20.1|fabric'))
  assertSays(await page.get(FOLLOWS), 200, '1.0.0')
  page.cookies.set('__Host-depot-setup', encodeURIComponent('1.20.1|forge'))
  assertSays(await page.get(FOLLOWS), 200, 'No version for your setup')
  const { queries } = await t.queriesOf(() => page.get(FOLLOWS))
  for (let n = 0; n < 5; n += 1) {
    const { id } = await t.make.project()
    await t.as(ann).post(`/v3/project/${id}/follow`)
  }
  await page.get(FOLLOWS)
  assert.equal((await t.queriesOf(() => page.get(FOLLOWS))).queries.length, queries.length)
})
