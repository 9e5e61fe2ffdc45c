// The worker of a real server makes the backup of BACKUP_SCHEDULE in a separate process, and says what is wrong if it fails.
import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
const at = (name: string): string => join(dataDir, name)
let database: TestDatabase
let server: RunningDepot
let env: Record<string, string>

before(async () => {
  database = await emptyDatabase()
  env = { DATABASE_URL: database.connectionString, BACKUP_TARGET: at('target'), BACKUP_SCHEDULE: 'every 1 hour' }
  assert.equal((await commandHere(['seed', '--projects', '2'], { DATA_DIR: at('data'), ...env })).code, 0)
  server = await startDepot(at('data'), env)
})
after(async () => {
  await server?.stop()
  await database?.close()
  remove()
})

/** Makes the schedule of the last hour due, as if no server had run since. */
async function makeDue(): Promise<void> {
  const { rowCount } = await database.pool.query("update job_schedule set slot = slot - 60 where job = 'backups.make'")
  assert.equal(rowCount, 1, 'the schedule has the job')
}

/** Waits until a statement returns rows. The worker looks for jobs every few seconds. */
async function untilRows(statement: string): Promise<Record<string, unknown>[]> {
  for (;;) {
    const { rows } = await database.pool.query(statement)
    if (rows.length > 0) return rows
    await sleep(50)
  }
}

test('a due backup is made while the server runs, with the events that only the server can read', async () => {
  await makeDue()
  const [made] = await untilRows("select details from audit_entry where action = 'backup.made'")
  const { name, files, missing } = (made as { details: { name: string; files: number; missing: number } }).details
  assert.ok(files > 0 && missing === 0)
  assert.ok(readdirSync(at('target/objects')).includes(`${name}.tar`))
  const restored = await commandHere(['restore', 'latest', '--json'], {
    DATA_DIR: at('restored'),
    BACKUP_TARGET: at('target'),
  })
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(JSON.parse(restored.stdout).files, files)
})

test('a backup that fails leaves a job with the reason, and the next one works', async () => {
  rmSync(at('target'), { recursive: true })
  writeFileSync(at('target'), 'a file where the folder was')
  await makeDue()
  const [failed] = await untilRows(
    `select last_error from graphile_worker._private_jobs job join graphile_worker._private_tasks task
      on task.id = job.task_id where task.identifier = 'backups.make' and last_error is not null`,
  )
  assert.match(String(failed?.['last_error']), /Cannot use BACKUP_TARGET .*target: (ENOTDIR|EEXIST)/)
  rmSync(at('target'))
  const again = await commandHere(['backup', '--json'], { DATA_DIR: at('data'), ...env })
  assert.equal(again.code, 0, again.stderr)
  assert.ok(JSON.parse(again.stdout).events >= 0)
})
