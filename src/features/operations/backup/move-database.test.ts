// Every row goes into another database or none does, and the old database stays as it is.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { seedCatalogue } from '#demo/seed-catalogue.ts'
import { migrate } from '#platform/db/migrate.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { commandHere } from '#test/support/command-here.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '#test/support/database.ts'
import { everyRow } from '#test/support/every-answer.ts'
import { leaveEverything } from '#test/support/full-account.ts'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { moveDatabase } from './move-database.ts'

let t: TestApp
const folder = mkdtempSync(join(tmpdir(), 'depot-move-'))
before(async () => {
  t = await testApp()
  await seedCatalogue(t.deps, 5)
  await leaveEverything(t.deps.db, await t.make.account(), await t.make.account())
  const later = { runAt: new Date('2099-01-02T03:04:05.678Z'), jobKey: 'a-key' }
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'versions.release', { version_id: 'AbCdEfGh' }, later))
  // What a backup leaves out, and a move takes along.
  await sql`insert into upload_claim (storage_key) values ('versions/under/way')`.execute(t.deps.db)
})
after(async () => {
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function newTarget(): Promise<TestDatabase> {
  const target = await emptyDatabase()
  after(() => target.close())
  return target
}

const urlOf = (deps: TestApp['deps']): string => {
  const { database } = deps.config
  return database.kind === 'external' ? database.url.reveal() : assert.fail('the tests have a server')
}

/** Runs the command with these settings in the file that it names. */
function moveTo(settings: string, ...more: string[]) {
  const path = join(folder, 'new.env')
  writeFileSync(path, settings)
  const env = { DATABASE_URL: urlOf(t.deps), DATA_DIR: join(folder, 'data') }
  return commandHere(['move', 'database', '--to', path, ...more], env)
}

/** All but what operators do with an instance. */
async function rowsOf(db: TestApp['deps']['db']): Promise<Map<string, string[]>> {
  const rows = await everyRow(db)
  const entries = rows.get('audit_entry') ?? []
  return rows.set(
    'audit_entry',
    entries.filter((text) => !text.includes('"database.moved"')),
  )
}

test('all rows, the next IDs and the jobs that wait are in the new database, which a Depot then serves', async () => {
  const target = await newTarget()
  const before = await rowsOf(t.deps.db)
  const moved = await moveTo(`DATABASE_URL=${target.connectionString}\n`, '--json')
  assert.equal(moved.code, 0, moved.stderr)
  const report = JSON.parse(moved.stdout)
  assert.ok(report.rows > 200 && report.jobs >= 1 && report.tables > 50, moved.stdout)
  assert.deepEqual(await rowsOf(target.db), before)
  assert.deepEqual(await rowsOf(t.deps.db), before)
  const { rows: claims } = await sql`select storage_key from upload_claim`.execute(target.db)
  assert.deepEqual(claims, [{ storage_key: 'versions/under/way' }])
  const { rows: entries } = await sql<{ details: { rows: number } }>`
    select details from audit_entry where action = 'database.moved'`.execute(target.db)
  assert.deepEqual(
    entries.map(({ details }) => details.rows),
    [report.rows],
  )
  const jobs = async (db: TestApp['deps']['db']) =>
    (
      await sql`select task.identifier, job.payload::text, job.run_at, job.key from graphile_worker._private_jobs job
      join graphile_worker._private_tasks task on task.id = job.task_id order by 1, 2`.execute(db)
    ).rows
  assert.deepEqual(await jobs(target.db), await jobs(t.deps.db))
  await sql`insert into catalogue_change (projects) values (0)`.execute(target.db)
  const served = await commandHere(['user', 'list', '--json'], {
    DATABASE_URL: target.connectionString,
    DATA_DIR: join(folder, 'data'),
  })
  assert.ok(served.code === 0 && JSON.parse(served.stdout).accounts.length > 2, served.stderr)
})

test('what cannot be is refused in a sentence, and nothing is changed', async () => {
  const [used, foreign, none] = [await testDatabase(), await newTarget(), await newTarget()]
  after(() => used.close())
  await sql`insert into upload_claim (storage_key) values ('a')`.execute(used.db)
  await sql`create table invoice (id int)`.execute(foreign.db)
  const nowhere = 'postgres://depot:secret@127.0.0.1:1/depot'
  for (const [settings, sentence] of [
    ['', /names no new database: set DATABASE_URL/],
    [`DATABASE_URL=${urlOf(t.deps)}`, /name the database that is used already/],
    [`DATABASE_URL=${used.connectionString}`, /not empty: its table upload_claim has rows/],
    [`DATABASE_URL=${foreign.connectionString}`, /not empty: it has invoice, which is not Depot's/],
    [`DATABASE_URL=${nowhere}`, /The new database cannot be reached: .*ECONNREFUSED/],
    ['DATABASE_URL=mysql://x', /DATABASE_URL must be/],
  ] as const) {
    // Unset for the first of them, which has none of its own either.
    const { code, stderr } = await moveTo(settings === '' ? 'DATABASE_URL=\n' : settings)
    assert.equal(code, 1)
    assert.match(stderr, sentence)
    assert.ok(!stderr.includes('secret') && !stderr.includes('\n    at '), stderr)
  }
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(foreign.db)
  assert.deepEqual(rows, [{ name: 'invoice' }])
  const listener = new pg.Client({ connectionString: urlOf(t.deps), application_name: 'depot-listen' })
  await listener.connect()
  try {
    const { code, stderr } = await moveTo(`DATABASE_URL=${none.connectionString}`)
    assert.equal(code, 1)
    assert.match(stderr, /^A server uses this database: .* Stop it, then run this again/)
  } finally {
    await listener.end()
  }
})

test('a move that is broken off leaves the new database empty, and the next one begins again', async () => {
  const target = await newTarget()
  const before = await everyRow(t.deps.db)
  const cut = new Error('cut')
  const broken = moveDatabase(t.deps, target.pool, {
    onProgress: (step, done) => {
      if (step === 'copying' && done > 20) throw cut
    },
  })
  await assert.rejects(broken, cut)
  assert.equal((await target.pool.query('select 1 from account')).rowCount, 0)
  // A killed process: its connection is gone in the middle of the copy.
  const killed = moveDatabase(t.deps, target.pool, {
    onProgress: (step, done) => {
      if (step !== 'copying' || done < 20) return
      void target.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'depot-move' and state <> 'idle'`,
      )
    },
  })
  await assert.rejects(killed)
  assert.equal((await target.pool.query('select 1 from account')).rowCount, 0)
  const { rows } = await moveDatabase(t.deps, target.pool)
  assert.ok(rows > 200)
  assert.deepEqual(await everyRow(target.db), before)
})

test('rows that are not the same afterwards are noticed, and the new database stays empty', async () => {
  const target = await newTarget()
  await migrate(target.pool)
  // A database that does not keep what is written into it.
  await sql`alter table project alter column published type timestamptz(0)`.execute(target.db)
  await assert.rejects(
    moveDatabase(t.deps, target.pool),
    /the rows of project \((\d+) before, \1 after\) are not the same/,
  )
  assert.equal((await target.pool.query('select 1 from account')).rowCount, 0)
})
