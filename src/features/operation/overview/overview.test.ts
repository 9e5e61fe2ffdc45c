import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { startSchedule } from '#platform/jobs/schedule.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { modJar } from '#test/support/http/forms.ts'
import { noFigures } from './figures/figures.ts'
import { findProblems, PROBLEM_CODES, type Situation } from './problems.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

const t = await testApp()
after(() => t.close())

// The delivered list of game versions grows old.
before(async () => {
  const row = { value: 'new', created: new Date(t.deps.now()).toISOString() }
  const answer = await t.anyone.post('/_internal/admin/tags/game_versions/values', row, KEY)
  assert.equal(answer.statusCode, 204, answer.body)
})

const read = async (path: string) => {
  const answer = await t.anyone.get(`/_internal/admin/${path}`, KEY)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const codes = async (): Promise<string[]> => (await read('overview')).problems.map(({ code }: { code: string }) => code)

test('the overview shows dependencies, figures and jobs with a constant number of statements', async () => {
  const { result, queries } = await t.queriesOf(() => read('overview'))
  assert.deepEqual(Object.keys(result.dependencies).sort(), [
    'analytics',
    'counters',
    'database',
    'files',
    'mail',
    'search',
  ])
  assert.equal(result.status, 'ready')
  assert.equal(result.figures.points.length, 96)
  assert.ok(queries.length <= 20, `${queries.length}`)
})

test('failed jobs, waiting reviews, read-only mode and old backups are problems until they are solved', async () => {
  assert.deepEqual(await codes(), ['mail_in_folder'])
  const { id } = await t.make.project({ status: 'processing' })
  await t.deps.db
    .updateTable('project')
    .set({ queued: new Date(t.deps.now() - 9 * DAY_MS) })
    .where('id', '=', id)
    .execute()
  await t.deps.pool.query("select graphile_worker.add_job('files.remove', '{\"keys\":[]}')")
  await t.deps.pool.query('update graphile_worker._private_jobs set attempts = max_attempts')
  const patch = { read_only: true }
  assert.equal((await t.anyone.patch('/_internal/admin/settings', patch, KEY)).statusCode, 204)
  const { problems } = await read('overview')
  assert.deepEqual(problems, [
    { code: 'jobs_failed', severity: 'error', values: { count: 1, tasks: 'files.remove' } },
    { code: 'backup_missing', severity: 'warning', values: {} },
    { code: 'review_waiting', severity: 'warning', values: { projects: 1, days: 9 } },
    { code: 'read_only', severity: 'warning', values: {} },
    { code: 'mail_in_folder', severity: 'warning', values: {} },
  ])
  await t.anyone.patch('/_internal/admin/settings', { read_only: null }, KEY)
  await t.anyone.delete('/_internal/admin/jobs', undefined, { ...KEY, query: { task: 'files.remove' } })
  await t.make.project()
  await t.deps.db.updateTable('project').set({ status: 'approved' }).where('id', '=', id).execute()
  const details = { id: 'first', name: 'first.tar', rows: 3, files: 2, events: 1, bytes: 5_000, missing: 0 }
  await recordAudit(t.deps.db, { action: 'backup.made', actor: COMMAND, details })
  assert.deepEqual(await codes(), ['mail_in_folder'])
  const [backup] = await read('backups')
  assert.deepEqual({ ...backup, at: '' }, { ...details, at: '' })
  t.advance(8 * DAY_MS + HOUR_MS)
  const [old] = (await read('overview')).problems
  assert.deepEqual(old, { code: 'backup_old', severity: 'warning', values: { days: 8 } })
})

test('every problem is found in the worst situation, errors first, and none in the best', () => {
  const tasks = [
    { task: 'accounts.send-mail', due: 0, scheduled: 0, running: 0, retrying: 3, failed: 1 },
    { task: 'files.sweep', due: 0, scheduled: 0, running: 0, retrying: 0, failed: 0 },
  ]
  const now = Date.parse('2026-11-22T12:00:00.000Z')
  const ago = (ms: number) => new Date(now - ms)
  const worst: Situation = {
    now,
    dependencies: { files: { status: 'ok' }, search: { status: 'degraded' }, mail: { status: 'slow' } },
    tasks,
    state: {
      hasProjects: true,
      inReview: 4,
      reviewSince: ago(8 * DAY_MS),
      scansWaiting: 2,
      scansSince: ago(3 * HOUR_MS),
      scansFailing: 2,
      scanError: 'connect ECONNREFUSED',
      oldestReadySeconds: 301,
      mailResponse: '550 No',
    },
    recent: { ...noFigures(), requests: 100, failed: 50, in_review: null, median_ms: 900, p95_ms: 1_001 },
    disk: { freeBytes: 2, totalBytes: 100 },
    daysLeft: 3,
    orphans: { files: 1, bytes: 10 },
    backup: { at: ago(9 * DAY_MS).toISOString(), missing: 2 },
    lateBackupMs: undefined,
    mailKind: 'outbox',
    guessedUrl: 'http://localhost:8080',
    isReadOnly: true,
    certificateUntil: new Date(now + 6 * DAY_MS),
    newRelease: { version: '99.0.0', url: 'https://code.example.org/depot' },
    gameVersions: {
      hasManifest: false,
      failingSince: ago(2 * DAY_MS),
      reason: 'The response has the status 500',
      newest: { value: '1.0', created: ago(181 * DAY_MS).toISOString() },
    },
  }
  const found = findProblems(worst)
  const others = [
    ...findProblems({ ...worst, backup: undefined }),
    ...findProblems({ ...worst, lateBackupMs: 3 * HOUR_MS }),
    ...findProblems({ ...worst, disk: { freeBytes: 50, totalBytes: 100 } }),
    ...findProblems({ ...worst, gameVersions: { ...worst.gameVersions, hasManifest: true } }),
  ]
  assert.deepEqual([...new Set([...found, ...others].map(({ code }) => code))].sort(), [...PROBLEM_CODES].sort())
  const severities = found.map(({ severity }) => severity)
  assert.deepEqual(severities, [...severities].sort())
  const best: Situation = {
    ...worst,
    dependencies: { files: { status: 'ok' } },
    tasks: [],
    state: {
      ...worst.state,
      ...{
        reviewSince: null,
        scansSince: null,
        oldestReadySeconds: 300,
        inReview: 0,
        scansWaiting: 0,
        scansFailing: 0,
      },
    },
    recent: { ...worst.recent, failed: 1, p95_ms: 1_000 },
    disk: { freeBytes: 50, totalBytes: 100 },
    daysLeft: null,
    orphans: { files: 0, bytes: 0 },
    backup: { at: ago(6 * DAY_MS).toISOString(), missing: 0 },
    mailKind: 'smtp',
    guessedUrl: undefined,
    isReadOnly: false,
    certificateUntil: new Date(now + 22 * DAY_MS),
    newRelease: undefined,
    gameVersions: { ...worst.gameVersions, newest: { value: '1.0', created: ago(180 * DAY_MS).toISOString() } },
  }
  assert.deepEqual(findProblems(best), [])
  const ending = (days: number) => findProblems({ ...best, certificateUntil: new Date(now + days * DAY_MS) })
  assert.deepEqual(ending(20), [{ code: 'certificate_ending', severity: 'warning', values: { days: 20 } }])
  assert.deepEqual(ending(-3), [{ code: 'certificate_ending', severity: 'error', values: { days: 0 } }])
  const gameVersions = { ...worst.gameVersions, hasManifest: true, failingSince: ago(2 * DAY_MS - 1) }
  assert.deepEqual(findProblems({ ...best, gameVersions }), [])
})

test('the state of the search index shows what it contains and whether a rebuild is requested', async () => {
  await t.searchable()
  const before = await read('search-index')
  assert.deepEqual([before.state, before.is_requested, before.rebuild, before.error], ['ready', false, null, null])
  assert.equal(before.documents, before.projects)
  assert.equal((await t.anyone.post('/_internal/admin/reindex', undefined, KEY)).statusCode, 204)
  await t.searchable()
  const { is_requested, state, changed } = await read('search-index')
  assert.deepEqual([is_requested, state], [false, 'ready'])
  assert.ok(Date.parse(changed) <= t.deps.now())
})

test('others than operators find nothing', async () => {
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const token = t.as(await t.make.pat(await t.make.account({ role: 'admin' })))
  for (const caller of [t.anyone, moderator, token]) {
    for (const path of ['overview', 'backups', 'search-index'])
      assertError(await caller.get(`/_internal/admin/${path}`), 404, 'not_found')
  }
})

test('the overview has totals, the work of moderators, and recurring jobs with their last and next turn', async () => {
  const before = (await read('overview')).totals
  const project = await t.make.project()
  await t.make.file({ version: await t.make.version({ project }), project, bytes: modJar('totals') })
  await t.deps.db.updateTable('project').set({ downloads: 7 }).where('id', '=', project.id).execute()
  const { totals, moderation, recurring } = await read('overview')
  const added = { accounts: 1, projects: 1, versions: 1, files: 1, downloads: 7 }
  for (const [name, count] of Object.entries(added)) assert.equal(totals[name], before[name] + count, name)
  assert.equal(totals.file_bytes, null)
  assert.deepEqual(moderation, { queue: 0, reports: 0, threads: 0, quarantined: 0, advisories: 0, accounts: 0 })
  assert.deepEqual(recurring, [])
  const { stop } = await startSchedule({
    pool: t.deps.pool,
    schedule: [{ job: 'files.sweep', everyMinutes: 60, atMinute: 17 }],
    log: t.deps.log,
  })
  await stop()
  const [job] = (await read('overview')).recurring
  assert.deepEqual([job.task, job.every_minutes], ['files.sweep', 60])
  assert.match(job.last, /:17:00\.000Z$/)
  assert.equal(Date.parse(job.next) - Date.parse(job.last), HOUR_MS)
})
