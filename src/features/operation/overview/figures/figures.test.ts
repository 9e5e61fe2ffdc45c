import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { createFigureCounts, percentile } from '#platform/telemetry/figures.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { createRecorder } from './record-figures.ts'
import type { FiguresView } from './views.ts'

const OVERVIEW = '/_internal/admin/overview'
const ERRORS = '/_internal/admin/errors'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
before(async () => {
  t = await testApp()
  t.freeze()
})
after(() => t.close())

async function figures(period: string): Promise<FiguresView> {
  const answer = await t.anyone.get(OVERVIEW, { ...KEY, query: { period } })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().figures
}

/** Moves the clock to the start of the next hour, so that no minute of a test is in two hours. */
function toNextHour(): void {
  t.advance(HOUR_MS - (t.deps.now() % HOUR_MS))
}

test('requests of a minute are stored per minute and per hour, with their outcome, and monitors do not count', async () => {
  toNextHour()
  const recorder = createRecorder(t.deps)
  t.deps.metrics.figures.take()
  await t.anyone.get('/v3/statistics')
  await t.anyone.get('/v3/project/missing0')
  await t.anyone.get('/health')
  await t.make.project({ status: 'processing' })
  t.advance(MINUTE_MS)
  const { queries } = await t.queriesOf(() => recorder.store())
  assert.equal(queries.length, 1)
  for (const period of ['1h', '24h', '7d', '90d']) {
    const { totals, points, step_seconds } = await figures(period)
    assert.deepEqual([totals.requests, totals.refused, totals.failed], [2, 1, 0], period)
    assert.equal(totals.in_review, 1)
    assert.ok((totals.median_ms ?? 0) > 0 && (totals.p95_ms ?? 0) >= (totals.median_ms ?? 0))
    assert.equal(points.filter(({ requests }) => requests > 0).length, 1)
    assert.ok(points.length <= 96 && points.every(({ at }) => Date.parse(at) % (step_seconds * 1000) === 0))
  }
})

test('several processes add to the same rows, also if they write at the same time', async () => {
  toNextHour()
  const others = Array.from({ length: 4 }, () => {
    const counts = createFigureCounts()
    const recorder = createRecorder({ ...t.deps, metrics: { ...t.deps.metrics, figures: counts } })
    for (let n = 0; n < 5; n += 1) counts.request({ operation: 'getProject', status: 429, milliseconds: 4 })
    counts.request({ operation: 'downloadFile', status: 200, milliseconds: 9_000, isTransfer: true })
    counts.error({ code: 'mail_error', route: 'POST /x', requestId: 'one' })
    return recorder
  })
  t.advance(MINUTE_MS)
  await Promise.all(others.map((recorder) => recorder.store()))
  const { totals } = await figures('1h')
  assert.deepEqual([totals.requests, totals.limited], [24, 20])
  // A transfer counts, but its time does not.
  assert.ok((totals.p95_ms ?? 0) > 3 && (totals.p95_ms ?? 9) <= 5)
  const { errors } = (await t.anyone.get(ERRORS, { ...KEY, query: { period: '1h' } })).json()
  assert.deepEqual(
    errors.map(({ code, route, count }: Record<string, unknown>) => [code, route, count]),
    [['mail_error', 'POST /x', 4]],
  )
})

test('figures that cannot be stored wait in memory, with the minute in which they were counted', async () => {
  toNextHour()
  const counts = createFigureCounts()
  let isDown = true
  const db = new Proxy(t.deps.db, {
    get: (target, key) => {
      if (isDown) throw new Error('The database is unavailable')
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const recorder = createRecorder({ ...t.deps, db, metrics: { ...t.deps.metrics, figures: counts } })
  const at: number[] = []
  for (let minute = 0; minute < 3; minute += 1) {
    at.push(t.deps.now())
    counts.request({ operation: 'getProject', status: 200, milliseconds: 1 })
    t.advance(MINUTE_MS)
    if (minute === 2) isDown = false
    await recorder.store()
  }
  const { points } = await figures('1h')
  assert.deepEqual(
    points.filter(({ requests }) => requests > 0).map((point) => Date.parse(point.at)),
    at,
  )
})

test('a process that cannot store figures for long has a bounded number of them', () => {
  const counts = createFigureCounts()
  for (let n = 0; n < 1_000; n += 1) counts.error({ code: 'internal_error', route: `GET /${n}`, requestId: `${n}` })
  const { errors } = counts.take()
  assert.equal(errors.length, 101)
  assert.deepEqual([errors.at(-1)?.route, errors.at(-1)?.count, errors.at(-1)?.requestId], ['other', 900, '999'])
  assert.deepEqual(counts.take().errors, [])
})

test('figures per minute are deleted after 24 hours, those per hour and errors after 90 days', async () => {
  const spans = async () => {
    const rows = await t.deps.db.selectFrom('instance_figure').select('span').distinct().orderBy('span').execute()
    const { count } = await t.deps.db
      .selectFrom('instance_error')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return [...rows.map(({ span }) => span), count > 0]
  }
  const expire = async () => {
    await sql`select graphile_worker.add_job('overview.expire', '{}'::json)`.execute(t.deps.db)
    await t.runJobs()
  }
  await expire()
  assert.deepEqual(await spans(), ['hour', 'minute', true])
  t.advance(DAY_MS + HOUR_MS)
  await expire()
  assert.deepEqual(await spans(), ['hour', true])
  t.advance(90 * DAY_MS)
  await expire()
  assert.deepEqual(await spans(), [false])
})

test('a response with 5xx is listed by error code and route, with its last request ID', async () => {
  const app = await testApp({
    deps: ({ mail }) => ({ mail }),
    watch: (server) => {
      server.get('/broken', { config: { auth: 'public' }, schema: { operationId: 'broken', hide: true } }, () => {
        throw new Error('It is broken')
      })
    },
  })
  try {
    const recorder = createRecorder(app.deps)
    await app.anyone.get('/broken')
    const last = await app.anyone.get('/broken')
    await recorder.store()
    const { errors } = (await app.anyone.get(ERRORS, KEY)).json()
    const [{ code, route, count, request_id }] = errors
    assert.deepEqual(
      { code, route, count, request_id },
      { code: 'internal_error', route: 'GET /broken', count: 2, request_id: last.headers['x-request-id'] },
    )
  } finally {
    await app.close()
  }
})

test('a period must be one of the list, and others than operators find nothing', async () => {
  for (const path of [OVERVIEW, ERRORS]) {
    assertError(await t.anyone.get(path, { ...KEY, query: { period: '2h' } }), 400, 'invalid_input')
    assertError(await t.anyone.get(path), 404, 'not_found')
    const [person, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
    assertError(await t.as(person).get(path), 404, 'not_found')
    assertError(await t.as(moderator).get(path), 404, 'not_found')
  }
  assertError(await t.anyone.get(ERRORS, { ...KEY, query: { limit: 501 } }), 400, 'invalid_input')
})

test('a percentile is between the limits of its slot', () => {
  assert.equal(percentile([], 0.5), null)
  assert.equal(percentile([0, 0], 0.5), null)
  assert.equal(percentile([10], 0.5), 0.5)
  assert.equal(percentile([5, 5], 1), 2)
  assert.equal(percentile([...Array.from({ length: 19 }, () => 0), 3], 0.95), 10_000)
})
