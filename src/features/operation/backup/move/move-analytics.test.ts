// Moves every event into another store exactly once, however often the move is interrupted, and updates the counters.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { readLedger } from '#features/reading/downloads/counter-ledger.ts'
import { DAY_MS } from '#lib/time.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aClick, aDownload, aView, batchOf, somePlaytime, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import { moveAnalytics } from './move-analytics.ts'

const DOWNLOADS = 20_500
let t: TestApp
let project: MadeProject
before(async () => {
  t = await testApp()
  project = await t.make.project()
  const version = await t.make.version({ project })
  const { analytics, events } = t.deps
  // As a server counts them, and more than one batch of the other store.
  events.add('download', aDownload({ project_id: project.id, version_id: version.id, recorded_at: Date.now() }))
  await events.flush()
  const made = (count: number) =>
    batchOf(times(count, (i) => aDownload({ project_id: project.id, version_id: version.id, site_path: `/${i}` })))
  for (const count of [10_000, 10_000, DOWNLOADS - 20_001]) await analytics.append('download', made(count))
  await analytics.append('view', batchOf([aView(), aView(), aView({ recorded_at: Date.now() - DAY_MS })]))
  await analytics.append('playtime', batchOf([somePlaytime()]))
  await analytics.append('affiliate_click', batchOf([aClick()]))
})
after(() => t?.close())

const EVENTS = DOWNLOADS + 5

async function eventsOf(store: AnalyticsStore): Promise<string[]> {
  const all: string[] = []
  for (const kind of EVENT_KINDS)
    await store.readEvents(kind, async (some) => void all.push(...some.map((one) => JSON.stringify(one))))
  return all.sort()
}

/** Stores this number of batches and then stops responding. */
function breaking(store: AnalyticsStore, batches: number): AnalyticsStore {
  let left = batches
  return {
    ...store,
    append: async (kind, batch) => {
      left -= 1
      if (left < 0) throw new Error('away')
      await store.append(kind, batch)
      // Stored, though the answer never came.
      if (left === 0) throw new Error('away')
    },
  }
}

const counted = async (): Promise<number> => {
  const { rows } = await t.deps.pool.query(
    `select downloads + coalesce((select sum(downloads) from download_pending where project_id = $1), 0)::int as n
    from project where id = $1`,
    [project.id],
  )
  return rows[0].n
}

test('after two interruptions it continues, stores every event once, and the counters follow the new store', async () => {
  const target = openNaiveStore()
  const before = await eventsOf(t.deps.analytics)
  await assert.rejects(moveAnalytics(t.deps, breaking(target, 1)), /away/)
  await assert.rejects(moveAnalytics(t.deps, breaking(target, 3)), /away/)
  const shown: number[] = []
  const report = await moveAnalytics(t.deps, target, {
    onProgress: (step, done, total) => step === 'storing' && shown.push(done, total ?? 0),
  })
  assert.deepEqual(report, { events: EVENTS, days: report.days, resumed: true })
  assert.deepEqual(shown.slice(-2), [EVENTS, EVENTS])
  assert.deepEqual(await eventsOf(target), before)
  assert.deepEqual(await eventsOf(t.deps.analytics), before)
  const { store_id, needs_rebase } = await readLedger(t.deps.db)
  assert.deepEqual([store_id, needs_rebase], [await target.identity(), false])
  assert.equal(await counted(), DOWNLOADS)
  const { rows } = await t.deps.pool.query('select sum(imported_downloads)::int as n from project')
  assert.equal(rows[0].n, 0)
  assert.ok(!existsSync(join(t.deps.config.dataDir, 'move-analytics')))
  await assert.rejects(moveAnalytics(t.deps, target), /The new store already has events/)
})

test('a store that keeps something else is noticed; events that come after an interruption are, too', async () => {
  const target = openNaiveStore()
  const wrong: AnalyticsStore = {
    ...target,
    append: (kind, batch) => {
      const [first, second, ...others] = batch.events
      const events = kind === 'download' ? [first, second, second, ...others.slice(1)] : batch.events
      return target.append(kind, { ...batch, events: events as typeof batch.events })
    },
  }
  await assert.rejects(
    moveAnalytics(t.deps, wrong),
    /does not have the same events: download .* \((\d+) events before, \1 after\)/,
  )
  await t.deps.analytics.append('view', batchOf([aView()]))
  await assert.rejects(
    moveAnalytics(t.deps, target),
    /The old store has changed since a move was interrupted: view .* \(\d+ events/,
  )
  // Another store is another move.
  const { resumed, events } = await moveAnalytics(t.deps, openNaiveStore())
  assert.deepEqual([resumed, events], [false, EVENTS + 1])
})

test('rejects invalid requests with one sentence', async () => {
  const { database } = t.deps.config
  const url = database.kind === 'external' ? database.url.reveal() : ''
  const folder = mkdtempSync(join(tmpdir(), 'depot-move-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'new.env')
  const env = { DATABASE_URL: url, DATA_DIR: folder }
  const away = 'http://depot:secret@127.0.0.1:1/depot'
  for (const [settings, more, sentence] of [
    ['# nothing', {}, /does not set CLICKHOUSE_URL, for example CLICKHOUSE_URL=/],
    [`CLICKHOUSE_URL=${away}`, {}, /^ClickHouse does not respond at the CLICKHOUSE_URL in /],
    [`CLICKHOUSE_URL=${away}`, { CLICKHOUSE_URL: away }, /already in ClickHouse/],
    ['CLICKHOUSE_URL=nonsense', {}, /CLICKHOUSE_URL must be/],
  ] as const) {
    writeFileSync(path, settings)
    const { code, stderr } = await commandHere(['move', 'analytics', '--to', path], { ...env, ...more })
    assert.equal(code, 1)
    assert.match(stderr, sentence)
    assert.ok(!stderr.includes('secret') && !stderr.includes('\n    at '), stderr)
  }
  const listener = new pg.Client({ connectionString: url, application_name: 'depot-listen' })
  await listener.connect()
  try {
    await assert.rejects(moveAnalytics(t.deps, openNaiveStore()), /^OperatorError: A server is running\. Stop it/)
  } finally {
    await listener.end()
  }
})
