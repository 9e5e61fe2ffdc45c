// Depot behind PgBouncer in transaction mode, with and without the settings that this mode needs.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { OperatorError } from '#lib/operator-error.ts'
import { jobHandlers } from '#main/app.ts'
import { type Booted, boot } from '#main/boot.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { drainJobs } from '#platform/jobs/worker.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { noPooler, startPooler } from '#test/support/engines/pooler.ts'

describe('a pooler in transaction mode', { skip: noPooler() }, () => {
  let database: TestDatabase
  let pooler: Awaited<ReturnType<typeof startPooler>>
  let dataDir: string
  const opened: Booted[] = []
  before(async () => {
    database = await testDatabase()
    pooler = await startPooler(database.connectionString)
    dataDir = await mkdtemp(join(tmpdir(), 'depot-pooler-data-'))
  })
  after(async () => {
    await closeAll()
    await pooler.stop()
    await database.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  const closeAll = () => Promise.all(opened.splice(0).map((booted) => booted.close()))
  /** Opens an application that the database sees as a separate process. */
  async function open(env: Record<string, string>): Promise<Booted> {
    const folder = await mkdtemp(join(dataDir, 'process-'))
    const config = loadConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', DATABASE_URL: pooler.url, ...env })
    const test = { onQuery: () => {}, poolSize: 5, cacheBytes: 1_000_000 }
    const booted = await boot({ config, log: silentLog(), mode: 'server', test })
    opened.push(booted)
    return booted
  }

  test('without the address of the database itself it is rejected, with the setting to use', async () => {
    const booted = await open({})
    const refused = booted.listen()
    await assert.rejects(
      refused,
      (error) => error instanceof OperatorError && /DATABASE_DIRECT_URL/.test(error.message),
    )
    await closeAll()
  })

  test('without time limits it is rejected, with the statements that set them, and these work', async () => {
    const direct = { DATABASE_DIRECT_URL: database.connectionString }
    const error: unknown = await open(direct).then(
      () => assert.fail('it started'),
      (refused) => refused,
    )
    assert.ok(error instanceof OperatorError)
    const statements = error.message.match(/ALTER ROLE [^;]*;/g) ?? []
    assert.equal(statements.length, 2)
    await database.pool.query(statements.join('\n'))
    // The pooler must open new connections, and notice first that the old ones ended.
    await database.pool.query(
      'select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await pooler.ready()
    const booted = await open(direct)
    const { rows } = await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(
      booted.deps.db,
    )
    assert.equal(rows[0]?.limit, '30s')
  })

  test('two processes notify each other, many transactions share few connections, and jobs run', async () => {
    const direct = { DATABASE_DIRECT_URL: database.connectionString }
    const [writer, reader] = [await open(direct), await open(direct)]
    const heard = Promise.withResolvers<void>()
    await reader.listen([{ kind: 'project', handle: (ids) => ids !== 'all' && ids.has('p49') && heard.resolve() }])
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        transaction(writer.deps, async (tx, changed) => {
          await sql`insert into account (id, username) values (${`pooled${index}`}, ${`pooled-${index}`})`.execute(tx)
          changed.add('project', `p${index}`)
        }),
      ),
    )
    await heard.promise
    const { rows } = await sql<{ n: number }>`select count(*) as n from account where id like 'pooled%'`.execute(
      reader.deps.db,
    )
    assert.equal(rows[0]?.n, 50)
    await writer.deps.db.transaction().execute((tx) => enqueue(tx, 'statistics.fold', {}))
    const { pool, metrics, log } = writer.deps
    await drainJobs({ pool, handlers: jobHandlers(writer.deps), log, metrics })
    const left = await pool.query('select 1 from graphile_worker._private_jobs')
    assert.equal(left.rowCount, 0)
  })
})
