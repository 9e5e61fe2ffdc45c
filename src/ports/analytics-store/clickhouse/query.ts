// Reads events. Runs one SQL statement per metric, which counts by slice, source and dimensions, and passes the cells to points.ts. Values
// of callers are parameters.
import { APPEND_EVENTS_MAX, CELLS_MAX, type SourcedMetric, tooManyCells } from '../analytics-store.ts'
import { columnsOf, type EventKind, TABLES } from '../events.ts'
import {
  COUNTRY_FLOOR,
  dimensionsOf,
  eventKindOf,
  mergesCountries,
  metricOf,
  sortedDimensions,
  sourcesOf,
} from '../metrics.ts'
import { HIDDEN_COUNTRY, type MetricSlices, pointBuilder } from '../points.ts'
import type { SliceGrid } from '../slices.ts'
import type { ClickHouse, Statement } from './connection.ts'

/** @throws ApiError `invalid_input` if the metric has more than CELLS_MAX cells. */
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
    await connection.read<CellRow>({ ...statement, ...options }, (rows) => {
      cells += rows.length
      if (cells > CELLS_MAX) throw tooManyCells(request.metric)
      for (const [slice, source, amount, ...values] of rows) builder.add({ slice, source, amount, values })
    })
  }
  return builder.finish(grid.count)
}

type CellRow = [slice: number, source: string, amount: number, ...dimensions: (string | boolean)[]]

/** Returns a statement with the columns of `CellRow`, sorted as the points are. */
function cellsStatement(grid: SliceGrid, request: SourcedMetric, sources: readonly string[]): Statement {
  const metric = metricOf(request.metric)
  const kind = eventKindOf(request.metric)
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
    .map(([field, values]) => {
      params[`only_${field}`] = values
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
  const sql = `
    SELECT slice, source, amount ${columns} FROM (${withEarlyFloor(cells, request, dimensions)} LIMIT ${CELLS_MAX + 1})
    ORDER BY slice, source ${sortedDimensions(request)
      .map((field) => `, ${field}`)
      .join('')}`
  return { sql, params }
}

/**
 * Merges the cells below the country floor in the database, because a year of days and countries could be millions of
 * rows. points.ts applies the same rule again, without effect.
 */
function withEarlyFloor(cells: string, request: SourcedMetric, dimensions: readonly string[]): string {
  if (!mergesCountries(request)) return cells
  const columns = dimensions.map((field) => `, ${field === 'country' ? 'shown' : field}`).join('')
  return `
    SELECT slice, source, sum(counted) AS amount ${columns.replace('shown', 'shown AS country')} FROM (
      SELECT * EXCEPT (amount, country), amount AS counted,
        if(amount < ${COUNTRY_FLOOR}, '${HIDDEN_COUNTRY}', toString(country)) AS shown
      FROM (${cells}))
    GROUP BY slice, source ${columns}`
}

/** Reads all events of a kind, one monthly partition at a time. Merges during a statement do not affect the parts that it reads. */
export async function readEvents(
  connection: ClickHouse,
  kind: EventKind,
  onLines: (lines: string[]) => Promise<void>,
): Promise<void> {
  const columns = columnsOf(kind)
  const selected = columns.map(([name, type]) => (type === 'time' ? `toUnixTimestamp64Milli(${name})` : name))
  const months = await connection.all({
    sql: `SELECT DISTINCT toYYYYMM(recorded_at) AS month FROM ${TABLES[kind]} ORDER BY month`,
  })
  for (const [month] of months) {
    const statement = {
      sql: `SELECT ${selected.join(', ')} FROM ${TABLES[kind]} WHERE toYYYYMM(recorded_at) = {month:UInt32}`,
      params: { month },
      // No time limit, because `onLines` can be slow.
      settings: { max_execution_time: 0 },
    }
    await connection.read(statement, async (rows) => {
      for (let from = 0; from < rows.length; from += APPEND_EVENTS_MAX)
        await onLines(rows.slice(from, from + APPEND_EVENTS_MAX).map((row) => JSON.stringify(row)))
    })
  }
}
