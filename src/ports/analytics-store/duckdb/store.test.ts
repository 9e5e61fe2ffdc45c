import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import {
  aClick,
  aDownload,
  aView,
  batchOf,
  NOON,
  somePlaytime,
  times,
} from '#test/support/factories/analytics-events.ts'
import { type AnalyticsStore, APPEND_EVENTS_MAX, CELLS_MAX } from '../analytics-store.ts'
import type { DownloadEvent } from '../events.ts'
import { sliceGrid } from '../slices.ts'
import { openDatabase } from './schema.ts'
import { openDuckDbStore } from './store.ts'
import { openWriter } from './writer.ts'

const GRID = sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 })

test('stored events and known batch IDs survive closing and opening again', async (t) => {
  const dir = await folder(t)
  const first = await openDuckDbStore({ dir })
  const batch = batchOf([aDownload(), aDownload({ version_id: 'Version2' })])
  await first.append('download', batch)
  const settledAt = await first.settledAt()
  const identity = await first.identity()
  await first.close()
  await first.close()
  const second = await openDuckDbStore({ dir })
  t.after(() => second.close())
  assert.equal(await second.identity(), identity)
  await second.append('download', batch)
  const later = batchOf([aDownload({ project_id: 'Other001' })])
  await second.append('download', later)
  const [found] = await second.listBatches({ from: settledAt })
  assert.equal(found?.id, later.id)
  assert.deepEqual((await second.countDownloads({})).projects, [
    { project_id: 'Lantern1', downloads: 2 },
    { project_id: 'Other001', downloads: 1 },
  ])
})

test('a file of an older release is opened, and one of a newer release is rejected and stays as it is', async (t) => {
  const dir = await folder(t)
  const change = async (statement: string): Promise<void> => {
    const instance = await DuckDBInstance.create(join(dir, 'events.duckdb'))
    const connection = await instance.connect()
    await connection.run(statement)
    connection.closeSync()
    instance.closeSync()
  }
  const first = await openDuckDbStore({ dir })
  await first.append('download', batchOf([aDownload()]))
  await first.close()
  await change('DROP TABLE format')
  const older = await openDuckDbStore({ dir })
  assert.equal((await older.countDownloads({})).projects[0]?.downloads, 1)
  await older.close()
  await change('UPDATE format SET version = 99')
  await assert.rejects(
    openDuckDbStore({ dir }),
    /events\.duckdb has format 99 of a newer version of Depot.* Install the release/,
  )
  await change('UPDATE format SET version = 1')
  const again = await openDuckDbStore({ dir })
  t.after(() => again.close())
  assert.equal((await again.countDownloads({})).projects[0]?.downloads, 1)
})

test('a count up to an instant contains no batch that is stored while it runs', async (t) => {
  const store = await openDuckDbStore({ dir: await folder(t) })
  t.after(() => store.close())
  for (let stored = 0; stored < 100; stored += 1) {
    const storedBefore = await store.settledAt()
    let isStored = false
    const appended = store.append('download', batchOf([aDownload()])).then(() => {
      isStored = true
    })
    while (!isStored) {
      const { projects } = await store.countDownloads({ storedBefore })
      assert.equal(projects[0]?.downloads ?? 0, stored)
    }
    await appended
  }
})

test('a batch that cannot be stored leaves nothing, and the next one is stored', async (t) => {
  const store = await openStore(t)
  const isStoreError = (error: unknown) => error instanceof ApiError && error.kind === 'analytics_database_error'
  // More than one block of rows, so that the first is handed over before the error shows.
  const lacking = times(3000, (i) => (i < 2999 ? aDownload({ project_id: 'Broken01' }) : ({} as DownloadEvent)))
  const broken = batchOf(lacking)
  await assert.rejects(store.append('download', broken), isStoreError)
  const stored = batchOf([aDownload()])
  await store.append('download', stored)
  assert.deepEqual(
    (await store.listBatches({ from: 0 })).map(({ id }) => id),
    [stored.id],
  )
  const { projects } = await store.countDownloads({})
  assert.deepEqual(projects, [{ project_id: 'Lantern1', downloads: 1 }])
})

test('a download does not wait for batches of another kind', async (t) => {
  const store = await openStore(t)
  const order: string[] = []
  const append = (kind: 'view' | 'download', count: number) => {
    const events = times(count, () => (kind === 'view' ? aView() : aDownload()))
    return store.append(kind, batchOf(events)).then(() => order.push(kind))
  }
  await Promise.all([...times(4, () => append('view', APPEND_EVENTS_MAX)), append('download', 1)])
  assert.notEqual(order.at(-1), 'download')
})

test('one commit stores everything that waits, whatever its kinds, with its new terms', async (t) => {
  const instance = await openDatabase(await folder(t))
  t.after(() => instance.closeSync())
  const { writer, commits, nextCommit } = await writerWithSlowCommits(instance)
  const view = writer.append('view', batchOf([aView({ project_id: 'Project1' })]))
  const release = await nextCommit()
  const others = [
    writer.append('view', batchOf([aView({ project_id: 'Project2' })])),
    writer.append('playtime', batchOf([somePlaytime({ project_id: 'Project3' })])),
    writer.append('affiliate_click', batchOf([aClick()])),
    writer.append('download', batchOf([aDownload({ project_id: 'Project4' })])),
  ]
  release()
  await view
  assert.equal(commits(), 1)
  ;(await nextCommit())()
  await Promise.all(others)
  assert.equal(commits(), 2)
  await writer.close()
})

/** Opens a writer whose commits wait until the test releases them. */
async function writerWithSlowCommits(instance: DuckDBInstance) {
  const connection = await instance.connect()
  const run = connection.run.bind(connection)
  let waiting = Promise.withResolvers<() => void>()
  let commits = 0
  connection.run = async (sql, ...values) => {
    if (sql === 'COMMIT') {
      await new Promise<void>((resolve) => waiting.resolve(resolve))
      commits += 1
    }
    return run(sql, ...values)
  }
  return {
    writer: await openWriter({ connect: async () => connection }),
    commits: () => commits,
    /** Returns the function that lets the next commit begin, once the writer has requested it. */
    nextCommit: async () => {
      const release = await waiting.promise
      waiting = Promise.withResolvers()
      return release
    },
  }
}

test('stores waiting batches together, and a broken or repeated one does not affect the others', async (t) => {
  const store = await openStore(t)
  const [first, second, third] = times(3, () => batchOf([aDownload()]))
  const broken = batchOf([{} as DownloadEvent])
  const batches = [first, second, broken, second, third].filter((batch) => batch !== undefined)
  const results = await Promise.allSettled(batches.map((batch) => store.append('download', batch)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(
    (await store.listBatches({ from: 0 })).map(({ id }) => id),
    [first?.id, second?.id, third?.id],
  )
  assert.deepEqual((await store.countDownloads({})).projects, [{ project_id: 'Lantern1', downloads: 3 }])
})

test('rejects a result beyond the limit of cells with the metric, and the store still works', async (t) => {
  const store = await openStore(t)
  for (let made = 0; made <= CELLS_MAX; made += APPEND_EVENTS_MAX)
    await store.append('view', batchOf(times(APPEND_EVENTS_MAX, (i) => aView({ domain: `${made + i}.example` }))))
  const request = { metric: 'project_views', sources: ['Lantern1'], bucketBy: ['domain'], filterBy: {} } as const
  const whole = { ...request, bucketBy: [] }
  for (const metrics of [[request], [whole, request], [request, whole]]) {
    await assert.rejects(store.query({ grid: GRID, metrics }), (error) => {
      const { field } = (error instanceof ApiError ? error.details : undefined) ?? {}
      return error instanceof ApiError && error.error === 'invalid_input' && field === 'return_metrics.project_views'
    })
  }
  assert.equal((await store.query({ grid: GRID, metrics: [whole] })).length, 1)
})

test('cancels a waiting or running query when its signal aborts', async (t) => {
  const store = await openStore(t)
  await store.append('view', batchOf(times(1000, () => aView())))
  const request = { metric: 'project_views', sources: ['Lantern1'], bucketBy: [], filterBy: {} } as const
  const abort = new AbortController()
  const questions = times(8, () => store.query({ grid: GRID, metrics: [request] }, { signal: abort.signal }))
  abort.abort()
  const results = await Promise.allSettled(questions)
  assert.ok(results.every(({ status }) => status === 'rejected'))
  await store.query({ grid: GRID, metrics: [request] })
})

test('rejects excess concurrent queries', async (t) => {
  const store = await openStore(t)
  const results = await Promise.allSettled(times(200, () => store.check()))
  const refused = results.filter(({ status }) => status === 'rejected').length
  assert.equal(refused, 200 - 128 - 2)
  await store.check()
})

test('rejects a query beyond its limit', async (t) => {
  const store = await openStore(t)
  await assert.rejects(store.countDownloads({ projectIds: times(10_001, String) }), RangeError)
  await assert.rejects(store.readBatches(times(21, String)), RangeError)
})

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
  t.after(() => rm(dir, { recursive: true }))
  return dir
}

async function openStore(t: TestContext): Promise<AnalyticsStore> {
  const dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
  const store = await openDuckDbStore({ dir })
  t.after(async () => {
    await store.close()
    await rm(dir, { recursive: true })
  })
  return store
}
