import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { HOUR_MS } from '#lib/time.ts'
import { testAnalyticsStore } from '#test/conformance/analytics-store.ts'
import { type TestClickHouse, testClickHouse, withoutClickHouse } from '#test/support/engines/clickhouse.ts'
import { aDownload, aView, batchOf, NOON, times } from '#test/support/factories/analytics-events.ts'
import { type AnalyticsStore, APPEND_EVENTS_MAX, CELLS_MAX } from '../analytics-store.ts'
import type { DownloadEvent } from '../events.ts'
import { sliceGrid } from '../slices.ts'
import { connectClickHouse } from './connection.ts'
import { openClickHouseStore } from './store.ts'

const isAway = (error: unknown) =>
  error instanceof ApiError && error.status === 503 && Number(error.headers?.['retry-after']) > 0

test('an unreachable server makes every call fail as unavailable, with Retry-After', async () => {
  await assert.rejects(openClickHouseStore({ url: 'http://depot:secret@127.0.0.1:9/depot' }), isAway)
  const connection = connectClickHouse('http://127.0.0.1:9/depot')
  await assert.rejects(connection.all({ sql: 'SELECT 1' }), isAway)
  await assert.rejects(connection.run({ sql: 'SELECT 1' }), isAway)
  await connection.close()
})

test('rejects statements beyond the queue limit', async () => {
  const connection = connectClickHouse('http://127.0.0.1:9/depot')
  const results = await Promise.allSettled(times(300, () => connection.all({ sql: 'SELECT 1' })))
  const refused = results.filter(
    (result) => result.status === 'rejected' && String(result.reason.cause).includes('waiting'),
  )
  assert.equal(refused.length, 300 - 128 - 8)
  await connection.close()
})

describe('ClickHouse', { skip: withoutClickHouse }, () => {
  const databases: TestClickHouse[] = []
  const makeDatabase = () => {
    const made = testClickHouse()
    databases.push(made)
    return made
  }
  let url = ''
  let store: AnalyticsStore
  before(async () => {
    url = makeDatabase().url
    store = await openClickHouseStore({ url })
  })
  after(async () => {
    await store.close()
    for (const database of databases) await database.remove()
  })

  if (withoutClickHouse === false) {
    const conformance = makeDatabase()
    testAnalyticsStore('ClickHouse', () => openClickHouseStore({ url: conformance.url }))
  }

  test('processes that open an empty database together make it once, and it stays the same store', async () => {
    const fresh = makeDatabase()
    const stores = await Promise.all(times(3, () => openClickHouseStore({ url: fresh.url })))
    const identities = new Set(await Promise.all(stores.map((each) => each.identity())))
    assert.equal(identities.size, 1)
    await Promise.all(stores.map((each) => each.close()))
    const again = await openClickHouseStore({ url: fresh.url })
    assert.ok(identities.has(await again.identity()))
    await again.close()
  })

  test('settled periods exclude times that can still change', async () => {
    const lag = await openClickHouseStore({ url, settleMs: 10_000 })
    const exact = await openClickHouseStore({ url, settleMs: 0 })
    const [late, now] = [await lag.settledAt(), await exact.settledAt()]
    assert.ok(now - late >= 10_000 && Math.abs(now - Date.now()) < 60_000)
    await Promise.all([lag.close(), exact.close()])
  })

  test('a wrong password and an old version are said in a sentence, without the password', async () => {
    const wrong = new URL(url)
    wrong.password = 'secret-and-wrong'
    await assert.rejects(openClickHouseStore({ url: wrong.href }), (error: Error) => {
      assert.ok(error instanceof OperatorError)
      assert.match(error.message, /CLICKHOUSE_URL: .* rejected the user depot or the password/)
      return !error.message.includes('secret')
    })
  })

  test('a batch over two months, tried again, is listed once with all it adds', async () => {
    const batch = batchOf([
      aDownload({ project_id: 'MonthsAA', recorded_at: NOON }),
      aDownload({ project_id: 'MonthsAA', recorded_at: NOON + 40 * 24 * HOUR_MS }),
    ])
    await store.append('download', batch)
    await store.append('download', batch)
    assert.equal((await store.listBatches({ from: 0 })).filter(({ id }) => id === batch.id).length, 1)
    assert.deepEqual((await store.readBatches([batch.id])).get(batch.id), [
      { project_id: 'MonthsAA', version_id: 'Version1', downloads: 2 },
    ])
    assert.equal((await store.countDownloads({ projectIds: ['MonthsAA'] })).projects[0]?.downloads, 2)
  })

  test('a batch that cannot be stored leaves nothing, and is stored when it can', async () => {
    const lacking = times(3000, (i) => (i < 2999 ? aDownload({ project_id: 'Broken01' }) : ({} as DownloadEvent)))
    const broken = batchOf(lacking)
    await assert.rejects(store.append('download', broken), ApiError)
    assert.deepEqual((await store.countDownloads({ projectIds: ['Broken01'] })).projects, [])
    await store.append('download', { ...broken, events: lacking.slice(0, 2999) })
    assert.equal((await store.countDownloads({ projectIds: ['Broken01'] })).projects[0]?.downloads, 2999)
  })

  test('answers queries with thousands of sources', async () => {
    await store.append('view', batchOf([aView({ project_id: 'Many9999' })]))
    const sources = times(10_000, (i) => `Many${i}`)
    const [part] = await store.query({
      grid: sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 }),
      metrics: [{ metric: 'project_views', sources, bucketBy: [], filterBy: {} }],
    })
    assert.deepEqual(part?.slices, [[{ source_project: 'Many9999', metric_kind: 'views', views: 1 }]])
    await assert.rejects(store.countDownloads({ projectIds: [...sources, 'OneMore1'] }), RangeError)
  })

  test('rejects a result beyond the limit of cells with the metric, and the store still works', async () => {
    for (let made = 0; made <= CELLS_MAX; made += APPEND_EVENTS_MAX) {
      const events = times(APPEND_EVENTS_MAX, (i) => aView({ project_id: 'CellsAAA', domain: `${made + i}.example` }))
      await store.append('view', batchOf(events))
    }
    const grid = sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 })
    const request = { metric: 'project_views', sources: ['CellsAAA'], bucketBy: ['domain'], filterBy: {} } as const
    await assert.rejects(store.query({ grid, metrics: [request] }), (error) => {
      const { field } = (error instanceof ApiError ? error.details : undefined) ?? {}
      return error instanceof ApiError && error.error === 'invalid_input' && field === 'return_metrics.project_views'
    })
    assert.equal((await store.query({ grid, metrics: [{ ...request, bucketBy: [] }] })).length, 1)
  })

  test('cancels a waiting or running query when its signal aborts', async () => {
    const request = { metric: 'project_views', sources: ['CellsAAA'], bucketBy: ['domain'], filterBy: {} } as const
    const grid = sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 })
    const abort = new AbortController()
    const questions = times(12, () => store.query({ grid, metrics: [request] }, { signal: abort.signal }))
    abort.abort(new Error('enough'))
    const results = await Promise.allSettled(questions)
    assert.ok(results.every((result) => result.status === 'rejected' && result.reason.message === 'enough'))
    await store.check()
  })
})
