// One SQL statement for each metric: counted by slice, source and dimensions, read in chunks into the shared rules of
// points.ts, with a pause for the event loop between chunks.
import { setImmediate } from 'node:timers/promises'
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { invalidInput } from '#lib/errors.ts'
import { CELLS_MAX, type DownloadCounts, type SourcedMetric } from './analytics-store.ts'
import { TABLES } from './duckdb-schema.ts'
import { findTermKeys, TERM_COLUMNS, termTable } from './duckdb-terms.ts'
import { columnsOf, type EventKind } from './events.ts'
import { dimensionsOf, metricOf, sourcesOf } from './metrics.ts'
import { HIDDEN_COUNTRY, type MetricSlices, type Point, pointBuilder } from './points.ts'
import type { SliceGrid } from './slices.ts'

/** Points made without a pause. */
const POINTS_AT_ONCE = 2048

/**
 * One metric after another: two at once on two cores took half as long again as one after the other.
 * @throws ApiError `invalid_input` when a metric has more than CELLS_MAX cells.
 */
export async function queryMetrics(
  connection: DuckDBConnection,
  grid: SliceGrid,
  metrics: readonly SourcedMetric[],
): Promise<MetricSlices[]> {
  const keys = new Map<string, ReadonlyMap<string, number>>()
  const parts: MetricSlices[] = []
  for (const request of metrics) {
    const { source } = metricOf(request.metric)
    const known = keys.get(source) ?? (await sourceKeys(connection, source, metrics))
    keys.set(source, known)
    const sources = sourcesOf(request, request.sources)
      .filter((id) => known.has(id))
      .sort()
    parts.push(
      await queryMetric(connection, grid, request, { names: sources, keys: sources.map((id) => known.get(id) ?? 0) }),
    )
  }
  return parts
}

/** The keys of all that a question's metrics name as this source: looked up once, not for each metric. */
function sourceKeys(connection: DuckDBConnection, source: string, metrics: readonly SourcedMetric[]) {
  const named = metrics.flatMap((request) => (metricOf(request.metric).source === source ? request.sources : []))
  return findTermKeys(connection, source, new Set(named))
}

/** The sources that exist, in the order of their names, which is the order of an answer. */
type KnownSources = { names: readonly string[]; keys: readonly number[] }

async function queryMetric(
  connection: DuckDBConnection,
  grid: SliceGrid,
  request: SourcedMetric,
  sources: KnownSources,
): Promise<MetricSlices> {
  const builder = pointBuilder(request)
  if (sources.keys.length > 0) {
    const { sql, values } = cellsSql(grid, request, sources.keys, await filterKeys(connection, request))
    let rowCount = 0
    for await (const columns of chunksOf(connection, sql, values)) {
      const [slices = [], ranks = [], amounts = [], ...dimensions] = columns
      rowCount += slices.length
      if (rowCount > CELLS_MAX) throw tooManyCells(request)
      for (const [i, slice] of slices.entries()) {
        builder.add({
          slice: slice as number,
          source: sources.names[ranks[i] as number] ?? '',
          values: dimensions.map((column) => column[i] as string | boolean),
          amount: amounts[i] as number,
        })
      }
    }
  }
  return { metric: request.metric, slices: await slicesWithPauses(grid.count, builder.slice) }
}

/** Downloads by project and version, in order of their IDs (byte order). */
export async function countDownloads(
  connection: DuckDBConnection,
  range: { after?: number; upTo?: number; projectIds?: readonly string[] },
): Promise<DownloadCounts> {
  const conditions: string[] = []
  if (range.after !== undefined) conditions.push(`sequence > ${integer(range.after)}`)
  if (range.upTo !== undefined) conditions.push(`sequence <= ${integer(range.upTo)}`)
  if (range.projectIds !== undefined) {
    const keys = [...(await findTermKeys(connection, 'project_id', range.projectIds)).values()]
    conditions.push(`project_id IN ${integerSet(keys)}`)
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const sql = `
    SELECT p.text, v.text, n FROM
      (SELECT project_id, version_id, count(*)::DOUBLE AS n FROM downloads ${where} GROUP BY ALL)
      JOIN ${termTable('project_id')} p ON p.key = project_id
      JOIN ${termTable('version_id')} v ON v.key = version_id
    ORDER BY 1, 2`
  const counts: DownloadCounts = { projects: [], versions: [] }
  for await (const [projects = [], versions = [], amounts = []] of chunksOf(connection, sql, [])) {
    for (const [i, project] of projects.entries()) {
      const project_id = project as string
      const downloads = amounts[i] as number
      const last = counts.projects.at(-1)
      if (last?.project_id === project_id) last.downloads += downloads
      else counts.projects.push({ project_id, downloads })
      counts.versions.push({ project_id, version_id: versions[i] as string, downloads })
    }
  }
  return counts
}

/**
 * Columns: slice, rank of the source in `sources`, amount, then the dimensions in their order. Rows come sorted as
 * points.ts sorts them, whose sort then finds nothing left to do on the event loop. Numbers are written into the text,
 * all of them being integers of ours; texts of the caller are bound.
 */
function cellsSql(
  grid: SliceGrid,
  request: SourcedMetric,
  sources: readonly number[],
  termFilters: ReadonlyMap<string, readonly number[]>,
) {
  const metric = metricOf(request.metric)
  const kind = metric.from as EventKind
  const types = new Map(columnsOf(kind))
  const dimensions = dimensionsOf(request)
  const values: DuckDBValue[] = []
  const bind = (value: DuckDBValue) => `$${values.push(value)}`
  const filters = Object.entries(request.filterBy)
    .filter(([field]) => field !== metric.source)
    .map(([field, wanted]) => {
      const keys = termFilters.get(field)
      return `e.${field} IN ${keys === undefined ? `(${wanted.map(bind).join(', ')})` : integerSet(keys)}`
    })
  // An amount is a DOUBLE because that arrives as a number: exact up to 2^53.
  const cells = `
    SELECT (((e.recorded_at - ${integer(grid.startMs)}) * ${integer(grid.parts)}) // ${integer(grid.widthMs)})::INTEGER
        AS slice,
      s.rank, ${metric.sum === undefined ? 'count(*)' : `sum(e.${metric.sum})`}::DOUBLE AS amount
      ${dimensions.map((field) => `, e.${field}`).join('')}
    FROM ${TABLES[kind]} e
      JOIN (SELECT unnest([${sources.map(integer).join(',')}])::UINTEGER AS key, unnest(range(${sources.length})) AS rank) s
      ON s.key = e.${metric.source}
    WHERE e.recorded_at >= ${integer(grid.startMs)} AND e.recorded_at < ${integer(grid.endMs)}
      ${filters.map((filter) => `AND ${filter}`).join(' ')}
    GROUP BY ALL`
  const terms = dimensions.filter((field) => types.get(field) === 'term')
  const columns = dimensions.map((field) => (terms.includes(field) ? `, ${field}_t.text` : `, ${field}`)).join('')
  const sql = `
    SELECT slice, rank::INTEGER, amount ${columns}
    FROM (${withEarlyFloor(cells, request, dimensions)} LIMIT ${CELLS_MAX + 1})
    ${terms.map((field) => `JOIN ${termTable(field)} ${field}_t ON ${field}_t.key = ${field}`).join(' ')}
    ORDER BY slice, rank ${columns}`
  return { sql, values }
}

/**
 * Merges the cells below the country floor before they leave the database. points.ts applies the same rule again and
 * finds nothing left to do; without this a year of days and countries would be millions of rows to carry over.
 */
function withEarlyFloor(cells: string, request: SourcedMetric, dimensions: readonly string[]): string {
  const { countryFloor } = metricOf(request.metric)
  const isFiltered = Object.hasOwn(request.filterBy, 'country')
  if (countryFloor === 0 || isFiltered || !dimensions.includes('country')) return cells
  const others = dimensions.filter((field) => field !== 'country')
  return `
    SELECT slice, rank, sum(amount) AS amount ${others.map((field) => `, ${field}`).join('')},
      CASE WHEN amount < ${countryFloor} THEN '${HIDDEN_COUNTRY}' ELSE country END AS country
    FROM (${cells}) GROUP BY ALL`
}

/** The keys of the values that are filtered by, for the columns that hold keys. */
async function filterKeys(connection: DuckDBConnection, request: SourcedMetric): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>()
  for (const [field, values] of Object.entries(request.filterBy)) {
    if (!TERM_COLUMNS.includes(field)) continue
    const keys = await findTermKeys(connection, field, values.map(String))
    found.set(field, [...keys.values()])
  }
  return found
}

async function* chunksOf(connection: DuckDBConnection, sql: string, values: DuckDBValue[]) {
  const result = await connection.run(sql, values)
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk.getColumns()
    await setImmediate()
  }
}

async function slicesWithPauses(count: number, slice: (index: number) => Iterable<Point>): Promise<Point[][]> {
  const slices: Point[][] = []
  let made = 0
  for (let i = 0; i < count; i += 1) {
    const points: Point[] = []
    for (const point of slice(i)) {
      points.push(point)
      made += 1
      if (made % POINTS_AT_ONCE === 0) await setImmediate()
    }
    slices.push(points)
  }
  return slices
}

function tooManyCells(request: SourcedMetric) {
  const field = `return_metrics.${request.metric}`
  return invalidInput(
    `The answer for ${request.metric} would have more than ${CELLS_MAX} points; ask for fewer buckets, projects or slices`,
    field,
  )
}

function integerSet(numbers: readonly number[]): string {
  return numbers.length === 0 ? '(NULL)' : `(${numbers.map(integer).join(',')})`
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError('Not an integer')
  return String(value)
}
