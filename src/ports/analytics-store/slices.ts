// Slice arithmetic: which slice an instant falls into, exactly, in whole milliseconds of UTC. Slices are half-open and
// aligned to the start of the range, never to midnight, so days of 23 or 25 hours do not exist here.

import { MINUTE_MS } from '#lib/time.ts'

/**
 * A range `[startMs, endMs)` cut into `count` slices. Slice `i` begins at `startMs + i * widthMs / parts`, which need
 * not be a whole number; keeping the fraction makes the slices of `{slices: 7}` equal to the last millisecond.
 */
export type SliceGrid = {
  startMs: number
  endMs: number
  count: number
  /** Width of `parts` slices together, in milliseconds. */
  widthMs: number
  parts: number
}

export type Resolution = { slices: number } | { minutes: number }

/**
 * `slices`: that many equal parts. `minutes`: parts of exactly that length, the last one cut at the end.
 * The caller has checked `startMs < endMs` and that the numbers are positive integers.
 */
export function sliceGrid(startMs: number, endMs: number, resolution: Resolution): SliceGrid {
  const rangeMs = endMs - startMs
  if ('slices' in resolution) {
    return { startMs, endMs, count: resolution.slices, widthMs: rangeMs, parts: resolution.slices }
  }
  // A part longer than the range is the range; what was asked may be beyond what a number holds exactly.
  const widthMs = Math.min(resolution.minutes * MINUTE_MS, rangeMs)
  return { startMs, endMs, count: Math.ceil(rangeMs / widthMs), widthMs, parts: 1 }
}

/**
 * `count + 1` edges: slice `i` holds the instants `edges[i] <= t < edges[i + 1]`. A fractional edge is rounded up,
 * because the first whole millisecond at or after it is the first that belongs to the later slice.
 */
export function sliceEdges(grid: SliceGrid): number[] {
  const parts = BigInt(grid.parts)
  const edges: number[] = []
  for (let i = 0; i <= grid.count; i += 1) {
    const offset = (BigInt(i) * BigInt(grid.widthMs) + parts - 1n) / parts
    edges.push(Math.min(grid.endMs, grid.startMs + Number(offset)))
  }
  return edges
}
