// One SQL statement for each metric: counted by slice, source and dimensions, read as it arrives into the shared rules
// of points.ts. What callers say goes in as parameters.
import { CELLS_MAX, type SourcedMetric, tooManyCells } from '../analytics-store.ts'
import { columnsOf, type EventKind } from '../events.ts'
import { dimensionsOf, metricOf, sourcesOf } from '../metrics.ts'
import { HIDDEN_COUNTRY, type MetricSlices, pointBuilder } from '../points.ts'
import type { SliceGrid } from '../slices.ts'
import type { ClickHouse, Statement } from './connection.ts'
import { TABLES } from './schema.ts'

/** @throws ApiError `invalid_input` when the metric has more than CELLS_MAX cells. */
export async function queryMetric(
  connection: ClickHouse,
  grid: SliceGrid,
  request: SourcedMetric,
  options: Pick<Statement, 'signal' | 'caller'>,
): Promise<MetricSlices> {
  const builder = pointBuilder(request)
  const sources = sourcesOf(request, request.sources)
  if (sources.length > 0) {
    const statement = cellsStatement(grid, request, sources)
    let cells = 0
    await connection.read({ ...statement, ...options }, (rows) => {
      cells += rows.length
      if (cells > CELLS_MAX) throw tooManyCells(request.metric)
      for (const [slice, source, amount, ...values] of rows) {
        builder.add({
          slice: slice as number,
          source: source as string,
          amount: amount as number,
          values: values as (string | boolean)[],
        })
      }
    })
  }
  return { metric: request.metric, slices: Array.from({ length: grid.count }, (_, i) => builder.slice(i)) }
}

/** Columns: slice, source, amount, then the dimensions in their order. */
function cellsStatement(grid: SliceGrid, request: SourcedMetric, sources: readonly string[]): Statement {
  const metric = metricOf(request.metric)
  const kind = metric.from as EventKind
  const types = new Map(columnsOf(kind))
  const dimensions = dimensionsOf(request)
  const params: Record<string, unknown> = {
    sources,
    start: grid.startMs,
    end: grid.endMs,
    parts: grid.parts,
    width: grid.widthMs,
  }
  const filters = Object.entries(request.filterBy)
    .filter(([field]) => field !== metric.source)
    .map(([field, wanted]) => {
      params[`only_${field}`] = wanted
      return `AND ${field} IN {only_${field}:Array(${types.get(field) === 'flag' ? 'Bool' : 'String'})}`
    })
  const columns = dimensions.map((field) => `, ${field}`).join('')
  const cells = `
    SELECT toInt32(intDiv((toUnixTimestamp64Milli(recorded_at) - {start:Int64}) * {parts:Int64}, {width:Int64})) AS slice,
      ${metric.source} AS source, ${metric.sum === undefined ? 'count()' : `sum(${metric.sum})`} AS amount ${columns}
    FROM ${TABLES[kind]}
    WHERE ${metric.source} IN {sources:Array(String)}
      AND recorded_at >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
      AND recorded_at < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
      ${filters.join(' ')}
    GROUP BY slice, source ${columns}`
  const isKept = (field: string) => request.bucketBy.includes(field)
  const inOrder = [...dimensions.filter(isKept), ...dimensions.filter((field) => !isKept(field))]
  const sql = `
    SELECT slice, source, amount ${columns} FROM (${withEarlyFloor(cells, request, dimensions)} LIMIT ${CELLS_MAX + 1})
    ORDER BY slice, source ${inOrder.map((field) => `, ${field}`).join('')}`
  return { sql, params }
}

/**
 * Merges the cells below the country floor before they leave the database. points.ts applies the same rule again and
 * finds nothing left to do; without this a year of days and countries would be millions of rows to carry over.
 */
function withEarlyFloor(cells: string, request: SourcedMetric, dimensions: readonly string[]): string {
  const { countryFloor } = metricOf(request.metric)
  const isFiltered = Object.hasOwn(request.filterBy, 'country')
  if (countryFloor === 0 || isFiltered || !dimensions.includes('country')) return cells
  const columns = dimensions.map((field) => `, ${field === 'country' ? 'shown' : field}`).join('')
  return `
    SELECT slice, source, sum(counted) AS amount ${columns.replace('shown', 'shown AS country')} FROM (
      SELECT * EXCEPT (amount, country), amount AS counted,
        if(amount < ${countryFloor}, '${HIDDEN_COUNTRY}', toString(country)) AS shown
      FROM (${cells}))
    GROUP BY slice, source ${columns}`
}
