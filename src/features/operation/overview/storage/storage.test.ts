import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { StorageView } from './views.ts'

const STORAGE = '/_internal/admin/storage'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
before(async () => {
  t = await testApp()
  t.freeze()
})
after(() => t.close())

const read = async (): Promise<StorageView> => {
  const answer = await t.anyone.get(STORAGE, KEY)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function measure(): Promise<StorageView> {
  assert.equal((await t.anyone.post(`${STORAGE}/measure`, undefined, KEY)).statusCode, 204)
  assert.equal((await read()).measuring, true)
  await t.runJobs()
  return read()
}

const kindOf = (storage: StorageView, kind: string) => storage.kinds.find((one) => one.kind === kind)

async function addFile(sizeBytes: number, project = t.make.project()) {
  const owner = await project
  const version = await t.make.version({ project: owner })
  await t.make.file({ version, project: owner, bytes: Buffer.alloc(sizeBytes, newId()), filename: `${newId()}.jar` })
  return owner
}

test('before the first measurement, only the disk is known', async () => {
  const storage = await read()
  assert.deepEqual([storage.measured, storage.measuring, storage.kinds, storage.days], [null, false, [], []])
  assert.ok(storage.disk.total_bytes >= storage.disk.free_bytes && storage.disk.free_bytes > 0)
  assert.deepEqual(storage.growth, { bytes_per_day: null, days_left: null })
})

test('a measurement adds up the files by kind, lists the largest projects and finds files without a row', async () => {
  const large = await addFile(3_000)
  const small = await addFile(500)
  await t.deps.files.put('pictures/lost/one.png', Buffer.alloc(70), { contentType: 'image/png' })
  const storage = await measure()
  assert.deepEqual(kindOf(storage, 'version_files'), { kind: 'version_files', bytes: 3_500, files: 2 })
  assert.deepEqual(kindOf(storage, 'orphaned_files'), { kind: 'orphaned_files', bytes: 70, files: 1 })
  assert.deepEqual(storage.orphans, { files: 1, bytes: 70, listed: [{ key: 'pictures/lost/one.png', bytes: 70 }] })
  assert.ok((kindOf(storage, 'database')?.bytes ?? 0) > 1_000_000)
  assert.deepEqual(
    storage.projects.map(({ id, bytes, files }) => [id, bytes, files]),
    [
      [large.id, 3_000, 1],
      [small.id, 500, 1],
    ],
  )
  assert.equal(storage.measured, new Date(t.deps.now()).toISOString())
})

test('the growth is that of the days between the measurements; only the newest day has details', async () => {
  t.advance(2 * DAY_MS)
  await addFile(40_000)
  const storage = await measure()
  assert.deepEqual(
    storage.days.map(({ version_bytes }) => version_bytes),
    [3_500, 43_500],
  )
  // The database of the test is external, so that only files and events count.
  assert.ok((storage.growth.bytes_per_day ?? 0) >= 20_000)
  assert.ok((storage.growth.days_left ?? 0) > 0)
  const rows = await t.deps.db.selectFrom('storage_measure').select('details').orderBy('day').execute()
  assert.deepEqual(
    rows.map(({ details }) => details === null),
    [true, false],
  )
  t.advance(91 * DAY_MS)
  assert.equal((await measure()).days.length, 1)
})

test('two requests cause one measurement, and both are recorded', async () => {
  const post = () => t.anyone.post(`${STORAGE}/measure`, undefined, KEY)
  assert.deepEqual(
    (await Promise.all([post(), post()])).map(({ statusCode }) => statusCode),
    [204, 204],
  )
  const { rows } = await t.deps.pool.query(
    "select 1 from graphile_worker.jobs where task_identifier = 'storage.measure'",
  )
  assert.equal(rows.length, 1)
  await t.runJobs()
  const entries = await t.deps.db
    .selectFrom('audit_entry')
    .select('id')
    .where('action', '=', 'storage.measured')
    .execute()
  assert.equal(entries.length, 5)
})

test('others than operators find nothing', async () => {
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const token = t.as(await t.make.pat(await t.make.account({ role: 'admin' })))
  for (const caller of [t.anyone, moderator, token]) {
    assertError(await caller.get(STORAGE), 404, 'not_found')
    assertError(await caller.post(`${STORAGE}/measure`), 404, 'not_found')
  }
})
