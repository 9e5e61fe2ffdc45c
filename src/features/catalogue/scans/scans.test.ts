// Scans before a version becomes visible, with an HTTP stand-in whose verdict each test sets.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { jobHandlers } from '#main/app.ts'
import { drainJobs } from '#platform/jobs/worker.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

type Answer = (req: IncomingMessage, res: ServerResponse, about: { filename: string }) => void
const says =
  (verdict: string, reason?: string): Answer =>
  (_req, res) =>
    void res.end(JSON.stringify({ verdict, reason }))
const fails: Answer = (_req, res) => void res.writeHead(503).end()

let answer: Answer = says('pass')
let asked: string[] = []
const server = createServer((req, res) => {
  const about = JSON.parse(decodeURIComponent(String(req.headers['x-file'])))
  asked.push(about.filename)
  req.resume().on('end', () => answer(req, res, about))
})

let t: TestApp
let author: Person
let moderator: Person
let stranger: Person
before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const SCANNER_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  t = await testApp({ env: { SCANNER_URL } })
  author = await t.make.account()
  moderator = await t.make.account({ role: 'moderator' })
  stranger = await t.make.account()
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await t.close()
})

let salt = 0
async function publish(
  project: MadeProject,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; status: string; requested_status: string | null }> {
  salt += 1
  const data = versionData({ project_id: project.id, ...fields })
  const { payload, headers } = await form(data, [
    { name: 'file', filename: `mod-${salt}.jar`, bytes: modJar(`scan ${salt}`) },
  ])
  const made = await t.as(project.owner).post('/v3/version', payload, { headers })
  assert.equal(made.statusCode, 201, made.body)
  return made.json()
}
/** Runs the job that the schedule starts each minute. */
const judge = (deps = t.deps) => jobHandlers(deps)['scans.judge']({}, new AbortController().signal)
async function sweep(): Promise<void> {
  await judge()
  await t.runJobs()
}
const scanOf = async (id: string, person: Person = author) => (await t.as(person).get(`/v3/version/${id}/scan`)).json()
const statusOf = async (id: string) => {
  const version = (await t.as(author).get(`/v3/version/${id}`)).json()
  return [version.status, version.requested_status]
}
/** Everything an anonymous caller could learn of the version. */
async function isHidden(project: MadeProject, id: string): Promise<boolean> {
  const file = await t.deps.db.selectFrom('file').selectAll().where('version_id', '=', id).executeTakeFirstOrThrow()
  const answers = await Promise.all([
    t.anyone.get(`/v3/version/${id}`),
    t.anyone.get(`/v3/project/${project.id}/version/${id}`),
    t.anyone.get(`/v3/version_file/${file.sha1}`),
    t.anyone.get(`/data/${project.id}/versions/${id}/${file.filename}`),
  ])
  const listed = (await t.anyone.get(`/v3/project/${project.id}/version`)).json()
  const { versions } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  const places = [
    ...answers.map(({ statusCode }) => statusCode === 200),
    listed.some((version: { id: string }) => version.id === id),
    versions.includes(id),
  ]
  assert.equal(new Set(places).size, 1, `all agree: ${places}`)
  return places[0] === false
}
const notifications = async (person: Person, type: string, versionId: string) =>
  (await t.as(person).get(`/v3/user/${person.id}/notifications`))
    .json()
    .filter(
      ({ body }: { body: { type: string; version_id?: string } }) =>
        body.type === type && body.version_id === versionId,
    )

test('a version is held until the scanner has passed it; then followers are notified, once', async () => {
  const project = await t.make.project({ owner: author })
  await t.as(stranger).post(`/v3/project/${project.id}/follow`)
  answer = says('pass')
  const version = await publish(project)
  assert.deepEqual([version.status, version.requested_status], ['unknown', 'listed'])
  assert.equal(await isHidden(project, version.id), true)
  assert.equal((await scanOf(version.id)).state, 'pending')
  await t.runJobs()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  assert.equal(await isHidden(project, version.id), false)
  const scan = await scanOf(version.id)
  assert.deepEqual([scan.state, scan.reason, scan.files.length, scan.files[0].verdict], ['pass', null, 1, 'pass'])
  await sweep()
  assert.equal((await notifications(stranger, 'project_update', version.id)).length, 1)
})

test('a warning shows the version, and shows its reason to members and in the review queue, to no one else', async () => {
  const project = await t.make.project({ owner: author, status: 'processing' })
  answer = says('warn', 'Packed twice')
  const version = await publish(project)
  const queued = async () => {
    const { projects } = (await t.as(moderator).get('/_internal/moderation/projects')).json()
    return projects.find(({ id }: { id: string }) => id === project.id).scans
  }
  const entry = { version_id: version.id, version_number: '1.0.0' }
  assert.deepEqual(await queued(), [{ ...entry, state: 'pending', reason: null }])
  await t.runJobs()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  const reason = `mod-${salt}.jar: Packed twice`
  assert.deepEqual(await queued(), [{ ...entry, state: 'warn', reason }])
  for (const person of [author, moderator]) {
    const scan = await scanOf(version.id, person)
    assert.deepEqual([scan.state, scan.reason, scan.files[0].reason], ['warn', reason, 'Packed twice'])
  }
  assertError(await t.as(stranger).get(`/v3/version/${version.id}/scan`), 404, 'not_found')
  await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'approved' })
  assertError(await t.as(stranger).get(`/v3/version/${version.id}/scan`), 403, 'unauthorized')
  assertError(await t.anyone.get(`/v3/version/${version.id}/scan`), 401, 'unauthorized')
})

test('a quarantined version stays hidden until a moderator releases it, whatever its publisher requests', async () => {
  const project = await t.make.project({ owner: author })
  answer = says('quarantine', 'Test.Signature')
  const version = await publish(project)
  await t.runJobs()
  assert.deepEqual(await statusOf(version.id), ['unknown', 'listed'])
  assert.equal(await isHidden(project, version.id), true)
  assert.equal((await notifications(author, 'version_quarantined', version.id)).length, 1)
  assert.equal((await t.as(author).patch(`/v3/version/${version.id}`, { status: 'archived' })).statusCode, 204)
  assert.deepEqual(await statusOf(version.id), ['unknown', 'archived'])
  await sweep()
  assert.equal(await isHidden(project, version.id), true)
  const list = (await t.as(moderator).get('/_internal/moderation/scans')).json()
  assert.ok(list.total >= 1)
  const listed = list.scans.find(({ version_id }: { version_id: string }) => version_id === version.id)
  assert.deepEqual(
    [listed.project_id, listed.state, listed.version_status, listed.attempts],
    [project.id, 'quarantine', 'unknown', 0],
  )
  for (const person of [author, stranger]) {
    assertError(await t.as(person).get('/_internal/moderation/scans'), 403, 'unauthorized')
    assertError(await t.as(person).post(`/_internal/moderation/scans/${version.id}/release`), 403, 'unauthorized')
  }
  const releases = await Promise.all(
    [1, 2, 3].map(() => t.as(moderator).post(`/_internal/moderation/scans/${version.id}/release`)),
  )
  assert.deepEqual(releases.map(({ statusCode }) => statusCode).sort(), [204, 400, 400])
  assert.deepEqual(await statusOf(version.id), ['archived', null])
  assert.equal(await isHidden(project, version.id), false)
  const scan = await scanOf(version.id)
  assert.deepEqual([scan.state, scan.released, scan.files[0].verdict], ['pass', true, 'quarantine'])
  assertError(await t.as(moderator).post('/_internal/moderation/scans/zzzzzzzz/release'), 404, 'not_found')
})

test('a scanner that fails, returns garbage or disconnects holds the version back, and is retried with growing delays', async () => {
  const project = await t.make.project({ owner: author })
  answer = fails
  const version = await publish(project)
  t.freeze()
  await t.runJobs()
  const garbage: Answer = (_req, res) => void res.end('clean')
  const hangsUp: Answer = (req) => void req.socket.destroy()
  asked = []
  for (const [next, pauseMs] of [
    [garbage, 30_000],
    [hangsUp, 60_000],
    [fails, 120_000],
  ] as const) {
    answer = next
    t.advance(pauseMs - 1000)
    const before = asked.length
    await sweep()
    assert.equal(asked.length, before, 'not before its time')
    t.advance(1500)
    await sweep()
    assert.equal(asked.length, before + 1)
    assert.deepEqual(await statusOf(version.id), ['unknown', 'listed'])
  }
  const pending = (await t.as(moderator).get('/_internal/moderation/scans', { query: { state: 'pending' } })).json()
    .scans
  const listed = pending.find(({ version_id }: { version_id: string }) => version_id === version.id)
  assert.equal(listed.attempts, 4)
  assert.match(listed.last_error, /status 503/)
  assert.ok(!JSON.stringify(await scanOf(version.id)).includes('503'), 'publishers do not see the inside')
  t.thaw()
  answer = says('pass')
  t.advance(16 * MINUTE_MS)
  await sweep()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  assert.equal(await isHidden(project, version.id), false)
})

test('two processes ask the scanner once', async () => {
  const project = await t.make.project({ owner: author })
  let respond = (): void => {}
  answer = (_req, res) => {
    respond = () => void res.end('{"verdict":"pass"}')
  }
  const version = await publish(project)
  asked = []
  const first = judge()
  const others = Promise.all([judge(), judge()])
  // Whichever of the three holds the scan waits for its answer; the others come back without one.
  await Promise.race([first, others])
  while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  respond()
  await Promise.all([first, others])
  assert.equal(asked.length, 1)
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  await drainJobs({ ...t.deps, handlers: jobHandlers(t.deps) })
  assert.equal(asked.length, 1)
})

test('added files hide a version until they are scanned, and followers are not notified when it returns', async () => {
  const project = await t.make.project({ owner: author })
  answer = says('pass')
  const version = await publish(project)
  await t.runJobs()
  await t.as(stranger).post(`/v3/project/${project.id}/follow`)
  const { payload, headers } = await form({}, [{ name: 'more', filename: 'more.jar', bytes: modJar(`more ${salt}`) }])
  const added = await t.as(author).post(`/v3/version/${version.id}/file`, payload, { headers })
  assert.equal(added.statusCode, 204, added.body)
  assert.deepEqual(await statusOf(version.id), ['unknown', 'listed'])
  assert.equal(await isHidden(project, version.id), true)
  answer = (req, res, about) => says(about.filename === 'more.jar' ? 'quarantine' : 'pass', 'bad')(req, res, about)
  await t.runJobs()
  assert.equal((await scanOf(version.id)).reason, 'more.jar: bad')
  assert.equal(await isHidden(project, version.id), true)
  const { sha1 } = await t.deps.db
    .selectFrom('file')
    .select('sha1')
    .where('version_id', '=', version.id)
    .where('filename', '=', 'more.jar')
    .executeTakeFirstOrThrow()
  const removed = await t.as(author).delete(`/v3/version_file/${sha1}`)
  assert.equal(removed.statusCode, 204, removed.body)
  assert.equal((await scanOf(version.id)).state, 'pending', 'without the bad file it is scanned again')
  await t.runJobs()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  assert.equal((await notifications(stranger, 'project_update', version.id)).length, 0)
})

test('a verdict on an outdated set of files does not count', async () => {
  const project = await t.make.project({ owner: author })
  const version = await publish(project)
  answer = (_req, res) => {
    void (async () => {
      const { payload, headers } = await form({}, [
        { name: 'late', filename: 'late.jar', bytes: modJar(`late ${salt}`) },
      ])
      await t.as(author).post(`/v3/version/${version.id}/file`, payload, { headers })
      answer = fails
      res.end('{"verdict":"pass"}')
    })()
  }
  await judge()
  assert.deepEqual(await statusOf(version.id), ['unknown', 'listed'], 'the first verdict was a pass, the second is due')
  answer = says('pass')
  t.advance(60_000)
  await sweep()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  assert.equal((await scanOf(version.id)).files.length, 2)
})

test('a draft is scanned immediately and listed without delay; an unscanned version waits', async () => {
  const project = await t.make.project({ owner: author })
  answer = says('pass')
  const early = await publish(project, { status: 'draft' })
  const late = await publish(project, { status: 'draft' })
  assert.equal(early.status, 'draft')
  assert.equal((await t.as(author).patch(`/v3/version/${late.id}`, { status: 'listed' })).statusCode, 204)
  assert.deepEqual(await statusOf(late.id), ['unknown', 'listed'])
  await t.runJobs()
  assert.deepEqual(await statusOf(early.id), ['draft', null])
  assert.deepEqual(await statusOf(late.id), ['listed', null])
  assert.equal((await t.as(author).patch(`/v3/version/${early.id}`, { status: 'listed' })).statusCode, 204)
  assert.deepEqual(await statusOf(early.id), ['listed', null])
  const held = await publish(project)
  assert.equal((await t.as(author).patch(`/v3/version/${held.id}`, { status: 'draft' })).statusCode, 204)
  await t.runJobs()
  assert.deepEqual(await statusOf(held.id), ['draft', null], 'a withdrawn version stays withdrawn')
})

test('a version from before there was a scanner is judged when it becomes visible; a visible one stays visible', async () => {
  const project = await t.make.project({ owner: author })
  const old = await t.make.version({ project, status: 'draft' })
  await t.make.file({ version: old, project, bytes: modJar('from before') })
  const shown = await t.make.version({ project })
  await t.make.file({ version: shown, project, bytes: modJar('shown before') })
  assert.equal((await scanOf(old.id)).state, 'none')
  await t.as(author).patch(`/v3/version/${old.id}`, { status: 'unlisted' })
  assert.deepEqual(await statusOf(old.id), ['unknown', 'unlisted'])
  await t.as(author).patch(`/v3/version/${shown.id}`, { status: 'archived' })
  assert.deepEqual(await statusOf(shown.id), ['archived', null])
  assert.equal((await t.as(moderator).post(`/_internal/moderation/scans/${shown.id}/repeat`)).statusCode, 204)
  assert.deepEqual(await statusOf(shown.id), ['archived', null], 'visible during the second scan')
  answer = says('quarantine', 'found late')
  await t.runJobs()
  assert.deepEqual(await statusOf(shown.id), ['unknown', 'archived'])
  assert.deepEqual(await statusOf(old.id), ['unknown', 'unlisted'])
  assertError(await t.as(author).post(`/_internal/moderation/scans/${shown.id}/repeat`), 403, 'unauthorized')
  assertError(await t.as(moderator).post('/_internal/moderation/scans/zzzzzzzz/repeat'), 404, 'not_found')
})

test('a new project goes to review with its held versions, and a draft can be submitted with one', async () => {
  answer = says('pass')
  const slug = `scanned-${salt}`
  const initial_versions = [versionData()]
  const data = projectData(slug, { is_draft: true, initial_versions })
  const { payload, headers } = await form(data, [{ name: 'file', filename: 'first.jar', bytes: modJar(slug) }])
  const made = await t.as(author).post('/v3/project', payload, { headers })
  assert.equal(made.statusCode, 201, made.body)
  assert.deepEqual(made.json().versions, [])
  const submitted = await t.as(author).patch(`/v3/project/${slug}`, { status: 'processing' })
  assert.equal(submitted.statusCode, 204, submitted.body)
  await t.runJobs()
  assert.equal((await t.as(author).get(`/v3/project/${slug}`)).json().versions.length, 1)
})

test('a scheduled version whose time comes before its verdict waits for it', async () => {
  const project = await t.make.project({ owner: author })
  answer = fails
  const version = await publish(project, { status: 'draft' })
  const scheduled_at = new Date(t.deps.now() + HOUR_MS).toISOString()
  const patch = { status: 'scheduled', requested_status: 'listed', scheduled_at }
  assert.equal((await t.as(author).patch(`/v3/version/${version.id}`, patch)).statusCode, 204)
  await t.runJobs()
  t.advance(3_700_000)
  await t.runJob('releases.sweep')
  assert.deepEqual(await statusOf(version.id), ['unknown', 'listed'])
  assert.equal(await isHidden(project, version.id), true)
  answer = says('pass')
  await sweep()
  assert.deepEqual(await statusOf(version.id), ['listed', null])
  assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().date_published, scheduled_at)
})

test('without a scanner, pending versions become visible and quarantined versions do not', async () => {
  const project = await t.make.project({ owner: author })
  answer = says('quarantine', 'bad')
  const bad = await publish(project)
  await t.runJobs()
  answer = fails
  const waiting = await publish(project)
  await t.runJobs()
  t.advance(60_000)
  await judge({ ...t.deps, config: { ...t.deps.config, scanner: { kind: 'none' } } })
  assert.deepEqual(await statusOf(waiting.id), ['listed', null])
  assert.deepEqual(await statusOf(bad.id), ['unknown', 'listed'])
})
