// One SQL statement for each metric: counted by slice, source and dimensions, read in chunks into the shared rules of
// points.ts, with a pause for the event loop between chunks.
import { setImmediate } from 'node:timers/promises'
import {
  type DuckDBConnection,
  type DuckDBMaterializedResult,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api'
import {
  CELLS_MAX,
  type DownloadCounts,
  type DownloadRange,
  LISTED_BATCHES_MAX,
  type ListedBatch,
  type SourcedMetric,
  tooManyCells,
  type VersionDownloads,
} from '../analytics-store.ts'
import { columnsOf, type EventKind } from '../events.ts'
import { dimensionsOf, metricOf, sourcesOf } from '../metrics.ts'
import { HIDDEN_COUNTRY, type MetricSlices, pointBuilder } from '../points.ts'
import type { SliceGrid } from '../slices.ts'
import { TABLES } from './schema.ts'
import { findTermKeys, TERM_COLUMNS, termTable } from './terms.ts'

/**
 * DuckDB counts one metric after another (two at once on two cores took half as long again), and counts the next one
 * while this thread makes the points of the last.
 * @throws ApiError `invalid_input` when a metric has more than CELLS_MAX cells.
 */
export async function queryMetrics(
  connection: DuckDBConnection,
  grid: SliceGrid,
  metrics: readonly SourcedMetric[],
): Promise<MetricSlices[]> {
  const keys = await keysOfSources(connection, metrics)
  const parts: Promise<MetricSlices>[] = []
  try {
    for (const request of metrics) {
      const sources = knownSources(request, keys)
      const cells = sources.keys.length === 0 ? undefined : await countCells(connection, grid, request, sources)
      const part = makePoints(request, grid, { sources, cells })
      // An error is thrown below; until then it is nobody's.
      part.catch(() => undefined)
      parts.push(part)
    }
    return await Promise.all(parts)
  } finally {
    // What was counted is read to its end before the connection is another's, or closed.
    await Promise.allSettled(parts)
  }
}

/** Keys of sources by their names, for each column that names a metric's source. */
type SourceKeys = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The keys of all that a question's metrics name: looked up once, not for each metric. */
async function keysOfSources(connection: DuckDBConnection, metrics: readonly SourcedMetric[]): Promise<SourceKeys> {
  const named = new Map<string, Set<string>>()
  for (const { metric, sources } of metrics) {
    const { source } = metricOf(metric)
    named.set(source, (named.get(source) ?? new Set()).union(new Set(sources)))
  }
  const keys = new Map<string, ReadonlyMap<string, number>>()
  for (const [source, names] of named) keys.set(source, await findTermKeys(connection, source, names))
  return keys
}

/** The sources that exist, in the order of their names, which is the order of an answer. */
type KnownSources = { names: readonly string[]; keys: readonly number[] }

function knownSources(request: SourcedMetric, keys: SourceKeys): KnownSources {
  const known = keys.get(metricOf(request.metric).source)
  const names = sourcesOf(request, request.sources)
    .filter((id) => known?.has(id))
    .sort()
  return { names, keys: names.map((id) => known?.get(id) ?? 0) }
}

/** The counted cells, held by DuckDB until they are read. */
async function countCells(
  connection: DuckDBConnection,
  grid: SliceGrid,
  request: SourcedMetric,
  sources: KnownSources,
): Promise<DuckDBMaterializedResult> {
  const { sql, values } = cellsSql(grid, request, sources.keys, await filterKeys(connection, request))
  const cells = await connection.run(sql, values)
  if (cells.rowCount > CELLS_MAX) throw tooManyCells(request.metric)
  return cells
}

async function makePoints(
  request: SourcedMetric,
  grid: SliceGrid,
  { sources, cells }: { sources: KnownSources; cells: DuckDBMaterializedResult | undefined },
): Promise<MetricSlices> {
  const builder = pointBuilder(request)
  if (cells !== undefined) {
    const cell = { slice: 0, source: '', values: dimensionsOf(request).map((): string | boolean => ''), amount: 0 }
    for await (const [slices = [], ranks = [], amounts = [], ...dimensions] of chunksOf(cells)) {
      for (let i = 0; i < slices.length; i += 1) {
        cell.slice = slices[i] as number
        cell.source = sources.names[ranks[i] as number] ?? ''
        cell.amount = amounts[i] as number
        for (let d = 0; d < dimensions.length; d += 1) cell.values[d] = dimensions[d]?.[i] as string | boolean
        builder.add(cell)
      }
    }
  }
  return { metric: request.metric, slices: Array.from({ length: grid.count }, (_, i) => builder.slice(i)) }
}

/** Downloads by project and version, in order of their IDs (byte order). */
export async function countDownloads(connection: DuckDBConnection, range: DownloadRange): Promise<DownloadCounts> {
  const conditions: string[] = []
  if (range.storedBefore !== undefined) {
    // Numbers and instants grow together; rows whose batch is no longer remembered are older than all that are.
    const first = await connection.run(
      `SELECT min(sequence)::DOUBLE FROM batches WHERE kind = 'download' AND stored_at >= ${integer(range.storedBefore)}`,
    )
    const limit = (await first.getRows())[0]?.[0]
    const also = await sequencesOf(connection, range.alsoBatches ?? [])
    if (typeof limit === 'number') {
      conditions.push(`(sequence < ${integer(limit)} OR sequence IN ${integerSet([...also.keys()])})`)
    }
  }
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
  for await (const [projects = [], versions = [], amounts = []] of chunksOf(await connection.run(sql))) {
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

/** Batches of downloads with `from <= stored_at < to`, oldest first. */
export async function listBatches(
  connection: DuckDBConnection,
  { from, to }: { from: number; to?: number },
): Promise<ListedBatch[]> {
  const upTo = to === undefined ? '' : `AND stored_at < ${integer(to)}`
  const found = await connection.run(
    `SELECT id, stored_at::DOUBLE FROM batches WHERE kind = 'download' AND stored_at >= ${integer(from)} ${upTo}
      ORDER BY stored_at LIMIT ${LISTED_BATCHES_MAX}`,
  )
  return ((await found.getRows()) as [string, number][]).map(([id, storedAt]) => ({ id, storedAt }))
}

/** Counts by version of these batches of downloads, of those that are stored. */
export async function readBatches(
  connection: DuckDBConnection,
  ids: readonly string[],
): Promise<Map<string, VersionDownloads[]>> {
  const batches = await sequencesOf(connection, ids)
  const sql = `
    SELECT sequence::DOUBLE, p.text, v.text, n FROM
      (SELECT sequence, project_id, version_id, count(*)::DOUBLE AS n FROM downloads
        WHERE sequence IN ${integerSet([...batches.keys()])} GROUP BY ALL)
      JOIN ${termTable('project_id')} p ON p.key = project_id
      JOIN ${termTable('version_id')} v ON v.key = version_id
    ORDER BY 1, 2, 3`
  const found = new Map<string, VersionDownloads[]>([...batches.values()].map((id) => [id, []]))
  for await (const [sequences = [], projects = [], versions = [], amounts = []] of chunksOf(
    await connection.run(sql),
  )) {
    for (const [i, sequence] of sequences.entries()) {
      found.get(batches.get(sequence as number) ?? '')?.push({
        project_id: projects[i] as string,
        version_id: versions[i] as string,
        downloads: amounts[i] as number,
      })
    }
  }
  return found
}

/** The IDs of batches of downloads by their numbers, of those that are stored. */
async function sequencesOf(connection: DuckDBConnection, ids: readonly string[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const found = await connection.run(
    `SELECT sequence::DOUBLE, id FROM batches WHERE kind = 'download' AND id IN (SELECT unnest($1))`,
    [listValue(ids)],
    [LIST(VARCHAR)],
  )
  return new Map((await found.getRows()) as [number, string][])
}

/**
 * Columns: slice, rank of the source in `sources`, amount, then the dimensions in their order. Rows come sorted as
 * points.ts sorts them, by what the points keep before what is only filtered by, so that nothing is left to sort on the
 * event loop. Numbers are written into the text, all of them being integers of ours; texts of the caller are bound.
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
  const columnOf = (field: string) => (terms.includes(field) ? `, ${field}_t.text` : `, ${field}`)
  const isKept = (field: string) => request.bucketBy.includes(field)
  const inOrder = [...dimensions.filter(isKept), ...dimensions.filter((field) => !isKept(field))]
  const sql = `
    SELECT slice, rank::INTEGER, amount ${dimensions.map(columnOf).join('')}
    FROM (${withEarlyFloor(cells, request, dimensions)} LIMIT ${CELLS_MAX + 1})
    ${terms.map((field) => `JOIN ${termTable(field)} ${field}_t ON ${field}_t.key = ${field}`).join(' ')}
    ORDER BY slice, rank ${inOrder.map(columnOf).join('')}`
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

/** The columns of a result, 2048 rows at a time, with a pause for requests in between. */
async function* chunksOf(result: DuckDBMaterializedResult) {
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk.getColumns()
    await setImmediate()
  }
}

function integerSet(numbers: readonly number[]): string {
  return numbers.length === 0 ? '(NULL)' : `(${numbers.map(integer).join(',')})`
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError('Not an integer')
  return String(value)
}
