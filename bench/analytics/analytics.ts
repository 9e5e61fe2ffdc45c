// Analytics at size: fills a store with events of one year, runs the two most important queries, and does the same in a
// PostgreSQL with an index on (project, time): the empty database at DATABASE_URL, or a temporary one. node
// bench/analytics/analytics.ts [--events 10000000] [--projects 50000] [--dir FOLDER]

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { DAY_MS } from '#lib/time.ts'
import { type AnalyticsStore, APPEND_EVENTS_MAX, type StoreQuery } from '#ports/analytics-store/analytics-store.ts'
import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { joinSlices } from '#ports/analytics-store/points.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import { batchOf } from '#test/support/factories/analytics-events.ts'
import { withPostgres } from '../kit/own-postgres.ts'
import { printTable, row } from '../kit/table.ts'
import { openPostgresTwin, type PostgresTwin } from './postgres.ts'
import { END, projectId, randomEvents, randomSource, type Size, START, sizeOf } from './random-events.ts'

const ROUNDS = 15

const { values: flags } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    projects: { type: 'string', default: '50000' },
    dir: { type: 'string' },
  },
})
await withPostgres((url) => main({ events: Number(flags.events), projects: Number(flags.projects) }, url))

async function main(size: Size, databaseUrl: string): Promise<void> {
  const dir = flags.dir ?? (await mkdtemp(join(tmpdir(), 'depot-bench-analytics-')))
  let store = await openDuckDbStore({ dir })
  const twin = await openPostgresTwin(databaseUrl)
  try {
    await fill(store, twin, size)
    await store.close()
    const ours = await sizeOf(dir)
    store = await openDuckDbStore({ dir })
    console.log(`disk: ${megabytes(ours)}, ${(ours / size.events).toFixed(1)} bytes an event`)
    const theirs = await twin?.sizeBytes()
    if (theirs !== undefined) console.log(`disk, PostgreSQL: ${megabytes(theirs)}; ratio ${(theirs / ours).toFixed(1)}`)
    const small = await ask(store, twin, 'one project by hour over 30 days', smallQuestion(size))
    const large = await ask(store, twin, '500 projects by day and country over a year', largeQuestion(size))
    await time('all download counts by version', () => store.countDownloads({}))
    printTable(`Analytics of ${size.events} events`, [
      row('one project by hour over 30 days', small.oursMs, { atMost: 60 }, ' ms'),
      row('500 projects by day and country over a year', large.oursMs, { atMost: 1_500 }, ' ms'),
      ...(large.twinMs === undefined
        ? []
        : [row('the same in PostgreSQL, against that', large.twinMs / large.oursMs, { atLeast: 5 }, '×')]),
      ...(theirs === undefined
        ? []
        : [row('disk of PostgreSQL, relative to Depot', theirs / ours, { atLeast: 10 }, '×')]),
    ])
  } finally {
    await twin?.close()
    await store.close()
    if (flags.dir === undefined) await rm(dir, { recursive: true })
  }
}

async function fill(store: AnalyticsStore, twin: PostgresTwin | undefined, size: Size): Promise<void> {
  const random = randomSource(1)
  let oursMs = 0
  let twinMs = 0
  for (let done = 0; done < size.events; done += APPEND_EVENTS_MAX) {
    const { views, downloads } = randomEvents(random, done, size)
    const began = performance.now()
    await store.append('view', batchOf(views))
    await store.append('download', batchOf(downloads))
    const between = performance.now()
    await twin?.append(views, downloads)
    oursMs += between - began
    twinMs += performance.now() - between
  }
  console.log(`ingest: ${Math.round(size.events / (oursMs / 1000))} events/s`)
  if (twin === undefined) return
  twinMs += await twin.finish()
  console.log(`ingest, PostgreSQL: ${Math.round(size.events / (twinMs / 1000))} events/s, index and vacuum included`)
}

/** Median times of a query. */
type Asked = { oursMs: number; twinMs?: number }

async function ask(
  store: AnalyticsStore,
  twin: PostgresTwin | undefined,
  name: string,
  query: StoreQuery,
): Promise<Asked> {
  const [ours, parts] = await time(name, () => store.query(query))
  const answer = joinSlices(parts, query.grid.count)
  console.log(`  ${answer.reduce((sum, slice) => sum + slice.length, 0)} points`)
  if (twin === undefined) return { oursMs: ours.medianMs }
  const [theirs, twinParts] = await time(`${name}, PostgreSQL`, () => twin.query(query))
  const isSame = JSON.stringify(joinSlices(twinParts, query.grid.count)) === JSON.stringify(answer)
  const ratios = [theirs.medianMs / ours.medianMs, theirs.bestMs / ours.bestMs].map((ratio) => ratio.toFixed(1))
  console.log(`  ratio ${ratios[0]}, of the best ${ratios[1]}; answers ${isSame ? 'equal' : 'DIFFER'}`)
  if (!isSame) process.exitCode = 1
  return { oursMs: ours.medianMs, twinMs: theirs.medianMs }
}

type Timing = { medianMs: number; bestMs: number }

/** Prints and returns median and best; the first round is apart, as the cold one. On a busy machine the best says more. */
async function time<T>(name: string, work: () => Promise<T>): Promise<[timing: Timing, result: T]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const took: number[] = []
  const first = performance.now()
  let result = await work()
  const coldMs = performance.now() - first
  delay.enable()
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    result = await work()
    took.push(performance.now() - began)
  }
  delay.disable()
  const sorted = took.toSorted((a, b) => a - b)
  const timing = { medianMs: sorted[Math.floor(ROUNDS / 2)] ?? 0, bestMs: sorted[0] ?? 0 }
  const blocked = (delay.max / 1e6).toFixed(0)
  console.log(
    `${name}: ${timing.medianMs.toFixed(1)} ms, best ${timing.bestMs.toFixed(1)} ms ` +
      `(first ${coldMs.toFixed(0)} ms; event loop held ${blocked} ms at most)`,
  )
  return [timing, result]
}

function smallQuestion(size: Size): StoreQuery {
  const start = START + 100 * DAY_MS
  const request = { bucketBy: [], filterBy: {}, sources: [projectId(Math.floor(size.projects / 100))] }
  return {
    grid: sliceGrid(start, start + 30 * DAY_MS, { minutes: 60 }),
    metrics: [
      { ...request, metric: 'project_views' },
      { ...request, metric: 'project_downloads' },
    ],
  }
}

/** Every hundredth project by popularity, so that the caller's projects are like the catalogue. */
function largeQuestion(size: Size): StoreQuery {
  const sources = Array.from({ length: 500 }, (_, i) => projectId(Math.floor((i * size.projects) / 500)))
  return {
    grid: sliceGrid(START, END, { minutes: 1440 }),
    metrics: [
      { metric: 'project_views', bucketBy: ['country'], filterBy: {}, sources },
      { metric: 'project_downloads', bucketBy: ['country'], filterBy: {}, sources },
    ],
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
