// The age of the last good backup in the overview, its page, the metrics and the doctor, with and without a schedule.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkBackups } from '#features/operation/doctor/check-state.ts'
import { HOUR_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
let t: TestApp
let unscheduled: TestApp

before(async () => {
  t = await testApp({ env: { BACKUP_TARGET: '/var/backups/depot', BACKUP_SCHEDULE: 'every 6 hours' } })
  unscheduled = await testApp()
})
after(async () => {
  await t.close()
  await unscheduled.close()
})

const overviewOf = async (app: TestApp) => (await app.anyone.get('/_internal/admin/overview', KEY)).json()
const lateOf = async (app: TestApp) =>
  (await overviewOf(app)).problems.filter(({ code }: { code: string }) => code === 'backup_late')

async function metricOf(app: TestApp, name: string): Promise<number | undefined> {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec((await app.anyone.get('/metrics')).body) ?? []
  return value === undefined ? undefined : Number(value)
}

/** Records a backup of some hours ago. */
const madeBackup = (app: TestApp, hours: number, missing: number) =>
  app.deps.pool.query(
    "insert into audit_entry (at, action, actor_kind, details) values ($1, 'backup.made', 'command', $2)",
    [new Date(app.deps.now() - hours * HOUR_MS), { name: 'a.tar', missing }],
  )

test('a schedule without a good backup for two intervals is a problem, and a good backup solves it', async () => {
  assert.deepEqual(await lateOf(t), [])
  assert.equal(await metricOf(t, 'depot_backup_interval_seconds'), 6 * 3600)
  await t.deps.pool.query("update instance set created = now() - interval '13 hours'")
  assert.deepEqual((await lateOf(t))[0], { code: 'backup_late', severity: 'error', values: { hours: 13 } })
  assert.equal((await overviewOf(t)).last_good_backup, null)
  const [finding] = await checkBackups(t.deps)
  assert.equal(finding?.code, 'backup_late')
  assert.match(finding?.message ?? '', /the last good one is 13 hours old; run `depot backup` to see the reason\.$/)

  await madeBackup(t, 14, 0)
  await madeBackup(t, 1, 3)
  assert.equal((await lateOf(t))[0]?.values.hours, 14, 'a backup with missing files is not good')
  const age = await metricOf(t, 'depot_backup_age_seconds')
  assert.ok(age !== undefined && Math.abs(age - 14 * 3600) < 600, String(age))
  await madeBackup(t, 11, 0)
  assert.deepEqual(await lateOf(t), [])
  assert.ok(!(await checkBackups(t.deps)).some(({ code }) => code === 'backup_late'))
  assert.ok((await overviewOf(t)).last_good_backup !== null)
})

test('without a schedule, no backup is late, and there is no interval', async () => {
  await unscheduled.deps.pool.query("update instance set created = now() - interval '90 days'")
  assert.deepEqual(await lateOf(unscheduled), [])
  assert.equal(await metricOf(unscheduled, 'depot_backup_interval_seconds'), undefined)
  assert.ok(((await metricOf(unscheduled, 'depot_backup_age_seconds')) ?? 0) > 89 * 86_400)
})
