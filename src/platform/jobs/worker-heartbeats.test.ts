// Jobs of a worker that died, while other workers might still process their own jobs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createLogTo } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import type { JobHandlers } from './job.ts'
import { type StartOptions, startWorker, type Worker } from './worker.ts'
import { startWorkerHeartbeats } from './worker-heartbeats.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
  // Its start makes the tables of the queue.
  await (await start(() => undefined)).stop()
})
after(() => database?.close())

const log = createLogTo({ write: () => undefined }, 'error')

function start(ran: (text: string) => unknown, more: Partial<StartOptions> = {}): Promise<Worker> {
  const handlers = { 'files.remove': async ({ keys }: { keys: string[] }) => void (await ran(keys[0] ?? '')) }
  const metrics = createMetrics({ process: false })
  const typed = handlers as unknown as JobHandlers
  return startWorker({ pool: database.pool, handlers: typed, log, metrics, ...more })
}

async function add(name: string): Promise<void> {
  await database.pool.query(
    "select graphile_worker.add_job('files.remove', payload => json_build_object('keys', array[$1::text]))",
    [name],
  )
}

/** Creates a job that a worker locked some time ago, with the time of the worker's last heartbeat. */
async function taken(worker: string, ago: string, seen?: string): Promise<void> {
  await add(worker)
  await database.pool.query(
    `update graphile_worker._private_jobs set locked_by = $1, locked_at = now() - $2::interval, attempts = 1
     where payload -> 'keys' ->> 0 = $1`,
    [worker, ago],
  )
  if (seen !== undefined)
    await database.pool.query('insert into job_worker values ($1, now() - $2::interval)', [worker, seen])
}

const column = async (text: string): Promise<string[]> => {
  const { rows } = await database.pool.query<{ name: string }>(text)
  return rows.map(({ name }) => name).sort()
}

test('jobs of the silent are given back, also after a clock was set; those of the living and of the just begun are not', async () => {
  await taken('silent', '5 minutes', '4 minutes')
  await taken('unheard', '5 minutes')
  await taken('of a clock ahead', '-3 hours', '-3 hours')
  // A minute ahead of now, so that they are recent for as long as this takes.
  await taken('living', '3 hours', '-1 minute')
  await taken('just begun', '-1 minute')
  const expected = ['of a clock ahead', 'silent', 'unheard']
  const ran: string[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const worker = await start((name) => {
    ran.push(name)
    if (ran.length === expected.length) resolve()
  })
  const beats = startWorkerHeartbeats({ pool: database.pool, log }, 5)
  beats.add('own')
  await all
  assert.deepEqual(ran.sort(), expected)
  await worker.stop()
  assert.deepEqual(await column('select locked_by as name from graphile_worker.jobs'), ['just begun', 'living'])
  assert.deepEqual(await column('select id as name from job_worker'), ['living', 'own'])
  await beats.stop()
  assert.deepEqual(await column('select id as name from job_worker'), ['living'])
})

test('a job that a later one has replaced while it ran is removed with its worker, and the later one runs', async () => {
  const pool = database.pool
  const addKeyed = (name: string) =>
    pool.query(
      "select graphile_worker.add_job('files.remove', json_build_object('keys', array[$1::text]), job_key => 'one')",
      [name],
    )
  await pool.query('delete from graphile_worker._private_jobs')
  await addKeyed('former')
  await pool.query("update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now(), attempts = 1")
  await addKeyed('later')
  assert.equal((await column('select id::text as name from graphile_worker.jobs')).length, 2)
  const ran: string[] = []
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const worker = await start(
    (name) => {
      ran.push(name)
      resolve()
    },
    { isAlone: true },
  )
  await done
  await worker.stop()
  assert.deepEqual(ran, ['later'])
  assert.deepEqual(await column('select id::text as name from graphile_worker.jobs'), [])
})

test('a process that lost the database does not clean up others until they could send heartbeats again', async () => {
  await taken('unheard again', '5 minutes')
  const statements: string[] = []
  let isCut = false
  const { promise: judged, resolve } = Promise.withResolvers<void>()
  const query = (text: string, values: unknown[]) => {
    const name = text.includes('force_unlock') ? 'judge' : 'beat'
    if (name === 'beat' && isCut) {
      isCut = false
      statements.push('cut')
      return Promise.reject(new Error('The line is cut'))
    }
    statements.push(name)
    // The moment before the cleanup decides.
    if (statements.length === 8) isCut = true
    if (name === 'judge') resolve()
    return database.pool.query(text, values)
  }
  const beats = startWorkerHeartbeats({ pool: { query } as unknown as typeof database.pool, log }, 5)
  await judged
  await beats.stop()
  const first = statements.indexOf('judge')
  assert.deepEqual(statements.slice(0, first), [...Array(8).fill('beat'), 'cut', ...Array(8).fill('beat')])
})

test('a worker says that it lives under the name by which its jobs are locked', async () => {
  await database.pool.query('delete from graphile_worker._private_jobs')
  await add('long')
  const finished = Promise.withResolvers<void>()
  const { promise: began, resolve: begin } = Promise.withResolvers<void>()
  const worker = await start(
    () => {
      begin()
      return finished.promise
    },
    { beatEveryMs: 5 },
  )
  await began
  const lockedBy = await column('select locked_by as name from graphile_worker.jobs')
  while (!(await column('select id as name from job_worker')).includes(lockedBy[0] ?? ''))
    await new Promise(setImmediate)
  finished.resolve()
  await worker.stop()
})

test('if the database fails before the end of a job is recorded, the process survives and jobs continue', async () => {
  const ran: string[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let lost = 0
  // The message of the database to every connection when it stops.
  const failure = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })
  const original = pg.Client.prototype.query
  pg.Client.prototype.query = function query(this: pg.Client, ...parameters: unknown[]) {
    const text = String((parameters[0] as { text?: string } | undefined)?.text ?? parameters[0])
    if (lost > 0 || !/delete from .*_private_jobs/.test(text)) return Reflect.apply(original, this, parameters)
    lost += 1
    return Promise.reject(failure)
  } as typeof original
  const worker = await start((name) => {
    ran.push(name)
    if (ran.includes('after')) resolve()
  })
  await add('before')
  while (lost === 0) await new Promise(setImmediate)
  await add('after')
  await all
  pg.Client.prototype.query = original
  await worker.stop()
  assert.deepEqual(ran, ['before', 'after'])
})
