// Backups at BACKUP_TARGET for operators: the list, a new one, a verification, and a download.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Commands } from '#ports/commands.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { saveCheck } from '../checks/queries.ts'
import type { BackupTargetView } from './views.ts'
import { verifyTargetBackup } from './watch-target.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const BACKUPS = '/_internal/admin/backups'
const NAME = 'depot-20261129T031500000Z-abcd1234'

const folder = await mkdtemp(join(tmpdir(), 'depot-target-'))
const t = await testApp({ env: { BACKUP_TARGET: folder, BACKUP_SCHEDULE: 'every 6 hours', BACKUP_KEEP: '3' } })
const without = await testApp({ env: { BACKUP_RECIPIENT: `age1${'q'.repeat(58)}` } })
after(async () => {
  await t.close()
  await without.close()
  await rm(folder, { recursive: true, force: true })
})

const read = async (): Promise<BackupTargetView> => {
  const answer = await t.anyone.get(`${BACKUPS}/target`, KEY)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const jobs = async (task: string): Promise<unknown[]> =>
  (
    await t.deps.pool.query(
      `select payload from graphile_worker._private_jobs job
       join graphile_worker._private_tasks task on task.id = job.task_id where identifier = $1`,
      [task],
    )
  ).rows

test('the target has its schedule and retention, and what the last listing found', async () => {
  const { target, listed, making } = await read()
  assert.deepEqual(target, { address: folder, every_minutes: 360, at_minute: 15, keep: 3, encrypted: false })
  assert.deepEqual([listed, making], [null, null])
  const objects = join(folder, 'objects')
  await mkdir(objects)
  await writeFile(join(objects, `${NAME}.tar`), 'rows')
  await writeFile(join(objects, 'files-abcd1234-plain.tar'), 'many files')
  await writeFile(join(objects, 'unrelated.txt'), '')
  await t.runJob('backups.list')
  const found = await read()
  assert.deepEqual(found.listed?.backups, [
    { name: NAME, bytes: 4, created: '2026-11-29T03:15:00.000Z', encrypted: false },
  ])
  assert.deepEqual([found.listed?.files_bytes, found.listed?.error], [10, null])
})

test('a backup is requested once, and its progress is that of the run', async () => {
  await saveCheck(t.deps.db, 'backup_progress', {
    value: { step: 'rows', done: 1, total: null },
    at: new Date(t.deps.now() - 60_000),
  })
  const answers = await Promise.all([1, 2].map(() => t.anyone.post(BACKUPS, undefined, KEY)))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [204, 204],
  )
  assert.equal((await jobs('backups.make')).length, 1)
  assert.deepEqual((await read()).making, { state: 'waiting', progress: null })
  await t.deps.pool.query("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a worker'")
  assert.deepEqual((await read()).making, { state: 'running', progress: null })
  const value = { step: 'files', done: 20, total: 90 } as const
  await saveCheck(t.deps.db, 'backup_progress', { value, at: new Date(Date.now() + 1_000) })
  const { making } = await read()
  assert.deepEqual([making?.state, making?.progress], ['running', value])
  await t.deps.pool.query('delete from graphile_worker._private_jobs')
  const entries = await t.deps.db
    .selectFrom('audit_entry')
    .select('action')
    .where('action', '=', 'backup.requested')
    .execute()
  assert.equal(entries.length, 2)
})

test('a backup at the target is verified, and the audit log has the result', async () => {
  assertError(
    await t.anyone.post(`${BACKUPS}/depot-20200101T000000000Z-abcd1234/verify`, undefined, KEY),
    404,
    'not_found',
  )
  assert.equal((await t.anyone.post(`${BACKUPS}/${NAME}/verify`, undefined, KEY)).statusCode, 204)
  assert.deepEqual(
    (await jobs('backups.verify')).map((row) => (row as { payload: { name: string } }).payload.name),
    [NAME],
  )
  assert.equal((await read()).verifying, true)
  await t.deps.pool.query('delete from graphile_worker._private_jobs')
  const commands: (readonly string[])[] = []
  let failure: Error | undefined
  const own: Commands = {
    ...t.deps.commands,
    run: async (words) => {
      commands.push(words)
      if (failure !== undefined) throw failure
    },
  }
  const verify = () =>
    verifyTargetBackup({ ...t.deps, commands: own }, { name: NAME, signal: AbortSignal.timeout(60_000) })
  await verify()
  const { last_verification: good, verifying } = await read()
  assert.deepEqual([good?.name, good?.good, good?.reason, verifying], [NAME, true, null, false])
  failure = new OperatorError('The backup is damaged')
  await verify()
  const { last_verification: bad } = await read()
  assert.deepEqual([bad?.good, bad?.reason], [false, 'The backup is damaged'])
  failure = new TypeError('A fault of Depot')
  await assert.rejects(verify(), TypeError)
  assert.deepEqual(commands[0], ['backup', 'verify', NAME])
})

test('an encrypted backup is verified where its key is', async () => {
  const details = { name: NAME, encrypted: true }
  await recordAudit(t.deps.db, { action: 'backup.made', actor: COMMAND, details })
  assert.deepEqual((await read()).listed?.backups[0]?.encrypted, true)
  assertError(await t.anyone.post(`${BACKUPS}/${NAME}/verify`, undefined, KEY), 409, 'conflict')
})

test('a download is an encrypted backup that a command makes, and the audit log has it', async () => {
  const answer = await without.anyone.get(`${BACKUPS}/archive`, KEY)
  assert.deepEqual([answer.statusCode, answer.body], [200, 'backup -'])
  assert.match(
    String(answer.headers['content-disposition']),
    /^attachment; filename="depot-\d{4}-\d\d-\d\d\.tar\.age"$/,
  )
  const entries = await without.deps.db
    .selectFrom('audit_entry')
    .select('id')
    .where('action', '=', 'backup.downloaded')
    .execute()
  assert.equal(entries.length, 1)
})

test('a target that cannot be read is reported with the reason', async () => {
  await rm(folder, { recursive: true })
  await writeFile(folder, 'not a folder')
  await t.runJob('backups.list')
  assert.match((await read()).listed?.error ?? '', /^Cannot use BACKUP_TARGET/)
})

test('without a target there is nothing to make, and without a key nothing to download', async () => {
  const empty = await without.anyone.get(`${BACKUPS}/target`, KEY)
  assert.deepEqual([empty.json().target, empty.json().listed], [null, null])
  assertError(await without.anyone.post(BACKUPS, undefined, KEY), 400, 'invalid_input')
  assertError(await without.anyone.post(`${BACKUPS}/${NAME}/verify`, undefined, KEY), 400, 'invalid_input')
  assertError(await t.anyone.get(`${BACKUPS}/archive`, KEY), 409, 'conflict')
})

test('others than operators find nothing', async () => {
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const token = t.as(await t.make.pat(await t.make.account({ role: 'admin' })))
  for (const caller of [t.anyone, moderator, token]) {
    for (const path of ['target', 'archive']) assertError(await caller.get(`${BACKUPS}/${path}`), 404, 'not_found')
    assertError(await caller.post(BACKUPS), 404, 'not_found')
    assertError(await caller.post(`${BACKUPS}/${NAME}/verify`), 404, 'not_found')
  }
})
