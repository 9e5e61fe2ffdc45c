import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLogTo } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { type JobHandlers, job } from './job.ts'
import type { JobName } from './queue.ts'
import { startSchedule } from './schedule.ts'
import { startWorker, type Worker } from './worker.ts'

const HOUR_MS = 3_600_000
let database: TestDatabase

before(async () => {
  database = await testDatabase()
})
after(() => database?.close())

/** A worker of this one job, which runs each minute; `ran` resolves when it has run `times` times. */
async function startOne(name: JobName, times = 1): Promise<{ worker: Worker; ran: Promise<void>; count(): number }> {
  const { promise: ran, resolve } = Promise.withResolvers<void>()
  let count = 0
  const handler = async (): Promise<void> => {
    count += 1
    if (count === times) resolve()
  }
  const worker = await startWorker({
    pool: database.pool,
    handlers: { [name]: job({ everyMinutes: 1 }, handler) } as unknown as JobHandlers,
    log: createLogTo({ write: () => undefined }, 'error'),
    metrics: createMetrics({ process: false }),
  })
  return { worker, ran, count: () => count }
}

async function remember(job: JobName, slot: string): Promise<void> {
  await database.pool.query(
    `insert into job_schedule (job, slot) select $1, floor(extract(epoch from now()) / 60)::bigint + ${slot}
     on conflict (job) do update set slot = excluded.slot`,
    [job],
  )
}

test('runs a missed schedule once', async () => {
  await remember('releases.sweep', '-600')
  const { worker, ran, count } = await startOne('releases.sweep')
  await ran
  await worker.stop()
  assert.equal(count(), 1)
})

test('a database whose clock was ahead by hours does not wait until then', async () => {
  await remember('scans.judge', '180')
  const { worker, ran } = await startOne('scans.judge')
  await ran
  await worker.stop()
})

test('the clock of a process that is ahead by hours changes nothing', async (t) => {
  await remember('oauth.expire', '-1')
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3 * HOUR_MS })
  const ahead = await startOne('oauth.expire')
  await ahead.ran
  await ahead.worker.stop()
  t.mock.timers.reset()
  await remember('oauth.expire', '-1')
  const right = await startOne('oauth.expire')
  await right.ran
  await right.worker.stop()
})

test('of several processes one enqueues what is due', async () => {
  const pieces = 12
  for (let n = 0; n < pieces; n += 1) {
    await remember('images.sweep', '-1')
    // Nobody works on it, so that each row counts what was enqueued, and a row is as often changed as it was enqueued.
    const idle = await Promise.all(Array.from({ length: 3 }, () => startIdle('images.sweep')))
    await Promise.all(idle.map((worker) => worker.stop()))
  }
  const { rows } = await database.pool.query<{ count: number; revision: number }>(
    "select count(*)::int as count, max(revision) as revision from graphile_worker.jobs where task_identifier = 'images.sweep'",
  )
  // Enqueuing a key again replaces its row and increases its revision. A new minute might begin during the test.
  assert.equal(rows[0]?.count, 1)
  assert.ok([pieces - 1, pieces].includes(rows[0]?.revision ?? 0), `${rows[0]?.revision}`)
})

function startIdle(name: JobName): Promise<{ stop(): Promise<void> }> {
  const log = createLogTo({ write: () => undefined }, 'error')
  return startSchedule({ pool: database.pool, schedule: [{ job: name, everyMinutes: 1 }], log })
}
