// From counted cells to the points of an answer: the country floor, the merging and the order, in one place for every
// adapter and for the metrics that come from the database, so that none can disagree with another.
import { compare } from '#lib/compare.ts'
import { dimensionsOf, METRIC_KEYS, type MetricKey, type MetricRequest, metricOf } from './metrics.ts'

/** The country of a cell whose country is unknown or too rare to be shown. */
export const HIDDEN_COUNTRY = 'XX'

/**
 * What was counted for one slice, source and combination of dimensions (`dimensionsOf` the request, in that order). An
 * adapter gives at most one cell for each combination, or the floor would be held to parts.
 */
export type Cell = {
  slice: number
  source: string
  values: readonly (string | boolean)[]
  amount: number
}

/** One element of a slice; its keys are in a fixed order, so equal questions give equal bytes. */
export type Point = Record<string, string | number | boolean>

/** One metric's part of an answer: exactly one list for each slice of the grid. */
export type MetricSlices = { metric: MetricKey; slices: Point[][] }

export type PointBuilder = {
  /** Adds a cell. It is read at once, so the caller may use the object and its `values` again for the next one. */
  add(cell: Cell): void
  /** The points of one slice in order; asked once. Cells that came in that order need no sorting here. */
  slice(index: number): Point[]
}

type SlicePoints = { points: Point[]; isOrdered: boolean }

/**
 * Applies facts 1.3: cells below the floor become `XX`, or vanish when the question filters by country (else a filter
 * would show what the floor hides); then dimensions that were only filtered by are dropped and equal cells merged.
 * Cells that count nothing make no point.
 */
export function pointBuilder(request: MetricRequest): PointBuilder {
  const { countryFloor, value } = metricOf(request.metric)
  const dimensions = dimensionsOf(request)
  const kept = dimensions.map((field) => request.bucketBy.includes(field))
  const country = countryFloor > 0 ? dimensions.indexOf('country') : -1
  const isCountryFiltered = Object.hasOwn(request.filterBy, 'country')
  const compare = pointOrder(request)
  const slices = new Map<number, SlicePoints>()

  // There can be a quarter of a million cells: nothing is made of one but its point.
  function add({ slice, source, values, amount }: Cell): void {
    if (amount === 0) return
    const isBelow = country >= 0 && amount < countryFloor && values[country] !== HIDDEN_COUNTRY
    if (isBelow && isCountryFiltered) return
    const point = sourcePoint(request, source)
    for (let i = 0; i < dimensions.length; i += 1) {
      const field = dimensions[i]
      const bucket = isBelow && i === country ? HIDDEN_COUNTRY : values[i]
      // A bucket without a value is left out: an unknown domain is a point without `domain` (facts 1.1.3).
      if (kept[i] === true && field !== undefined && bucket !== undefined && bucket !== '') point[field] = bucket
    }
    point[value] = amount
    push(slice, point)
  }

  function push(slice: number, point: Point): void {
    const found = slices.get(slice)
    const last = found?.points.at(-1)
    if (found === undefined || last === undefined) {
      slices.set(slice, { points: [point], isOrdered: true })
      return
    }
    if (found.isOrdered && compare(last, point) >= 0) found.isOrdered = false
    found.points.push(point)
  }

  function slice(index: number): Point[] {
    const { points, isOrdered } = slices.get(index) ?? { points: [], isOrdered: true }
    return isOrdered ? points : mergedNeighbours(points.sort(compare), compare, value)
  }

  return { add, slice }
}

/** All points of one metric at once. */
export function buildSlices(request: MetricRequest, sliceCount: number, cells: Iterable<Cell>): MetricSlices {
  const builder = pointBuilder(request)
  for (const cell of cells) builder.add(cell)
  return { metric: request.metric, slices: Array.from({ length: sliceCount }, (_, i) => builder.slice(i)) }
}

/**
 * A metric counted from database records: at most one amount for each slice and source, zero ones left out by the
 * caller. Amounts are decimal texts (revenue) or counts (conversions).
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

/** The answer: slice by slice, the points of all metrics in the order of the specification. */
export function joinSlices(parts: readonly MetricSlices[], sliceCount: number): Point[][] {
  const ordered = METRIC_KEYS.flatMap((metric) => parts.filter((part) => part.metric === metric))
  return Array.from({ length: sliceCount }, (_, i) => ordered.flatMap((part) => part.slices[i] ?? []))
}

const SOURCE_KEYS = { project_id: 'source_project', affiliate_code_id: 'source_affiliate_code' } as const

/** A point with what all points of a source begin with. */
function sourcePoint({ metric, bucketBy }: MetricRequest, id: string): Point {
  const { kind, source } = metricOf(metric)
  const point: Point = { [SOURCE_KEYS[source]]: id, metric_kind: kind }
  if (bucketBy.includes(source)) point[source] = id
  return point
}

/** Adds up neighbours that are the same but for their amount. */
function mergedNeighbours(sorted: readonly Point[], compare: Compare, value: string): Point[] {
  const merged: Point[] = []
  for (const point of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && compare(last, point) === 0) last[value] = Number(last[value]) + Number(point[value])
    else merged.push(point)
  }
  return merged
}

type Compare = (a: Point, b: Point) => number

/** By source, then by the bucket fields in their order; a bucket without a value comes first. */
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
