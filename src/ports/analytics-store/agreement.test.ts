// Compares every adapter with a naive program, on random queries about a few thousand random events.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { parseAnalyticsQuery } from '#features/reading/analytics/requests.ts'
import { HOUR_MS } from '#lib/time.ts'
import { type TestClickHouse, testClickHouse, withoutClickHouse } from '#test/support/engines/clickhouse.ts'
import { aClick, aDownload, aView, batchOf, somePlaytime } from '#test/support/factories/analytics-events.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import type { AnalyticsStore } from './analytics-store.ts'
import { openClickHouseStore } from './clickhouse/store.ts'
import { openDuckDbStore } from './duckdb/store.ts'
import { EVENT_KINDS, type EventKind, type Events } from './events.ts'
import { filtersOf, METRIC_KEYS, type MetricKey, metricOf } from './metrics.ts'
import { joinSlices } from './points.ts'

/** The week around a leap day. New York's clocks do not change in it, but the offsets of the queries do. */
const START = Date.UTC(2024, 1, 26)
const DAYS = 7
const EVENTS_PER_KIND = 1_500
const QUESTIONS = 150

const PROJECTS = ['AaAaAaA1', 'aaaaaaa1', 'Zz', '9', 'Lantern1']
const CODES = ['Code0001', 'Code0002', 'Code0003']
const VALUES = {
  domain: ['', 'a.example', 'b.example', 'ü.example'],
  site_path: ['', '/', '/mod/lantern', '/mod/lantern/versions', '/🏮'],
  country: ['XX', 'DE', 'FR', 'SE'],
  version_id: ['V1', 'V2', 'V3', '0'],
  loader: ['', 'fabric', 'forge'],
  game_version: ['', '1.20', '1.9'],
  user_agent: ['', 'website'],
  reason: ['', 'update', 'modpack'],
  affiliate_code_id: CODES,
} as const

const stores: AnalyticsStore[] = []
let dir = ''
const ids: string[] = []
let clickHouse: TestClickHouse | undefined

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
  stores.push(openNaiveStore(), await openDuckDbStore({ dir }))
  if (withoutClickHouse === false) {
    clickHouse = testClickHouse()
    stores.push(await openClickHouseStore({ url: clickHouse.url }))
  }
  const makers: { [K in EventKind]: fc.Arbitrary<Events[K]> } = {
    view: anEvent(aView(), ['domain', 'site_path', 'country', 'user_agent']),
    download: anEvent(aDownload(), [
      'version_id',
      'domain',
      'site_path',
      'country',
      'reason',
      'loader',
      'game_version',
    ]),
    playtime: anEvent(somePlaytime(), ['version_id', 'loader', 'game_version']),
    affiliate_click: anEvent(aClick(), ['affiliate_code_id', 'domain']),
  }
  for (const kind of EVENT_KINDS) {
    const events = fc.sample<Events[typeof kind]>(makers[kind] as fc.Arbitrary<Events[typeof kind]>, {
      numRuns: EVENTS_PER_KIND,
      seed: 7,
    })
    const batch = batchOf(events)
    ids.push(batch.id)
    for (const store of stores) await store.append(kind, batch)
  }
})

after(async () => {
  for (const store of stores) await store.close()
  await rm(dir, { recursive: true })
  await clickHouse?.remove()
})

test('every metric over random ranges, resolutions, buckets and filters is the same to the last digit', async () => {
  let points = 0
  await fc.assert(
    fc.asyncProperty(aQuestion(), async (body) => {
      const { grid, metrics, projectIds } = parseAnalyticsQuery(body)
      const sourced = metrics.map((request) => ({
        ...request,
        sources: metricOf(request.metric).source === 'project_id' ? (projectIds ?? PROJECTS) : CODES,
      }))
      const [naive, ...real] = await Promise.all(
        stores.map(async (store) => joinSlices(await store.query({ grid, metrics: sourced }), grid.count)),
      )
      for (const answer of real) assert.equal(JSON.stringify(answer), JSON.stringify(naive))
      points += naive?.flat().length ?? 0
    }),
    { numRuns: QUESTIONS, seed: 11 },
  )
  assert.ok(points > 10 * QUESTIONS, 'the queries matched events')
})

test('downloads by version are the same, over all and over a part', async () => {
  for (const range of [{}, { projectIds: ['Zz', '9'] }, { storedBefore: 0 }, { storedBefore: 0, alsoBatches: ids }]) {
    const [naive, ...real] = await Promise.all(stores.map((store) => store.countDownloads(range)))
    for (const counts of real) assert.deepEqual(counts, naive)
  }
})

/** Few values, some far more often than others, so that cells lie on both sides of the country floor. */
function anEvent<E extends { recorded_at: number }>(example: E, columns: (keyof typeof VALUES)[]): fc.Arbitrary<E> {
  const values = Object.fromEntries(columns.map((column) => [column, mostlyFirst(VALUES[column])]))
  const given: Record<string, fc.Arbitrary<unknown>> = {
    ...values,
    // Hours and half hours often, so that events fall onto edges.
    recorded_at: fc.oneof(
      fc.integer({ min: START, max: START + DAYS * 24 * HOUR_MS }),
      fc.integer({ min: 0, max: DAYS * 48 }).map((halves) => START + (halves * HOUR_MS) / 2),
    ),
  }
  Object.assign(given, 'project_id' in example && { project_id: mostlyFirst(PROJECTS) })
  Object.assign(given, 'monetized' in example && { monetized: fc.boolean() })
  Object.assign(given, 'seconds' in example && { seconds: fc.integer({ min: 0, max: 65_535 }) })
  return fc.record(given).map((made) => ({ ...example, ...made }))
}

function mostlyFirst(values: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(fc.constant(values[0] ?? ''), fc.constant(values[1] ?? ''), fc.constantFrom(...values))
}

function aQuestion(): fc.Arbitrary<object> {
  const metrics = METRIC_KEYS.filter((metric) => metricOf(metric).from !== 'records')
  return fc.record({
    time_range: aTimeRange(),
    return_metrics: fc.record(Object.fromEntries(metrics.map((metric) => [metric, aMetric(metric)])), {
      requiredKeys: [],
    }),
    project_ids: fc.subarray([...PROJECTS, 'Unknown1']),
  })
}

function aTimeRange(): fc.Arbitrary<object> {
  const hour = fc.integer({ min: -12, max: DAYS * 24 })
  return fc
    .tuple(hour, fc.integer({ min: 1, max: DAYS * 24 }), fc.integer({ min: 1, max: 48 }), fc.nat(HOUR_MS), fc.boolean())
    .map(([from, hours, parts, shift, isShifted]) => {
      const start = START + from * HOUR_MS + (isShifted ? shift : 0)
      const resolution =
        parts % 2 === 0
          ? { slices: Math.max(1, Math.min(hours, parts)) }
          : { minutes: 60 * parts + (isShifted ? 7 : 0) }
      return { start: inOffset(start), end: new Date(start + hours * HOUR_MS).toISOString(), resolution }
    })
}

/** The same instant in the UTC−5 offset. */
function inOffset(ms: number): string {
  return new Date(ms - 5 * HOUR_MS).toISOString().replace('Z', '-05:00')
}

function aMetric(metric: MetricKey): fc.Arbitrary<object> {
  const { buckets } = metricOf(metric)
  const filters = filtersOf(metric)
  const values = (field: string): fc.Arbitrary<(string | boolean)[]> =>
    field === 'monetized'
      ? fc.subarray([true, false])
      : fc.subarray([...VALUES[field as keyof typeof VALUES], 'Never0'])
  return fc.record({
    bucket_by: fc.shuffledSubarray([...buckets]),
    filter_by: fc.record(
      Object.fromEntries(filters.map((field) => [field, fc.option(values(field), { nil: [], freq: 2 })])),
    ),
  })
}
