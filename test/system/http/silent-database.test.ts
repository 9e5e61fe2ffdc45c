// If the database accepts statements but does not respond, requests fail before the load balancer times out.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { sharedChecks } from '#features/basics/meta/readiness.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { databaseUrl } from '#test/support/app/database.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { startTcpProxy, type TcpProxy } from '#test/support/stand-ins/tcp-proxy.ts'

let t: TestApp
let line: TcpProxy
let pool: pg.Pool
let address: string
/** Gives up a statement as late as the server does. */
let patient: pg.Pool

before(async () => {
  const server = new pg.Client({ connectionString: databaseUrl('postgres') })
  line = await startTcpProxy(
    server.host.startsWith('/') ? () => join(server.host, `.s.PGSQL.${server.port}`) : server.port,
  )
  t = await testApp({
    deps: ({ config }) => {
      const url = new URL(config.database.kind === 'external' ? config.database.url.reveal() : '')
      url.search = ''
      url.host = `127.0.0.1:${line.port}`
      address = url.href
      pool = createPool(
        { connectionString: address },
        { max: 4, applicationName: 'depot-silent', answerTimeoutMs: 1_000 },
      )
      patient = createPool({ connectionString: address }, { max: 1, applicationName: 'depot-patient' })
      const db = createDb(pool)
      return { db, dbRead: db }
    },
  })
})
after(async () => {
  await line?.mend()
  await t?.close()
  await pool?.end()
  await patient?.end()
  await line?.close()
})

/** So many connections that are open already: the time to connect is bounded apart. */
async function connected(count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()))
  for (const client of clients) client.release()
}

test('reads and writes are answered with 503, and the next ones get connections that answer', async () => {
  const [project, unread] = [await t.make.project(), await t.make.project()]
  const rename = (summary: string) => t.as(project.owner).patch(`/v3/project/${project.id}`, { summary })
  assert.equal((await rename('Before the cable was pulled')).statusCode, 204)
  await connected(2)
  line.hang('answers')
  const before = line.connections()
  const answers = await Promise.all([t.anyone.get(`/v3/project/${unread.id}`), rename('While nothing answers')])
  for (const answer of answers)
    assert.deepEqual([answer.statusCode, answer.json().error], [503, 'database_error'], answer.body)
  await line.mend()
  assert.equal((await t.anyone.get(`/v3/project/${unread.id}`)).statusCode, 200)
  assert.equal((await rename('Afterwards')).statusCode, 204)
  assert.ok(line.connections() > before, 'a connection that was given up was used again')
})

test('a transaction that gets no answer waits once, not again for its rollback', async () => {
  await connected(1)
  const failures: string[] = []
  const db = createDb(pool, (event) => {
    if (event.level === 'error') failures.push(`${event.query.sql}: ${(event.error as Error).message}`)
  })
  const failed = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx)
    line.hang('answers')
    await sql`select 2`.execute(tx)
  })
  await assert.rejects(failed, /Query read timeout/)
  assert.deepEqual(failures, ['select 2: Query read timeout', 'rollback: Client was closed and is not queryable'])
  await line.mend()
  assert.equal((await sql<{ n: number }>`select 3 as n`.execute(t.deps.db)).rows[0]?.n, 3)
})

test('/ready?for=balancer fails within five seconds of silence', async () => {
  await sql`select 1`.execute(createDb(patient))
  line.hang()
  const checks = sharedChecks({ ...t.deps, pool: patient })
  const { status, dependencies } = await checks('balancer')
  assert.deepEqual(
    [status, dependencies['database']],
    ['unavailable', { status: 'failing', error: 'no response within 4000 ms' }],
  )
  assert.equal((await checks('balancer')).status, 'unavailable', 'the next request does not wait again')
  await line.mend()
})

test('/ready?for=balancer succeeds when new connections work, although an old one stays silent', async () => {
  const stubborn = createPool(
    { connectionString: address },
    { max: 1, applicationName: 'depot-stubborn', answerTimeoutMs: 3_600_000 },
  )
  await stubborn.query('select 1')
  const checks = sharedChecks({ ...t.deps, pool: stubborn }, { slowMs: 200, lostMs: 60_000, silentMs: 200 })
  line.hang()
  assert.equal((await checks('balancer')).status, 'unavailable')
  line.lose()
  while ((await checks('balancer')).status !== 'ready') await sleep(50)
  await stubborn.end()
})
