// Creates the tables in ClickHouse. Each kind of event has a table with monthly partitions. For each insert, a view writes a
// row to `event_batches`: the ID of the batch, the time and, for downloads, the counts.
import { OperatorError } from '#lib/operator-error.ts'
import { type ColumnType, columnsOf, EVENT_KINDS, type EventKind, TABLES } from '../events.ts'
import { type ClickHouse, clickHouseCode, connectClickHouse } from './connection.ts'

const OLDEST_MAJOR = 24

/** Number of insert tokens that a table remembers: minutes of batches. `isStored` finds older batches. */
const DEDUPLICATION_WINDOW = 10_000

const SQL_TYPES = {
  time: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD)",
  term: 'String CODEC(ZSTD)',
  text: 'LowCardinality(String)',
  flag: 'Bool',
  number: 'UInt32 CODEC(ZSTD)',
} as const satisfies Record<ColumnType, string>

/** Returns the column that queries filter by, and by which rows are sorted. */
const sourceOf = (kind: EventKind): string => (kind === 'affiliate_click' ? 'affiliate_code_id' : 'project_id')

/** Counts of downloads: keys `project TAB version`, and the number for each. */
const NO_COUNTS = "CAST(([], []), 'Tuple(Array(String), Array(UInt64))')"
const DOWNLOAD_COUNTS = "sumMap([concat(project_id, '\\t', version_id)], [toUInt64(1)])"

/** Returns the statements that create missing tables. Operators can also run them by hand. */
export function createStatements(): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS event_batches (
      batch_id String,
      kind LowCardinality(String),
      stored_at DateTime64(3, 'UTC'),
      counts Tuple(Array(String), Array(UInt64)),
      INDEX batch_id_index batch_id TYPE bloom_filter GRANULARITY 1
    ) ENGINE = ReplacingMergeTree
    PARTITION BY toDate(stored_at)
    ORDER BY (toStartOfMinute(stored_at), batch_id)
    TTL toDateTime(stored_at) + INTERVAL 30 DAY
    SETTINGS non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}, ttl_only_drop_parts = 1`,
    ...EVENT_KINDS.flatMap((kind) => [
      `CREATE TABLE IF NOT EXISTS ${TABLES[kind]} (
        ${columnsOf(kind)
          .map(([name, type]) => `${name} ${SQL_TYPES[type]}`)
          .join(', ')},
        stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD),
        batch_id String CODEC(ZSTD) TTL toDateTime(stored_at) + INTERVAL 1 DAY
      ) ENGINE = MergeTree
      PARTITION BY toYYYYMM(recorded_at)
      ORDER BY (${sourceOf(kind)}, recorded_at)
      SETTINGS non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`,
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${TABLES[kind]}_batches TO event_batches AS
      SELECT batch_id, '${kind}' AS kind, min(stored_at) AS stored_at,
        ${kind === 'download' ? DOWNLOAD_COUNTS : NO_COUNTS} AS counts
      FROM ${TABLES[kind]} GROUP BY batch_id`,
    ]),
  ]
}

/**
 * Checks the version of the server and creates missing tables.
 * @throws OperatorError for a wrong version, database, user, password or permission; ApiError `analytics_unavailable` if
 * the server does not respond.
 */
export async function prepareDatabase(connection: ClickHouse, url: string): Promise<void> {
  try {
    await checkVersion(connection)
    const missing = await connection.all({ sql: MISSING_SQL, params: { tables: TABLE_NAMES } })
    if (Number(missing[0]?.[0]) === TABLE_NAMES.length) return
    for (const sql of createStatements()) await connection.run({ sql })
  } catch (error) {
    const code = clickHouseCode(error)
    if (code === '81' && (await createDatabase(url))) return prepareDatabase(connection, url)
    throw code === undefined ? error : asOperatorError(code, error, url)
  }
}

const TABLE_NAMES = ['event_batches', ...Object.values(TABLES).flatMap((table) => [table, `${table}_batches`])]
const MISSING_SQL =
  'SELECT count() FROM system.tables WHERE database = currentDatabase() AND name IN {tables:Array(String)}'

async function checkVersion(connection: ClickHouse): Promise<void> {
  const [[version] = []] = await connection.all({ sql: 'SELECT version()' })
  if (!(Number.parseInt(String(version), 10) >= OLDEST_MAJOR))
    throw new OperatorError(`CLICKHOUSE_URL: Depot needs ClickHouse ${OLDEST_MAJOR} or later, but this is ${version}`)
}

/** Returns whether the database was created. */
async function createDatabase(url: string): Promise<boolean> {
  const server = new URL(url)
  const name = databaseOf(url)
  server.pathname = ''
  const connection = connectClickHouse(server.href)
  try {
    await connection.run({ sql: `CREATE DATABASE IF NOT EXISTS \`${name}\`` })
    return true
  } catch (error) {
    if (clickHouseCode(error) === undefined) throw error
    return false
  } finally {
    await connection.close()
  }
}

const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1))

function asOperatorError(code: string, cause: unknown, url: string): unknown {
  const { host, username } = new URL(url)
  const user = username === '' ? 'default' : decodeURIComponent(username)
  const sentence = {
    '81': `the database ${databaseOf(url)} does not exist at ${host}, and the user ${user} must not create it`,
    '192': `${host} rejected the user ${user} or the password`,
    '193': `${host} rejected the user ${user} or the password`,
    '497': `the user ${user} lacks a permission. It needs CREATE TABLE, CREATE VIEW, SELECT and INSERT in ${databaseOf(url)}`,
    '516': `${host} rejected the user ${user} or the password`,
  }[code]
  return sentence === undefined ? cause : new OperatorError(`CLICKHOUSE_URL: ${sentence}`, { cause })
}
