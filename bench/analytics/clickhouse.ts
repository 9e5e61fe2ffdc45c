// Writes events into ClickHouse at a fixed rate as a process does: buffer, spool on disk, store. Uses the server at
// CLICKHOUSE_URL (and fills its database), or one from scripts/engines/clickhouse.sh. node
// bench/analytics/clickhouse.ts [--rate 20000] [--seconds 60]

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { HOUR_MS } from '#lib/time.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { createEventBuffer } from '#ports/analytics-store/buffer.ts'
import { openClickHouseStore } from '#ports/analytics-store/clickhouse/store.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import { createSpool } from '#ports/analytics-store/spool.ts'
import { startClickHouse } from '#test/support/engines/clickhouse.ts'
import { aDownload, aView } from '#test/support/factories/analytics-events.ts'
import { figure, printTable, row } from '../kit/table.ts'

const PROJECTS = 5_000
const TICK_MS = 10

const { values: flags } = parseArgs({
  options: { rate: { type: 'string', default: '20000' }, seconds: { type: 'string', default: '60' } },
})
const given = process.env['CLICKHOUSE_URL']
const dir = await mkdtemp(join(tmpdir(), 'depot-bench-clickhouse-'))
const own = given === undefined ? await startClickHouse(join(dir, 'engine')).catch(explain) : undefined
try {
  const url = given ?? own?.url
  if (url !== undefined) await main(url, { rate: Number(flags.rate), seconds: Number(flags.seconds) })
} finally {
  own?.kill()
  await rm(dir, { recursive: true, force: true })
}

function explain(error: Error): undefined {
  console.log(`\nNo ClickHouse can be started here, so it is not measured: ${error.message}`)
}

async function main(url: string, { rate, seconds }: { rate: number; seconds: number }): Promise<void> {
  const store = await openClickHouseStore({ url })
  const log = { warn: console.warn, error: console.error }
  const next = { append: store.append, settled: async () => undefined }
  const spool = createSpool({ dir: join(dir, 'spool'), maxBytes: 2 ** 30, next, log })
  const buffer = createEventBuffer({ sink: spool.sink, log })
  const start = Date.now()
  const before = await countStored(store, start)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const cpuBefore = process.cpuUsage()
  let added = 0
  let waitingMost = 0
  while (Date.now() < start + seconds * 1000) {
    for (const due = (rate * (Date.now() - start)) / 1000; added < due; added += 1) add(buffer, added)
    waitingMost = Math.max(waitingMost, spool.stats().batches)
    await sleep(TICK_MS)
  }
  const tookS = (Date.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const flushing = performance.now()
  await buffer.flush()
  const flushMs = performance.now() - flushing
  delay.disable()
  const stored = (await countStored(store, start)) - before
  const { view, download } = buffer.stats()
  await buffer.close()
  await spool.close()
  await store.close()
  printTable(`Events into ClickHouse, ${rate} a second for ${seconds} s`, [
    row('events stored a second', stored / tookS, { atLeast: rate * 0.99 }),
    row('events added and not stored, or stored twice', Math.abs(added - stored), { atMost: 0 }),
    row('events dropped or given up', view.dropped + view.lost + download.dropped + download.lost, { atMost: 0 }),
    figure('processor time of an event in this process', `${((user + system) / added).toFixed(1)} µs`),
    figure('event loop held, 99th percentile', `${(delay.percentile(99) / 1e6).toFixed(0)} ms`),
    figure('event loop held, at most', `${(delay.max / 1e6).toFixed(0)} ms`),
    figure('batches waiting on disk, at most', String(waitingMost)),
    figure('last event until all are stored', `${flushMs.toFixed(0)} ms`),
  ])
}

function add(buffer: ReturnType<typeof createEventBuffer>, serial: number): void {
  const recorded_at = Date.now()
  const project = serial % PROJECTS
  const project_id = `P${project.toString(36).padStart(7, '0')}`
  const country = String.fromCharCode(65 + (serial % 26), 65 + ((serial * 7) % 26))
  const site_path = `/mod/some-project-${project}`
  if (serial % 5 < 3) buffer.add('view', aView({ recorded_at, project_id, country, site_path }))
  else buffer.add('download', aDownload({ recorded_at, project_id, country, version_id: `V${project_id.slice(1)}` }))
}

async function countStored(store: AnalyticsStore, start: number): Promise<number> {
  const sources = Array.from({ length: PROJECTS }, (_, i) => `P${i.toString(36).padStart(7, '0')}`)
  const parts = await store.query({
    grid: sliceGrid(start - HOUR_MS, start + 24 * HOUR_MS, { slices: 1 }),
    metrics: (['project_views', 'project_downloads'] as const).map((metric) => ({
      metric,
      sources,
      bucketBy: [],
      filterBy: {},
    })),
  })
  const points = parts.flatMap(({ slices }) => slices.flat())
  return points.reduce((sum, { views, downloads }) => sum + Number(views ?? downloads), 0)
}
