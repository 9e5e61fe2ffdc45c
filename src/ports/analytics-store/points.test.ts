import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MetricRequest } from './metrics.ts'
import { buildSlices, type Cell, joinSlices, recordSlices } from './points.ts'

const VIEWS: MetricRequest = { metric: 'project_views', bucketBy: [], filterBy: {} }

test('points of records are ordered by source and keep their decimals as text', () => {
  const request: MetricRequest = { metric: 'project_revenue', bucketBy: ['project_id'], filterBy: {} }
  const rows = [
    { slice: 1, source: 'b', amount: '0.10' },
    { slice: 1, source: 'a', amount: '200.00' },
  ]
  assert.deepEqual(recordSlices(request, 2, rows).slices, [
    [],
    [
      { source_project: 'a', metric_kind: 'revenue', project_id: 'a', revenue: '200.00' },
      { source_project: 'b', metric_kind: 'revenue', project_id: 'b', revenue: '0.10' },
    ],
  ])
})

test('an answer lists the metrics in the order of the specification, whatever order they were counted in', () => {
  const conversions = recordSlices({ ...VIEWS, metric: 'affiliate_code_conversions' }, 1, [
    { slice: 0, source: 'code', amount: 2 },
  ])
  const views = buildSlices(VIEWS, 1, [{ slice: 0, source: 'p', values: [], amount: 1 }])
  const answer = [
    [
      { source_project: 'p', metric_kind: 'views', views: 1 },
      { source_affiliate_code: 'code', metric_kind: 'conversions', conversions: 2 },
    ],
  ]
  assert.deepEqual(joinSlices([conversions, views], 1), answer)
  assert.deepEqual(joinSlices([views, conversions], 1), answer)
  assert.deepEqual(joinSlices([], 3), [[], [], []])
})

test('texts that look like borders between values are not confused', () => {
  const request: MetricRequest = { ...VIEWS, bucketBy: ['domain', 'site_path'] }
  const cells = [
    { slice: 0, source: 'p', values: ['a/1:b', ''], amount: 1 },
    { slice: 0, source: 'p', values: ['a', 'b/0:'], amount: 1 },
  ]
  assert.equal(buildSlices(request, 1, cells).slices[0]?.length, 2)
})

const cells: fc.Arbitrary<Cell[]> = fc.uniqueArray(
  fc.record({
    slice: fc.integer({ min: 0, max: 2 }),
    source: fc.constantFrom('a', 'b'),
    values: fc.tuple(fc.constantFrom('', 'x.example'), fc.constantFrom('DE', 'FR', 'XX')),
    amount: fc.integer({ min: 0, max: 100 }),
  }),
  { selector: (cell) => `${cell.slice} ${cell.source} ${cell.values.join(' ')}` },
)

const BY_COUNTRY: MetricRequest = { ...VIEWS, bucketBy: ['domain', 'country'] }

test('hiding and merging neither loses nor invents a view, and shows no country below 50', () => {
  fc.assert(
    fc.property(cells, (given) => {
      const points = buildSlices(BY_COUNTRY, 3, given).slices.flat()
      const total = (amounts: number[]) => amounts.reduce((sum, amount) => sum + amount, 0)
      assert.equal(total(points.map(({ views }) => Number(views))), total(given.map(({ amount }) => amount)))
      assert.ok(points.every(({ country, views }) => country === 'XX' || Number(views) >= 50))
      assert.ok(points.every(({ views }) => Number(views) > 0))
    }),
  )
})

test('the order in which cells arrive does not change a byte', () => {
  const shuffled = cells.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
  )
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      assert.equal(JSON.stringify(buildSlices(BY_COUNTRY, 3, one)), JSON.stringify(buildSlices(BY_COUNTRY, 3, other)))
    }),
  )
})
