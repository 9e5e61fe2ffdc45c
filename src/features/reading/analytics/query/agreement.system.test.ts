// Compares the API with a naive program on random queries about random events and money records. The programs share no
// code and must agree to the last digit.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { newId } from '#lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { Events } from '#ports/analytics-store/events.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aClick, aDownload, aView, somePlaytime } from '#test/support/factories/analytics-events.ts'
import type { Person } from '#test/support/factories/factories.ts'

/** Around a leap day. */
const START = Date.UTC(2024, 1, 26)
const DAYS = 7
const PER_KIND = 800
const RECORDS = 200
const QUESTIONS = 200
const SEED = 20240229

const VALUES: Record<string, readonly string[]> = {
  domain: ['', 'a.example', 'b.example'],
  site_path: ['', '/', '/mod/lantern', '/🏮'],
  country: ['XX', 'DE', 'FR'],
  version_id: ['V1', 'V2', '0'],
  loader: ['', 'fabric', 'forge'],
  game_version: ['', '1.20', '1.9'],
  user_agent: ['', 'website'],
  reason: ['', 'update'],
}
/** metric key → kind, value, source, buckets, further filters; written down a second time, by hand. */
const METRICS = {
  project_views: ['views', 'views', 'project_id', 'project_id domain site_path monetized country', 'user_agent'],
  project_downloads: [
    'downloads',
    'downloads',
    'project_id',
    'project_id version_id domain site_path country',
    'user_agent monetized reason game_version loader',
  ],
  project_playtime: ['playtime', 'seconds', 'project_id', 'project_id version_id loader game_version', ''],
  project_revenue: ['revenue', 'revenue', 'project_id', 'project_id', ''],
  affiliate_code_clicks: ['clicks', 'clicks', 'affiliate_code_id', 'affiliate_code_id', ''],
  affiliate_code_conversions: ['conversions', 'conversions', 'affiliate_code_id', 'affiliate_code_id', ''],
  affiliate_code_revenue: ['revenue', 'revenue', 'affiliate_code_id', 'affiliate_code_id', ''],
} as const
type MetricKey = keyof typeof METRICS
const KEYS = Object.keys(METRICS) as MetricKey[]

/** One thing that happened, of any metric. `amount` is in hundred-millionths for money. */
type Fact = { at: number; amount: bigint } & Record<string, unknown>

let t: TestApp
let owner: Person
const facts: Record<MetricKey, Fact[]> = Object.fromEntries(KEYS.map((key) => [key, []])) as never
const sources = { project_id: [] as string[], affiliate_code_id: [] as string[] }

before(async () => {
  t = await testApp()
  owner = await t.make.account()
  for (let i = 0; i < 4; i += 1) sources.project_id.push((await t.make.project({ owner })).id)
  const codes = Array.from({ length: 3 }, newId)
  sources.affiliate_code_id.push(...codes)
  await t.deps.db
    .insertInto('affiliate_code')
    .values(codes.map((id) => ({ id, account_id: owner.id, source_name: id })))
    .execute()
  recordEvents()
  await recordMoney()
  await t.deps.events.flush()
})
after(() => t.close())

test('every metric over random ranges, resolutions, buckets, filters and projects is the same to the last digit', async () => {
  let points = 0
  await fc.assert(
    fc.asyncProperty(aQuestion(), async (body) => {
      const answer = await t.as(owner).post('/v3/analytics', body)
      assert.equal(answer.statusCode, 200, answer.body)
      const expected = answerPlainly(body)
      assert.equal(answer.body, JSON.stringify(expected))
      points += expected.flat().length
    }),
    { numRuns: QUESTIONS, seed: SEED },
  )
  assert.ok(points > 20 * QUESTIONS, `the queries matched ${points} points`)
})

type Body = {
  time_range: { start: string; end: string; resolution: { slices?: number; minutes?: number } }
  return_metrics: Partial<Record<MetricKey, { bucket_by: string[]; filter_by: Record<string, unknown[]> }>>
  project_ids: string[]
}

/** The naive program: for each slice, metric and fact. */
function answerPlainly({ time_range, return_metrics, project_ids }: Body): object[][] {
  const start = Date.parse(time_range.start)
  const end = Date.parse(time_range.end)
  const { slices = 0, minutes = 0 } = time_range.resolution
  const count = slices > 0 ? slices : Math.ceil((end - start) / (minutes * MINUTE_MS))
  // slices: i/n ≤ (at - start)/(end - start) < (i + 1)/n, multiplied out; whole numbers far below 2^53.
  const width = slices > 0 ? end - start : minutes * MINUTE_MS
  const sliceOf = (at: number) => Math.floor(((at - start) * Math.max(slices, 1)) / width)
  const answer: object[][] = Array.from({ length: count }, () => [])
  for (const key of KEYS) {
    const asked = return_metrics[key]
    if (asked === undefined) continue
    const within = facts[key].filter(({ at }) => at >= start && at < end)
    const bySlice = Map.groupBy(within, ({ at }) => sliceOf(at))
    for (const [i, slice] of answer.entries()) slice.push(...pointsOf(key, asked, project_ids, bySlice.get(i) ?? []))
  }
  return answer
}

function pointsOf(
  key: MetricKey,
  asked: { bucket_by: string[]; filter_by: Record<string, unknown[]> },
  projectIds: string[],
  inSlice: readonly Fact[],
): object[] {
  const [kind, valueName, source, bucketText, filterText] = METRICS[key]
  const allowed = source === 'project_id' && projectIds.length > 0 ? projectIds : sources[source]
  const filters = Object.entries(asked.filter_by).filter(
    ([, wanted]) => wanted.length > 0 && !(wanted.includes(true) && wanted.includes(false)),
  )
  const fields = [...new Set(`${bucketText} ${filterText}`.split(' '))].filter(
    (field) => field !== '' && field !== source,
  )
  const counted = fields.filter((field) => asked.bucket_by.includes(field) || filters.some(([name]) => name === field))
  const shown = counted.filter((field) => asked.bucket_by.includes(field))
  const cells = new Map<string, { row: Record<string, unknown>; amount: bigint }>()
  const add = (into: typeof cells, row: Record<string, unknown>, amount: bigint) => {
    const name = JSON.stringify(row)
    into.set(name, { row, amount: (into.get(name)?.amount ?? 0n) + amount })
  }
  for (const fact of inSlice) {
    if (!allowed.includes(String(fact[source]))) continue
    if (!filters.every(([field, wanted]) => wanted.includes(fact[field]))) continue
    add(cells, Object.fromEntries([source, ...counted].map((field) => [field, fact[field]])), fact.amount)
  }
  const merged: typeof cells = new Map()
  for (const { row, amount } of cells.values()) {
    const isRare = 'country' in row && row['country'] !== 'XX' && amount < 50n
    if (isRare && filters.some(([field]) => field === 'country')) continue
    const whole = isRare ? { ...row, country: 'XX' } : row
    add(merged, Object.fromEntries([source, ...shown].map((field) => [field, whole[field]])), amount)
  }
  const sorted = [...merged.values()].filter(({ amount }) => amount > 0n)
  sorted.sort((a, b) => {
    for (const field of [source, ...shown]) {
      const [x, y] = [a.row[field], b.row[field]] as [string, string]
      if (x !== y) return x < y ? -1 : 1
    }
    return 0
  })
  return sorted.map(({ row, amount }) => ({
    [source === 'project_id' ? 'source_project' : 'source_affiliate_code']: row[source],
    metric_kind: kind,
    ...(asked.bucket_by.includes(source) ? { [source]: row[source] } : {}),
    ...Object.fromEntries(shown.map((field) => [field, row[field]])),
    [valueName]: kind === 'revenue' ? money(amount) : Number(amount),
  }))
}

function money(units: bigint): string {
  const text = units.toString().padStart(9, '0')
  return `${text.slice(0, -8)}.${text.slice(-8).replace(/0{1,6}$/, '')}`
}

function recordEvents(): void {
  const random = <T>(values: readonly T[]) => fc.oneof(fc.constant(values[0] as T), fc.constantFrom(...values))
  const at = fc.oneof(
    fc.integer({ min: START, max: START + DAYS * 24 * HOUR_MS }),
    fc.integer({ min: 0, max: DAYS * 48 }).map((halves) => START + (halves * HOUR_MS) / 2),
  )
  const made = <E extends { recorded_at: number }>(example: E, columns: string[], more: object) =>
    fc.sample(
      fc
        .record({
          ...Object.fromEntries(columns.map((name) => [name, random(VALUES[name] ?? [])])),
          ...more,
          recorded_at: at,
        })
        .map((given) => ({ ...example, ...given }) as E),
      { numRuns: PER_KIND, seed: SEED },
    )
  const record = <K extends keyof Events>(kind: K, key: MetricKey, events: Events[K][]) => {
    for (const event of events) {
      assert.ok(t.deps.events.add(kind, event))
      const seconds = 'seconds' in event ? Number(event.seconds) : 1
      facts[key].push({ ...event, at: event.recorded_at, amount: BigInt(seconds) } as never)
    }
  }
  const project = { project_id: random(sources.project_id) }
  const origin = ['domain', 'country', 'user_agent']
  record('view', 'project_views', made(aView(), ['site_path', ...origin], { ...project, monetized: fc.boolean() }))
  const ofDownload = ['site_path', 'version_id', 'loader', 'game_version', 'reason', ...origin]
  record('download', 'project_downloads', made(aDownload(), ofDownload, { ...project, monetized: fc.boolean() }))
  const ofPlay = ['version_id', 'loader', 'game_version']
  record('playtime', 'project_playtime', made(somePlaytime(), ofPlay, { ...project, seconds: fc.nat(65_535) }))
  const code = { affiliate_code_id: random(sources.affiliate_code_id) }
  record('affiliate_click', 'affiliate_code_clicks', made(aClick(), origin, code))
}

async function recordMoney(): Promise<void> {
  const units = fc.bigInt({ min: 1n, max: 10n ** 12n })
  const shares = fc.sample(
    fc.record({ amount: units, day: fc.nat(DAYS), source: fc.constantFrom(...sources.project_id) }),
    { numRuns: RECORDS, seed: SEED },
  )
  for (const { amount, day, source } of shares) {
    const at = START + day * 24 * HOUR_MS
    const part = await t.deps.db
      .insertInto('revenue_part')
      .values({ external_id: newId(), day: new Date(at), amount: money(amount) })
      .returning('id')
      .executeTakeFirstOrThrow()
    await t.deps.db
      .insertInto('revenue_share')
      .values({
        part_id: part.id,
        project_id: source,
        day: new Date(at),
        amount: money(amount),
        available: new Date(at),
      })
      .execute()
    facts.project_revenue.push({ at, amount, project_id: source })
  }
  const conversions = fc.sample(
    fc.record({
      amount: fc.oneof(fc.constant(0n), units),
      at: fc.integer({ min: START, max: START + DAYS * 24 * HOUR_MS }),
      source: fc.constantFrom(...sources.affiliate_code_id),
    }),
    { numRuns: RECORDS, seed: SEED },
  )
  for (const { amount, at, source } of conversions) {
    const row = { external_id: newId(), affiliate_code_id: source, amount: money(amount), revenue: money(amount) }
    await t.deps.db
      .insertInto('affiliate_conversion')
      .values({ ...row, converted: new Date(at), available: new Date(at) })
      .execute()
    facts.affiliate_code_conversions.push({ at, amount: 1n, affiliate_code_id: source })
    facts.affiliate_code_revenue.push({ at, amount, affiliate_code_id: source })
  }
}

function aQuestion(): fc.Arbitrary<Body> {
  const metric = (key: MetricKey) => {
    const [, , source, bucketText, filterText] = METRICS[key]
    const buckets = bucketText.split(' ')
    const filters = `${bucketText} ${filterText}`.split(' ').filter((field) => field !== '' && field !== 'project_id')
    const values = (field: string): fc.Arbitrary<unknown[]> => {
      if (field === 'monetized') return fc.subarray([true, false])
      return fc.subarray(field === source ? sources.affiliate_code_id : [...(VALUES[field] ?? []), 'Never0'])
    }
    return fc.record({
      bucket_by: fc.shuffledSubarray(buckets),
      filter_by: fc.record(
        Object.fromEntries(filters.map((field) => [field, fc.option(values(field), { nil: [], freq: 2 })])),
      ) as fc.Arbitrary<Record<string, unknown[]>>,
    })
  }
  return fc.record({
    time_range: aTimeRange(),
    return_metrics: fc.record(Object.fromEntries(KEYS.map((key) => [key, metric(key)])), { requiredKeys: [] }),
    project_ids: fc.subarray([...sources.project_id, 'Unknown1']),
  }) as fc.Arbitrary<Body>
}

function aTimeRange(): fc.Arbitrary<Body['time_range']> {
  return fc
    .tuple(
      fc.integer({ min: -12, max: DAYS * 24 }),
      fc.integer({ min: 1, max: DAYS * 24 }),
      fc.integer({ min: 1, max: 48 }),
      fc.nat(HOUR_MS),
      fc.boolean(),
    )
    .map(([from, hours, parts, shift, isShifted]) => {
      const start = START + from * HOUR_MS + (isShifted ? shift : 0)
      const resolution =
        parts % 2 === 0 ? { slices: Math.min(hours, parts) } : { minutes: 60 * parts + (isShifted ? 7 : 0) }
      // The same instant in the UTC−5 offset.
      const west = new Date(start - 5 * HOUR_MS).toISOString().replace('Z', '-05:00')
      return { start: west, end: new Date(start + hours * HOUR_MS).toISOString(), resolution }
    })
}
