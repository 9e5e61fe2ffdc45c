// Moves the database to another server: everything is there, also the secrets, or nothing is. move-database.system.test.ts has
// the move between major versions.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openSecret, sealSecret } from '#features/basics/instance-key/seal-secret.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

let folder: string
let from: TestDatabase
let to: TestDatabase
let env: Record<string, string>
const at = (name: string): string => join(folder, name)
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depot-move-'))
  from = await testDatabase()
  to = await emptyDatabase()
  env = { DATABASE_URL: from.connectionString, DATA_DIR: at('data') }
  await json(['seed', '--projects', '3'])
  await writeFile(at('new.env'), `DATABASE_URL=${to.connectionString}\n`)
  await writeFile(at('same.env'), `DATABASE_URL=${from.connectionString}\n`)
})
after(async () => {
  await from?.close()
  await to?.close()
  await rm(folder, { recursive: true, force: true })
})

async function json(args: string[], using = env): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await commandHere([...args, '--json'], using)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function failure(args: string[]): Promise<string> {
  const { code, stderr } = await commandHere(args, env)
  assert.equal(code, 1, stderr)
  return stderr
}

const move = ['move', 'database', '--to']

test('rows, secrets, unfinished uploads, jobs and the writer of backups move; the old database stays as it is', async () => {
  const sealed = await sealSecret(from, Buffer.from('the secret of a webhook'), 'webhook:1')
  await from.pool.query("select graphile_worker.add_job('files.sweep', run_at => '2099-01-01')")
  await from.pool.query("insert into upload_claim (storage_key) values ('a/b')")
  const report = await json([...move, at('new.env')])
  assert.ok(report.rows > 100 && report.tables > 60 && report.jobs >= 1, JSON.stringify(report))
  assert.equal((await openSecret(to, sealed, 'webhook:1')).toString(), 'the secret of a webhook')
  for (const statement of [
    'select * from instance_copy',
    'select * from instance_key',
    'select * from account order by id',
    'select * from version order by id',
    'select storage_key from upload_claim',
    "select identifier, run_at::text from graphile_worker.jobs join graphile_worker._private_tasks on identifier = task_identifier where run_at > '2098-01-01'",
  ])
    assert.deepEqual((await to.pool.query(statement)).rows, (await from.pool.query(statement)).rows, statement)
  const { rows } = await to.pool.query("select payload from graphile_worker._private_jobs where key = 'finish-restore'")
  assert.deepEqual(rows, [{ payload: { is_move: true } }])
  const using = { ...env, DATABASE_URL: to.connectionString }
  assert.equal((await json(['verify'], using)).findings, 0)
  assert.match(await failure([...move, at('new.env')]), /The new database is not empty: its table \w+ has rows/)
})

test('the same database, a database of a newer release and differing rows are refused, and nothing is copied', async () => {
  assert.match(await failure([...move, at('same.env')]), /same\.env refer to the current database\. Nothing was copied/)
  const other = await testDatabase()
  try {
    await writeFile(at('other.env'), `DATABASE_URL=${other.connectionString}\n`)
    assert.match(await failure([...move, at('other.env'), '--former', folder]), /--former is for the embedded database/)
    const next = "insert into schema_migration (name, checksum) values ('9999_next.sql', 'x')"
    await from.pool.query(next)
    assert.match(await failure([...move, at('other.env')]), /belongs to a newer release of Depot/)
    await from.pool.query("delete from schema_migration where name = '9999_next.sql'")
    // As on a server that stores a value differently.
    await other.pool.query('alter table file alter column filename type char(255)')
    const before = await other.pool.query('select * from instance_copy')
    const said = await failure([...move, at('other.env')])
    assert.match(said, /The table file of the new database differs: \d+ rows instead of \d+, or other values/)
    assert.deepEqual((await other.pool.query('select * from instance_copy')).rows, before.rows)
  } finally {
    await other.close()
  }
})
