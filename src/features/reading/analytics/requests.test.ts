import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import { needsPayoutsRead, parseAnalyticsQuery } from './requests.ts'

const RANGE = { start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z', resolution: { slices: 2 } }
const START_MS = Date.UTC(2024, 0, 1)

test('reads a whole query, with its metrics in a fixed order', () => {
  const question = parseAnalyticsQuery({
    time_range: { start: '2024-01-01T02:00:00.25+02:00', end: '2024-01-02T00:00:00Z', resolution: { minutes: 90 } },
    return_metrics: {
      affiliate_code_clicks: { bucket_by: ['affiliate_code_id'] },
      project_downloads: { bucket_by: ['country', 'version_id', 'country'], filter_by: { loader: ['b', 'a', 'b'] } },
      project_views: {},
    },
    project_ids: ['AbCd1234', 'a-slug', 'AbCd1234'],
    unknown: 'is ignored',
  })
  assert.deepEqual(question, {
    grid: { startMs: START_MS + 250, endMs: START_MS + 24 * HOUR_MS, count: 16, widthMs: 1.5 * HOUR_MS, parts: 1 },
    metrics: [
      { metric: 'project_views', bucketBy: [], filterBy: {} },
      { metric: 'project_downloads', bucketBy: ['version_id', 'country'], filterBy: { loader: ['b', 'a'] } },
      { metric: 'affiliate_code_clicks', bucketBy: ['affiliate_code_id'], filterBy: {} },
    ],
    projectIds: ['AbCd1234', 'a-slug'],
  })
})

test('a query can have no metrics, no projects and empty filters', () => {
  const question = parseAnalyticsQuery({ time_range: RANGE, return_metrics: {}, project_ids: [] })
  assert.deepEqual([question.metrics, question.projectIds, question.grid.count], [[], undefined, 2])
  const filter_by = { domain: [], monetized: [true, false] }
  const open = parseAnalyticsQuery({ time_range: RANGE, return_metrics: { project_views: { filter_by } } })
  assert.deepEqual(open.metrics[0]?.filterBy, {})
})

test('the limits themselves are allowed', () => {
  const grid = (end: string, resolution: object) =>
    parseAnalyticsQuery({ time_range: { ...RANGE, end, resolution }, return_metrics: {} }).grid.count
  assert.equal(grid('2024-01-01T01:00:00Z', { slices: 1 }), 1)
  assert.equal(grid('2024-01-01T01:00:00Z', { minutes: 60 }), 1)
  assert.equal(grid('2024-01-01T01:00:00Z', { minutes: Number.MAX_SAFE_INTEGER }), 1)
  assert.equal(grid('2024-02-12T16:00:00Z', { slices: 1024 }), 1024)
  assert.equal(grid('2024-02-12T16:00:00Z', { minutes: 60 }), 1024)
  assert.equal(grid('9999-12-31T23:59:59Z', { slices: 1024 }), 1024)
})

const time = (given: object) => ({ time_range: { ...RANGE, ...given }, return_metrics: {} })
const resolution = (value: unknown) => time({ resolution: value })
const metrics = (return_metrics: unknown) => ({ time_range: RANGE, return_metrics })
const views = (given: unknown) => metrics({ project_views: given })

const problems: [name: string, body: unknown, field: string, message?: RegExp][] = [
  ['no body', undefined, 'body'],
  ['an array as body', [], 'body'],
  ['null as body', null, 'body'],
  ['no range', { return_metrics: {} }, 'time_range', /required/],
  ['an inherited range', Object.create({ time_range: RANGE, return_metrics: {} }), 'time_range', /required/],
  ['no metrics', { time_range: RANGE }, 'return_metrics', /required/],
  ['null as metrics', metrics(null), 'return_metrics'],
  ['a typo in the range', time({ strat: RANGE.start }), 'time_range.strat', /unknown/],
  ['__proto__ in the range', { time_range: withProto(RANGE), return_metrics: {} }, 'time_range.__proto__', /unknown/],
  ['a number as start', time({ start: START_MS }), 'time_range.start'],
  ['a day that does not exist', time({ end: '2024-02-30T00:00:00Z' }), 'time_range.end'],
  ['a time without offset', time({ start: '2024-01-01T00:00:00' }), 'time_range.start'],
  ['a reversed range', time({ start: RANGE.end, end: RANGE.start }), 'time_range.end', /later than start/],
  ['an empty range', time({ end: RANGE.start }), 'time_range.end', /later than start/],
  ['a range of 59 minutes', time({ end: '2024-01-01T00:59:00Z', resolution: { slices: 1 } }), 'time_range.end'],
  [
    'a range of 59 minutes in minutes',
    time({ end: '2024-01-01T00:59:00Z', resolution: { minutes: 60 } }),
    'time_range.end',
  ],
  ['no resolution', time({ resolution: undefined }), 'time_range.resolution', /required/],
  ['an empty resolution', resolution({}), 'time_range.resolution', /exactly one/],
  ['both resolutions', resolution({ slices: 2, minutes: 60 }), 'time_range.resolution', /exactly one/],
  ['an unknown resolution', resolution({ hours: 1 }), 'time_range.resolution.hours'],
  ['a text as slices', resolution({ slices: '2' }), 'time_range.resolution.slices'],
  ['zero slices', resolution({ slices: 0 }), 'time_range.resolution.slices'],
  ['a negative number of minutes', resolution({ minutes: -60 }), 'time_range.resolution.minutes'],
  ['a fraction of a slice', resolution({ slices: 1.5 }), 'time_range.resolution.slices'],
  ['minutes beyond exact numbers', resolution({ minutes: 2 ** 53 }), 'time_range.resolution.minutes'],
  [
    '25 slices of a day',
    resolution({ slices: 25 }),
    'time_range.resolution.slices',
    /57\.6 minutes; the minimum is 60/,
  ],
  ['slices of 59 minutes', resolution({ minutes: 59 }), 'time_range.resolution.minutes', /minimum is 60/],
  [
    '1025 slices',
    time({ end: '2026-01-01T00:00:00Z', resolution: { slices: 1025 } }),
    'time_range.resolution.slices',
    /1025 slices; the maximum is 1024/,
  ],
  [
    '1025 slices by minutes',
    time({ end: '2024-02-12T16:00:00.001Z', resolution: { minutes: 60 } }),
    'time_range.resolution.minutes',
    /1025 slices/,
  ],
  ['an unknown metric', metrics({ project_vews: {} }), 'return_metrics.project_vews', /unknown/],
  ['the metric __proto__', metrics(withProto({})), 'return_metrics.__proto__', /unknown/],
  ['the metric constructor', metrics({ constructor: {} }), 'return_metrics.constructor', /unknown/],
  ['null as a metric', views(null), 'return_metrics.project_views'],
  ['an unknown key of a metric', views({ bucket_bye: [] }), 'return_metrics.project_views.bucket_bye'],
  ['a text as buckets', views({ bucket_by: 'country' }), 'return_metrics.project_views.bucket_by'],
  ['null as buckets', views({ bucket_by: null }), 'return_metrics.project_views.bucket_by'],
  [
    'an unknown bucket',
    views({ bucket_by: ['country', 'continent'] }),
    'return_metrics.project_views.bucket_by.1',
    /country/,
  ],
  ["another metric's bucket", views({ bucket_by: ['version_id'] }), 'return_metrics.project_views.bucket_by.0'],
  ['too many buckets', views({ bucket_by: Array(33).fill('country') }), 'return_metrics.project_views.bucket_by'],
  ['an unknown filter', views({ filter_by: { loader: ['x'] } }), 'return_metrics.project_views.filter_by.loader'],
  ['the filter __proto__', views({ filter_by: withProto({}) }), 'return_metrics.project_views.filter_by.__proto__'],
  ['an array as filters', views({ filter_by: [] }), 'return_metrics.project_views.filter_by'],
  ['a text as filter values', views({ filter_by: { domain: 'x' } }), 'return_metrics.project_views.filter_by.domain'],
  [
    'a number as filter value',
    views({ filter_by: { domain: ['x', 1] } }),
    'return_metrics.project_views.filter_by.domain.1',
  ],
  [
    'a text as monetized',
    views({ filter_by: { monetized: ['true'] } }),
    'return_metrics.project_views.filter_by.monetized.0',
  ],
  [
    'a malformed version',
    metrics({ project_downloads: { filter_by: { version_id: ['a/b'] } } }),
    'return_metrics.project_downloads.filter_by.version_id.0',
  ],
  [
    'too many filter values',
    views({ filter_by: { domain: Array(257).fill('x') } }),
    'return_metrics.project_views.filter_by.domain',
  ],
  ['a text as projects', { ...metrics({}), project_ids: 'x' }, 'project_ids'],
  ['a malformed project', { ...metrics({}), project_ids: ['ok', '../x'] }, 'project_ids.1'],
  ['1001 projects', { ...metrics({}), project_ids: Array(1001).fill('x') }, 'project_ids', /1000/],
]

for (const [name, body, field, message] of problems) {
  test(`${name}: rejected with the field ${field}`, () => {
    assert.throws(
      () => parseAnalyticsQuery(body),
      (error) => {
        assert.ok(error instanceof ApiError)
        const { field: named } = error.details ?? {}
        assert.deepEqual([error.error, named], ['validation_error', field])
        assert.match(error.message, message ?? /./)
        return true
      },
    )
  })
}

test('revenue metrics need PAYOUTS_READ', () => {
  const needs = (return_metrics: object) => needsPayoutsRead(parseAnalyticsQuery({ time_range: RANGE, return_metrics }))
  assert.equal(needs({ project_views: {}, affiliate_code_conversions: {} }), false)
  assert.equal(needs({ affiliate_code_revenue: {}, project_views: {} }), true)
  assert.equal(needs({ project_views: {}, project_revenue: {} }), true)
})

/** As `JSON.parse` makes it: `__proto__` as a key like another. */
function withProto(object: object): object {
  return JSON.parse(
    JSON.stringify(object).replace(/}$/, Object.keys(object).length > 0 ? ',"__proto__":{}}' : '"__proto__":{}}'),
  )
}
