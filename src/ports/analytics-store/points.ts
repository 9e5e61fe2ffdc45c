// Converts counted cells to the points of a response. Every adapter and the metrics from the database share these rules for
// the country floor, merging and order.
import { compare } from '#lib/compare.ts'
import { COUNTRY_FLOOR, dimensionsOf, METRIC_KEYS, type MetricKey, type MetricRequest, metricOf } from './metrics.ts'

/** Country of a cell whose country is unknown or too rare to be shown. */
export const HIDDEN_COUNTRY = 'XX'

/**
 * The amount for one slice, source and combination of dimensions (in the order of `dimensionsOf`). An adapter must return
 * at most one cell per combination, because the floor is applied to each cell.
 */
export type Cell = { slice: number; source: string; values: readonly (string | boolean)[]; amount: number }

/** An element of a slice; keys are in a fixed order, so that equal queries return equal bytes. */
export type Point = Record<string, string | number | boolean>

/** The result of a metric: one list per slice of the grid. */
export type MetricSlices = { metric: MetricKey; slices: Point[][] }

type SlicePoints = { points: Point[]; isOrdered: boolean }

/**
 * Applies the country floor: the country of cells below it becomes `XX`. If the query filters by country, such cells are
 * removed, because a filter must not reveal what the floor hides. Then removes dimensions that are not buckets, and merges
 * equal cells. Omits cells with amount 0.
 */
export function pointBuilder(request: MetricRequest) {
  const { value } = metricOf(request.metric)
  const dimensions = dimensionsOf(request)
  const isBucket = dimensions.map((field) => request.bucketBy.includes(field))
  const country = dimensions.indexOf('country')
  const isCountryFiltered = Object.hasOwn(request.filterBy, 'country')
  const compare = pointOrder(request)
  const slices = new Map<number, SlicePoints>()

  // Keeps no reference to the cell. Creates no other objects per cell, because there can be 250,000 cells.
  function add({ slice, source, values, amount }: Cell): void {
    if (amount === 0) return
    const isBelow = country >= 0 && amount < COUNTRY_FLOOR && values[country] !== HIDDEN_COUNTRY
    if (isBelow && isCountryFiltered) return
    const point = sourcePoint(request, source)
    for (let i = 0; i < dimensions.length; i += 1) {
      const field = dimensions[i]
      const bucket = isBelow && i === country ? HIDDEN_COUNTRY : values[i]
      if (isBucket[i] === true && field !== undefined && bucket !== undefined) point[field] = bucket
    }
    point[value] = amount
    push(slice, point)
  }

  function push(slice: number, point: Point): void {
    const entry = slices.get(slice)
    const last = entry?.points.at(-1)
    if (entry === undefined || last === undefined) {
      slices.set(slice, { points: [point], isOrdered: true })
      return
    }
    if (entry.isOrdered && compare(last, point) >= 0) entry.isOrdered = false
    entry.points.push(point)
  }

  /** Returns the sorted points of all slices. Call it once. Faster if the cells were added in this order. */
  function finish(sliceCount: number): MetricSlices {
    const all = Array.from({ length: sliceCount }, (_, i) => {
      const { points, isOrdered } = slices.get(i) ?? { points: [], isOrdered: true }
      return isOrdered ? points : mergeAdjacent(points.sort(compare), compare, value)
    })
    return { metric: request.metric, slices: all }
  }

  return { add, finish }
}

/** Builds all points of a metric. */
export function buildSlices(request: MetricRequest, sliceCount: number, cells: Iterable<Cell>): MetricSlices {
  const builder = pointBuilder(request)
  for (const cell of cells) builder.add(cell)
  return builder.finish(sliceCount)
}

/**
 * Builds the points of a metric from database records: at most one amount per slice and source, without zeros. Amounts are
 * decimal strings (revenue) or counts (conversions).
 */
export function recordSlices(
  request: MetricRequest,
  sliceCount: number,
  rows: Iterable<{ slice: number; source: string; amount: string | number }>,
): MetricSlices {
  const slices: Point[][] = Array.from({ length: sliceCount }, () => [])
  for (const row of [...rows].sort((a, b) => compare(a.source, b.source))) {
    const point = sourcePoint(request, row.source)
    point[metricOf(request.metric).value] = row.amount
    slices[row.slice]?.push(point)
  }
  return { metric: request.metric, slices }
}

/** Joins the points of all metrics per slice, in the order of METRICS. */
export function joinSlices(parts: readonly MetricSlices[], sliceCount: number): Point[][] {
  const ordered = METRIC_KEYS.flatMap((metric) => parts.filter((part) => part.metric === metric))
  return Array.from({ length: sliceCount }, (_, i) => ordered.flatMap((part) => part.slices[i] ?? []))
}

const SOURCE_KEYS = { project_id: 'source_project', affiliate_code_id: 'source_affiliate_code' } as const

/** Returns a point with the keys that all points of a source have. */
function sourcePoint({ metric, bucketBy }: MetricRequest, id: string): Point {
  const { kind, source } = metricOf(metric)
  const point: Point = { [SOURCE_KEYS[source]]: id, metric_kind: kind }
  if (bucketBy.includes(source)) point[source] = id
  return point
}

/** Adds up adjacent points that differ only in their amount. */
function mergeAdjacent(sorted: readonly Point[], compare: Compare, value: string): Point[] {
  const merged: Point[] = []
  for (const point of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && compare(last, point) === 0) last[value] = Number(last[value]) + Number(point[value])
    else merged.push(point)
  }
  return merged
}

type Compare = (a: Point, b: Point) => number

/** Compares by source, then by the bucket fields; a missing bucket comes first. */
function pointOrder(request: MetricRequest): Compare {
  const { source } = metricOf(request.metric)
  const fields = [SOURCE_KEYS[source], ...dimensionsOf(request).filter((field) => request.bucketBy.includes(field))]
  return (a, b) => {
    for (const field of fields) {
      const order = compare(a[field] ?? '', b[field] ?? '')
      if (order !== 0) return order
    }
    return 0
  }
}
