import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { type SliceGrid, sliceEdges, sliceGrid } from './slices.ts'

/** The slice of a whole millisecond by division, which the edges must agree with; undefined outside the range. */
function sliceOf(grid: SliceGrid, ms: number): number | undefined {
  if (ms < grid.startMs || ms >= grid.endMs) return undefined
  // The product passes 2^53 for ranges of centuries.
  return Number((BigInt(ms - grid.startMs) * BigInt(grid.parts)) / BigInt(grid.widthMs))
}

/** Ranges from an hour to eight centuries, anywhere in the years 0 to 9999, cut in up to 1024 slices. */
const grids = fc
  .record({
    start: fc.integer({ min: Date.UTC(0, 0, 1), max: Date.UTC(9100, 0, 1) }),
    range: fc.oneof(
      fc.integer({ min: HOUR_MS, max: 40 * DAY_MS }),
      fc.integer({ min: HOUR_MS, max: 300_000 * DAY_MS }),
    ),
    slices: fc.integer({ min: 1, max: 1024 }),
    isMinutes: fc.boolean(),
  })
  .map(({ start, range, slices, isMinutes }) =>
    sliceGrid(start, start + range, isMinutes ? { minutes: Math.ceil(range / slices / MINUTE_MS) } : { slices }),
  )

test('edges begin at the start, end at the end and rise', () => {
  fc.assert(
    fc.property(grids, (grid) => {
      const edges = sliceEdges(grid)
      assert.equal(edges.length, grid.count + 1)
      assert.equal(edges[0], grid.startMs)
      assert.equal(edges.at(-1), grid.endMs)
      assert.ok(edges.every((edge, i) => i === 0 || edge > (edges[i - 1] ?? edge)))
    }),
  )
})

test('an instant is in the slice whose edges hold it, for every instant of the range', () => {
  fc.assert(
    fc.property(grids, fc.double({ min: 0, max: 1, noNaN: true }), (grid, share) => {
      const edges = sliceEdges(grid)
      const ms = Math.min(grid.endMs - 1, grid.startMs + Math.floor((grid.endMs - grid.startMs) * share))
      const slice = sliceOf(grid, ms)
      assert.ok(slice !== undefined && (edges[slice] ?? ms + 1) <= ms && ms < (edges[slice + 1] ?? ms))
    }),
  )
})

test('around every edge, the instant before is in the earlier slice and the edge in the later', () => {
  fc.assert(
    fc.property(grids, (grid) => {
      for (const [i, edge] of sliceEdges(grid).entries()) {
        assert.equal(sliceOf(grid, edge - 1), i === 0 ? undefined : i - 1)
        assert.equal(sliceOf(grid, edge), i === grid.count ? undefined : i)
      }
    }),
    { numRuns: 30 },
  )
})

test('slices by number are equally wide to the millisecond', () => {
  fc.assert(
    fc.property(grids, (grid) => {
      const edges = sliceEdges(grid)
      const widths = edges.slice(1).map((edge, i) => edge - (edges[i] ?? 0))
      if (grid.parts > 1) assert.ok(Math.max(...widths) - Math.min(...widths) <= 1)
    }),
  )
})

test('slices by minutes are exact, and only the last one is cut', () => {
  const hours = (count: number, minutes: number) => widths(sliceGrid(0, count * HOUR_MS, { minutes }))
  assert.deepEqual(hours(4, 120), [2 * HOUR_MS, 2 * HOUR_MS])
  assert.deepEqual(hours(5, 120), [2 * HOUR_MS, 2 * HOUR_MS, HOUR_MS])
  assert.deepEqual(hours(5, 60_000), [5 * HOUR_MS])
  assert.deepEqual(widths(sliceGrid(7, 7 + 2 * HOUR_MS + 1, { minutes: 60 })), [HOUR_MS, HOUR_MS, 1])
})

test('a fractional edge gives its millisecond to the earlier slice', () => {
  const grid = sliceGrid(0, 10, { slices: 3 })
  assert.deepEqual(sliceEdges(grid), [0, 4, 7, 10])
  assert.deepEqual(
    [3, 4, 6, 7, 9].map((ms) => sliceOf(grid, ms)),
    [0, 1, 1, 2, 2],
  )
})

test('days stay 24 hours where clocks change, and a leap year has 366', () => {
  const overSpring = sliceGrid(Date.parse('2024-03-30T00:00:00+01:00'), Date.parse('2024-04-02T00:00:00+02:00'), {
    minutes: 1440,
  })
  assert.deepEqual(widths(overSpring), [DAY_MS, DAY_MS, 23 * HOUR_MS])
  assert.equal(sliceGrid(Date.UTC(2024, 0, 1), Date.UTC(2025, 0, 1), { minutes: 1440 }).count, 366)
  assert.equal(sliceGrid(Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1), { minutes: 1440 }).count, 365)
})

function widths(grid: SliceGrid): number[] {
  const edges = sliceEdges(grid)
  return edges.slice(1).map((edge, i) => edge - (edges[i] ?? 0))
}
