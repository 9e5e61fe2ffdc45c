// Read-only mode on every route: read requests succeed, and the server rejects every write before it changes anything.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { bareRequest, buildRequest } from './requests.ts'
import { createWorld, type World } from './world.ts'

const SETTINGS = '/_internal/admin/settings'
const MESSAGE = 'We are moving house; come back at six.'

/** Operations that stay available although they are neither GET nor HEAD. Names of v2 operations end in V2. */
const GOES_ON = new Set([
  'discardJob',
  'discardJobs',
  'exportData',
  'findIndividualUpdates',
  'findUpdate',
  'findUpdateLists',
  'findUpdates',
  'introspectToken',
  'listProjectsByHash',
  'listVersionsByHash',
  'makeBackup',
  'measureStorage',
  'operateBackupsForm',
  'operateJobsConfirmForm',
  'operateJobsForm',
  'operateReadOnlyForm',
  'operateRebuildForm',
  'operateStorageForm',
  'queryAnalytics',
  'ratePassword',
  'rebuildSearch',
  'reportAffiliateClick',
  'reportPlaytime',
  'reportView',
  'retryJob',
  'retryJobs',
  'matchAdvisories',
  'resolveItems',
  'searchProjectsByBody',
  'takeData',
  'updateSettings',
  'validateNewAccount',
  'verifyBackup',
])
/** GET operations that read-only mode rejects because they store the request. */
const WRITES = new Set(['answerProviderSignIn', 'authorize', 'showConsent'])

let t: TestApp
let world: World
before(async () => {
  t = await testApp()
  world = createWorld(t)
  await switchTo(true)
})
after(() => t.close())

async function switchTo(read_only: boolean): Promise<void> {
  const body = { read_only, read_only_message: read_only ? MESSAGE : null }
  const answer = await t.anyone.patch(SETTINGS, body, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(answer.statusCode, 204, answer.body)
}

const isRefused = (answer: { statusCode: number; body: string }): boolean =>
  answer.statusCode === 503 && answer.body.includes('We are moving house')

test('every route that changes something is rejected, and no other', async () => {
  const admin = await t.make.account({ role: 'admin' })
  const wrong: string[] = []
  const seen = new Set<string>()
  for (const route of t.app.routeTable()) {
    const request = bareRequest(route)
    const headers = { ...request.headers, authorization: admin.token }
    const answer = await t.inject({ ...request, headers })
    const name = route.operationId.replace(/V2$/, '')
    seen.add(name)
    // Forms that the handler itself rejects; without a token they fail before that.
    if (route.config.whenReadOnly === 'form') {
      if (answer.statusCode !== 403) wrong.push(`${route.method} ${route.url}: ${answer.statusCode}`)
      continue
    }
    const goesOn = GOES_ON.has(name) || (['GET', 'HEAD'].includes(route.method) && !WRITES.has(name))
    if (isRefused(answer) === goesOn)
      wrong.push(`${route.method} ${route.url} ${route.operationId}: ${answer.statusCode}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual(
    [...GOES_ON, ...WRITES].filter((name) => !seen.has(name)),
    [],
  )
})

test("a refusal has the operator's text and says when to come again, after credentials and before the body", async () => {
  const person = await t.make.account()
  const answer = await t.as(person).patch(`/v3/user/${person.id}`, { bio: 5 })
  assert.deepEqual(
    [answer.statusCode, answer.json().error, answer.headers['retry-after']],
    [503, 'service_unavailable', '60'],
  )
  assert.ok(answer.json().description.startsWith(MESSAGE))
  assert.equal((await t.anyone.patch(`/v3/user/${person.id}`, { bio: 'x' })).statusCode, 401)
  const page = await t.anyone.post('/account/sign-in', 'username=a&password=b', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(page.statusCode, 503)
  assert.match(String(page.headers['content-type']), /text\/html/)
  assert.ok(page.body.includes(MESSAGE))
})

test('lookups by hash, update checks, search and downloads answer as before', async () => {
  for (const name of [
    'listVersionsByHash',
    'listProjectsByHash',
    'findUpdate',
    'findUpdates',
    'downloadFile',
    'findUpdateV2',
  ]) {
    const route = t.app.routeTable().find(({ operationId }) => operationId === name)
    assert.ok(route !== undefined, name)
    const { statusCode, body } = await t.inject(await buildRequest(world, route))
    assert.ok(statusCode === 200, `${name}: ${statusCode} ${body}`)
  }
  await t.searchable()
  assert.equal((await t.anyone.get('/v3/search')).statusCode, 200)
  assert.equal((await t.anyone.get('/')).statusCode, 200)
})

test('scheduled work waits, and runs afterwards', async () => {
  const project = await t.make.project()
  const scheduled_at = new Date(t.deps.now() - DAY_MS)
  await t.deps.db
    .updateTable('project')
    .set({ status: 'scheduled', requested_status: 'approved', scheduled_at, approved: scheduled_at })
    .where('id', '=', project.id)
    .execute()
  const sweep = async (): Promise<string> => {
    await sql`select graphile_worker.add_job('releases.sweep', '{}'::json)`.execute(t.deps.db)
    await t.runJobs()
    const row = await t.deps.db.selectFrom('project').select('status').where('id', '=', project.id).executeTakeFirst()
    return row?.status ?? ''
  }
  assert.equal(await sweep(), 'scheduled')
  await switchTo(false)
  assert.equal(await sweep(), 'approved')
  const person = await t.make.account()
  assert.equal((await t.as(person).patch(`/v3/user/${person.id}`, { bio: 'Lights' })).statusCode, 204)
})
