// Computes the slices of a time range exactly, in milliseconds. Slices are half-open and aligned to the start of the range,
// not to midnight, so that days of 23 or 25 hours do not matter.

import { MINUTE_MS } from '#lib/time.ts'

/**
 * The range `[startMs, endMs)` in `count` slices. Slice `i` begins at `startMs + i * widthMs / parts`. The fraction makes
 * the slices of `{slices: 7}` equal to the last millisecond.
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
 * Splits a range into equal `slices`, or into slices of `minutes` of which the last one ends with the range.
 * The caller must check that `startMs < endMs` and that the numbers are positive integers.
 */
export function sliceGrid(startMs: number, endMs: number, resolution: Resolution): SliceGrid {
  const rangeMs = endMs - startMs
  if ('slices' in resolution)
    return { startMs, endMs, count: resolution.slices, widthMs: rangeMs, parts: resolution.slices }
  // Limited to the range, because the product can exceed the safe integers.
  const widthMs = Math.min(resolution.minutes * MINUTE_MS, rangeMs)
  return { startMs, endMs, count: Math.ceil(rangeMs / widthMs), widthMs, parts: 1 }
}

/**
 * Returns `count + 1` edges: slice `i` contains the instants `edges[i] <= t < edges[i + 1]`. Rounds up, because the later
 * slice begins with the first whole millisecond at or after a fractional edge.
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
