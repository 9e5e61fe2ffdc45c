// Reads events and batches. Runs one SQL statement per metric, which counts by slice, source and dimensions, and passes the cells to points.ts in
// chunks. The event loop can serve requests between chunks.
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
import { addDownloads } from '../download-counts.ts'
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
import { findTermKeys, TERM_COLUMNS, termTable } from './terms.ts'

/**
 * Queries one metric after another, because two concurrent queries on two cores take 50 % longer. DuckDB counts a metric
 * while this thread builds the points of the previous one.
 * @throws ApiError `invalid_input` if a metric has more than CELLS_MAX cells.
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
      const sources = existingSources(request, keys)
      const cells = sources.keys.length === 0 ? undefined : await countCells(connection, grid, request, sources)
      const part = buildPoints(request, grid, { sources, cells })
      // Awaited below; until then an error must not count as unhandled.
      part.catch(() => undefined)
      parts.push(part)
    }
    return await Promise.all(parts)
  } finally {
    // The results must be read before another query uses the connection, or before it is closed.
    await Promise.allSettled(parts)
  }
}

/** Keys of sources by their IDs, for each source column. */
type SourceKeys = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Finds the keys of the sources of all metrics together. */
async function keysOfSources(connection: DuckDBConnection, metrics: readonly SourcedMetric[]): Promise<SourceKeys> {
  const idsOf = new Map<string, Set<string>>()
  for (const { metric, sources } of metrics) {
    const { source } = metricOf(metric)
    idsOf.set(source, (idsOf.get(source) ?? new Set()).union(new Set(sources)))
  }
  const keys = new Map<string, ReadonlyMap<string, number>>()
  for (const [source, ids] of idsOf) keys.set(source, await findTermKeys(connection, source, ids))
  return keys
}

/** The sources that exist, in the order of their IDs, which is the order of the points. */
type ExistingSources = { ids: readonly string[]; keys: readonly number[] }

function existingSources(request: SourcedMetric, keys: SourceKeys): ExistingSources {
  const keyOf = keys.get(metricOf(request.metric).source)
  const ids = sourcesOf(request, request.sources)
    .filter((id) => keyOf?.has(id))
    .sort()
  return { ids, keys: ids.map((id) => keyOf?.get(id) ?? 0) }
}

/** Counts the cells, which stay in DuckDB until they are read. */
async function countCells(
  connection: DuckDBConnection,
  grid: SliceGrid,
  request: SourcedMetric,
  sources: ExistingSources,
): Promise<DuckDBMaterializedResult> {
  const { sql, values } = cellsSql(grid, request, sources.keys, await filterKeys(connection, request))
  const cells = await connection.run(sql, values)
  if (cells.rowCount > CELLS_MAX) throw tooManyCells(request.metric)
  return cells
}

async function buildPoints(
  request: SourcedMetric,
  grid: SliceGrid,
  { sources, cells }: { sources: ExistingSources; cells: DuckDBMaterializedResult | undefined },
): Promise<MetricSlices> {
  const builder = pointBuilder(request)
  if (cells !== undefined) {
    const cell = { slice: 0, source: '', values: dimensionsOf(request).map((): string | boolean => ''), amount: 0 }
    for await (const [slices, ranks, amounts, ...dimensions] of chunksOf<CellColumns>(cells)) {
      for (let i = 0; i < slices.length; i += 1) {
        cell.slice = slices[i] ?? 0
        cell.source = sources.ids[ranks[i] ?? -1] ?? ''
        cell.amount = amounts[i] ?? 0
        for (let d = 0; d < dimensions.length; d += 1) cell.values[d] = dimensions[d]?.[i] ?? ''
        builder.add(cell)
      }
    }
  }
  return builder.finish(grid.count)
}

type CellColumns = [slices: number[], ranks: number[], amounts: number[], ...dimensions: (string | boolean)[][]]

/** Counts downloads by project and version, in byte order of their IDs. */
export async function countDownloads(connection: DuckDBConnection, range: DownloadRange): Promise<DownloadCounts> {
  const conditions: string[] = []
  if (range.storedBefore !== undefined) {
    // Sequences and times increase together. Rows whose batch has expired are older than all others. Without a later batch,
    // the newest sequence is the limit, because a batch can arrive before the next statement.
    const first = await connection.run(
      `SELECT coalesce(min(sequence) FILTER (WHERE stored_at >= ${integer(range.storedBefore)}), max(sequence) + 1,
        (SELECT max(sequence) + 1 FROM downloads), 0)::DOUBLE FROM batches WHERE kind = 'download'`,
    )
    const limit = Number((await first.getRows())[0]?.[0])
    const also = await sequencesOf(connection, range.alsoBatches ?? [])
    conditions.push(`(sequence < ${integer(limit)} OR sequence IN ${integerSet([...also.keys()])})`)
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
  const chunks = chunksOf<[projects: string[], versions: string[], amounts: number[]]>(await connection.run(sql))
  for await (const [projects, versions, amounts] of chunks) {
    for (const [i, project_id] of projects.entries())
      addDownloads(counts, { project_id, version_id: versions[i] ?? '', downloads: amounts[i] ?? 0 })
  }
  return counts
}

export async function listBatches(connection: DuckDBConnection, { from }: { from: number }): Promise<ListedBatch[]> {
  const result = await connection.run(
    `SELECT id, stored_at::DOUBLE FROM batches WHERE kind = 'download' AND stored_at >= ${integer(from)}
      ORDER BY stored_at LIMIT ${LISTED_BATCHES_MAX}`,
  )
  return ((await result.getRows()) as [string, number][]).map(([id, storedAt]) => ({ id, storedAt }))
}

/** Counts the downloads of each stored batch by version. */
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
  const counts = new Map<string, VersionDownloads[]>([...batches.values()].map((id) => [id, []]))
  const chunks = chunksOf<[sequences: number[], projects: string[], versions: string[], amounts: number[]]>(
    await connection.run(sql),
  )
  for await (const [sequences, projects, versions, amounts] of chunks) {
    for (const [i, sequence] of sequences.entries()) {
      const [project_id = '', version_id = '', downloads = 0] = [projects[i], versions[i], amounts[i]]
      counts.get(batches.get(sequence) ?? '')?.push({ project_id, version_id, downloads })
    }
  }
  return counts
}

/** Returns the IDs of stored batches of downloads by sequence. */
async function sequencesOf(connection: DuckDBConnection, ids: readonly string[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const result = await connection.run(
    `SELECT sequence::DOUBLE, id FROM batches WHERE kind = 'download' AND id IN (SELECT unnest($1))`,
    [listValue(ids)],
    [LIST(VARCHAR)],
  )
  return new Map((await result.getRows()) as [number, string][])
}

/**
 * Returns a statement with the columns of `CellColumns`; the rank is the index of the source. Rows are sorted as the points
 * are, so that the event loop does not need to sort them. Integers are part of the SQL; values of the caller are bound, and so
 * is the list of sources, as a single text, because DuckDB parses and binds hundreds of numbers slowly.
 */
function cellsSql(
  grid: SliceGrid,
  request: SourcedMetric,
  sources: readonly number[],
  termFilters: ReadonlyMap<string, readonly number[]>,
) {
  const metric = metricOf(request.metric)
  const kind = eventKindOf(request.metric)
  const types = new Map(columnsOf(kind))
  const dimensions = dimensionsOf(request)
  const values: DuckDBValue[] = []
  const bind = (value: DuckDBValue) => `$${values.push(value)}`
  const filters = Object.entries(request.filterBy)
    .filter(([field]) => field !== metric.source)
    .map(([field, allowed]) => {
      const keys = termFilters.get(field)
      return `e.${field} IN ${keys === undefined ? `(${allowed.map(bind).join(', ')})` : integerSet(keys)}`
    })
  // A DOUBLE is returned as a number, which is exact up to 2^53.
  const cells = `
    SELECT (((e.recorded_at - ${integer(grid.startMs)}) * ${integer(grid.parts)}) // ${integer(grid.widthMs)})::INTEGER
        AS slice,
      s.rank, ${metric.sum === undefined ? 'count(*)' : `sum(e.${metric.sum})`}::DOUBLE AS amount
      ${dimensions.map((field) => `, e.${field}`).join('')}
    FROM ${TABLES[kind]} e
      JOIN (SELECT unnest(string_split(${bind(sources.map(integer).join())}, ',')::UINTEGER[]) AS key, unnest(range(${sources.length})) AS rank) s
      ON s.key = e.${metric.source}
    WHERE e.recorded_at >= ${integer(grid.startMs)} AND e.recorded_at < ${integer(grid.endMs)}
      ${filters.map((filter) => `AND ${filter}`).join(' ')}
    GROUP BY ALL`
  const terms = dimensions.filter((field) => types.get(field) === 'term')
  const columnOf = (field: string) => (terms.includes(field) ? `, ${field}_t.text` : `, ${field}`)
  const sql = `
    SELECT slice, rank::INTEGER, amount ${dimensions.map(columnOf).join('')}
    FROM (${withEarlyFloor(cells, request, dimensions)} LIMIT ${CELLS_MAX + 1})
    ${terms.map((field) => `JOIN ${termTable(field)} ${field}_t ON ${field}_t.key = ${field}`).join(' ')}
    ORDER BY slice, rank ${sortedDimensions(request).map(columnOf).join('')}`
  return { sql, values }
}

/**
 * Merges the cells below the country floor in the database, because a year of days and countries could be millions of
 * rows. points.ts applies the same rule again, without effect.
 */
function withEarlyFloor(cells: string, request: SourcedMetric, dimensions: readonly string[]): string {
  if (!mergesCountries(request)) return cells
  const others = dimensions.filter((field) => field !== 'country')
  return `
    SELECT slice, rank, sum(amount) AS amount ${others.map((field) => `, ${field}`).join('')},
      CASE WHEN amount < ${COUNTRY_FLOOR} THEN '${HIDDEN_COUNTRY}' ELSE country END AS country
    FROM (${cells}) GROUP BY ALL`
}

/** Returns the keys of the filter values, for columns that are stored as terms. */
async function filterKeys(connection: DuckDBConnection, request: SourcedMetric): Promise<Map<string, number[]>> {
  const keysOf = new Map<string, number[]>()
  for (const [field, values] of Object.entries(request.filterBy)) {
    if (!TERM_COLUMNS.includes(field)) continue
    const keys = await findTermKeys(connection, field, values.map(String))
    keysOf.set(field, [...keys.values()])
  }
  return keysOf
}

/**
 * Reads all events of a kind as of one moment, one chunk at a time, with texts in place of terms. DuckDB writes the JSON,
 * because creating objects in JavaScript would take five times as long and much memory.
 */
export async function readEvents(
  connection: DuckDBConnection,
  kind: EventKind,
  onLines: (lines: string[]) => Promise<void>,
): Promise<void> {
  const columns = columnsOf(kind)
  const terms = columns.flatMap(([name, type]) => (type === 'term' ? [name] : []))
  const selected = columns.map(([name, type]) => (type === 'term' ? `${termTable(name)}.text` : `events.${name}`))
  const joins = terms.map((name) => `JOIN ${termTable(name)} ON ${termTable(name)}.key = events.${name}`)
  const result = await connection.stream(
    `SELECT json_array(${selected.join(', ')})::VARCHAR FROM ${TABLES[kind]} AS events ${joins.join(' ')}`,
  )
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    await onLines(chunk.getColumnValues(0) as string[])
  }
}

/** Reads the columns of a result in chunks of 2,048 rows. The event loop can serve requests between chunks. */
async function* chunksOf<Columns extends DuckDBValue[][]>(result: DuckDBMaterializedResult): AsyncGenerator<Columns> {
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk.getColumns() as Columns
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
