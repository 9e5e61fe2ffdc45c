// From counted cells to the points of an answer: the country floor, the merging and the order, in one place for every
// adapter and for the metrics that come from the database, so that none can disagree with another.
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
  add(cell: Cell): void
  /** The points of one slice in order, made one by one, so that a caller can pause between them. */
  slice(index: number): Iterable<Point>
}

/** A point to be; `values` are those of the dimensions that are kept. */
type Group = Pick<Cell, 'source' | 'values' | 'amount'>

/**
 * Applies facts 1.3: cells below the floor become `XX`, or vanish when the question filters by country (else a filter
 * would show what the floor hides); then dimensions that were only filtered by are dropped and equal cells merged.
 * Cells that count nothing make no point.
 */
export function pointBuilder(request: MetricRequest): PointBuilder {
  const { countryFloor } = metricOf(request.metric)
  const dimensions = dimensionsOf(request)
  const kept = dimensions.flatMap((field, i) => (request.bucketBy.includes(field) ? [i] : []))
  const fields = kept.map((i) => dimensions[i] ?? '')
  const country = countryFloor > 0 ? dimensions.indexOf('country') : -1
  const isCountryFiltered = Object.hasOwn(request.filterBy, 'country')
  const slices = new Map<number, Group[]>()

  function add(cell: Cell): void {
    if (cell.amount === 0) return
    const isBelow = country >= 0 && cell.amount < countryFloor && cell.values[country] !== HIDDEN_COUNTRY
    if (isBelow && isCountryFiltered) return
    // Most cells pass unchanged; there can be a quarter of a million of them.
    const group = isBelow || kept.length < dimensions.length ? changedGroup(cell, isBelow) : cell
    const groups = slices.get(cell.slice)
    if (groups === undefined) slices.set(cell.slice, [group])
    else groups.push(group)
  }

  function changedGroup({ source, values, amount }: Cell, isBelow: boolean): Group {
    return { source, values: kept.map((i) => (isBelow && i === country ? HIDDEN_COUNTRY : (values[i] ?? ''))), amount }
  }

  function* slice(index: number): Iterable<Point> {
    for (const { source, values, amount } of mergedNeighbours((slices.get(index) ?? []).toSorted(compareGroups))) {
      yield toPoint(request, { source, fields, values }, amount)
    }
  }

  return { add, slice }
}

/** All points of one metric at once. */
export function buildSlices(request: MetricRequest, sliceCount: number, cells: Iterable<Cell>): MetricSlices {
  const builder = pointBuilder(request)
  for (const cell of cells) builder.add(cell)
  return { metric: request.metric, slices: Array.from({ length: sliceCount }, (_, i) => [...builder.slice(i)]) }
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
  for (const row of [...rows].sort((a, b) => compareValues(a.source, b.source))) {
    slices[row.slice]?.push(toPoint(request, { source: row.source, fields: [], values: [] }, row.amount))
  }
  return { metric: request.metric, slices }
}

/** The answer: slice by slice, the points of all metrics in the order of the specification. */
export function joinSlices(parts: readonly MetricSlices[], sliceCount: number): Point[][] {
  const ordered = METRIC_KEYS.flatMap((metric) => parts.filter((part) => part.metric === metric))
  return Array.from({ length: sliceCount }, (_, i) => ordered.flatMap((part) => part.slices[i] ?? []))
}

function toPoint(
  request: MetricRequest,
  group: { source: string; fields: readonly string[]; values: readonly (string | boolean)[] },
  amount: number | string,
): Point {
  const { kind, value, source } = metricOf(request.metric)
  const sourceKey = source === 'project_id' ? 'source_project' : 'source_affiliate_code'
  const point: Point = { [sourceKey]: group.source, metric_kind: kind }
  if (request.bucketBy.includes(source)) point[source] = group.source
  for (let i = 0; i < group.fields.length; i += 1) {
    // A bucket without a value is left out: an unknown domain is a point without `domain` (facts 1.1.3).
    const field = group.fields[i]
    const bucket = group.values[i]
    if (field !== undefined && bucket !== undefined && bucket !== '') point[field] = bucket
  }
  point[value] = amount
  return point
}

/** Adds up neighbours that are the same but for their amount. */
function* mergedNeighbours(sorted: readonly Group[]): Iterable<Group> {
  let last: Group | undefined
  for (const group of sorted) {
    if (last !== undefined && compareGroups(last, group) === 0) {
      last = { ...last, amount: last.amount + group.amount }
      continue
    }
    if (last !== undefined) yield last
    last = group
  }
  if (last !== undefined) yield last
}

function compareGroups(a: Group, b: Group): number {
  const order = compareValues(a.source, b.source)
  if (order !== 0) return order
  for (let i = 0; i < a.values.length; i += 1) {
    const next = compareValues(a.values[i] ?? '', b.values[i] ?? '')
    if (next !== 0) return next
  }
  return 0
}

/** By UTF-16 code units, whatever the locale; false before true. */
function compareValues(a: string | boolean, b: string | boolean): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
