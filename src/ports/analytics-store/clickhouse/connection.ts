// The connection to ClickHouse: limits the time and number of statements, and distinguishes an unavailable server from
// rejected statements.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ClickHouseError, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'

/** Maximum number of running and of waiting statements. */
const RUNNING_MAX = 8
const WAITING_MAX = 128
/** Time limit of the server, which is shorter than that of the client, so that no statement continues unnoticed. */
export const STATEMENT_SECONDS = 20
const REQUEST_TIMEOUT_MS = 25_000
const RETRY_AFTER_SECONDS = 5

/** Settings of every statement. */
const SETTINGS: ClickHouseSettings = {
  max_execution_time: STATEMENT_SECONDS,
  output_format_json_quote_64bit_integers: 0,
  cancel_http_readonly_queries_on_client_close: 1,
}

/** Settings of a stored batch, in addition to its deduplication token. */
const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  // A batch that was stored without its row in `event_batches` gets the row when it is sent again.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Keeps a batch in one block, so that it is stored and deduplicated as a whole.
  input_format_parallel_parsing: 0,
}

/** Error codes of temporary failures: limits, memory, connections to replicas, shutdown. */
const TEMPORARY = new Set('159 160 202 203 209 210 236 241 242 252 279 285 319 999'.split(' '))

export type Row = readonly unknown[]

export type Statement = {
  sql: string
  params?: Record<string, unknown>
  signal?: AbortSignal | undefined
  /** Identifies the client. Statements wait in turn between callers. */
  caller?: string | undefined
  /** Settings of this statement, in addition to those of every statement. */
  settings?: ClickHouseSettings
}

export type ClickHouse = {
  /**
   * Reads the rows of a query in parts and awaits `onRows` for each part.
   * @throws ApiError, or the error of `onRows`
   */
  read<R extends Row>(statement: Statement, onRows: (rows: R[]) => void | Promise<void>): Promise<void>
  /** Returns all rows of a query. @throws ApiError */
  all<R extends Row>(statement: Statement): Promise<R[]>
  /** Runs a statement without result. @throws ApiError */
  run(statement: Statement): Promise<void>
  /** Stores the lines of a JSONCompactEachRow body. @throws ApiError; the rows may be stored nevertheless */
  insert(rows: { table: string; columns: readonly string[]; lines: Readable; token: string }): Promise<void>
  /** Waits for running statements, at most for their time limits. Idempotent. */
  close(): Promise<void>
}

/** Connects with the first statement. `url` contains user, password and database. */
export function connectClickHouse(url: string): ClickHouse {
  const client = createClient({
    url,
    application: 'depot',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: RUNNING_MAX + 2,
    clickhouse_settings: SETTINGS,
    use_multipart_params_auto: true,
    // The library throws the errors as well.
    log: { level: ClickHouseLogLevel.OFF },
  })
  const limiter = createLimiter({
    running: RUNNING_MAX,
    waiting: WAITING_MAX,
    refuse: () => unavailable(new Error(`More than ${WAITING_MAX} statements are waiting`)),
  })

  /** Runs a statement within the limits and converts its errors to those of the port. */
  function guarded(
    work: () => Promise<unknown>,
    { signal, caller }: Pick<Statement, 'signal' | 'caller'> = {},
  ): Promise<void> {
    return limiter.run(async () => {
      try {
        signal?.throwIfAborted()
        await work()
      } catch (error) {
        throw asApiError(error, signal)
      }
    }, caller)
  }

  function read<R extends Row>(
    { sql, params = {}, signal, caller, settings = {} }: Statement,
    onRows: (rows: R[]) => void | Promise<void>,
  ): Promise<void> {
    return guarded(
      async () => {
        const result = await client.query({
          query: sql,
          query_params: params,
          format: 'JSONCompactEachRow',
          clickhouse_settings: settings,
          ...(signal === undefined ? {} : { abort_signal: signal }),
        })
        for await (const part of result.stream<R>()) await onRows(part.map((row) => row.json<R>()))
      },
      { signal, caller },
    )
  }

  return {
    read,
    async all<R extends Row>(statement: Statement) {
      const all: R[] = []
      await read<R>(statement, (rows) => {
        for (const row of rows) all.push(row)
      })
      return all
    },
    run: ({ sql, params = {}, settings = {} }) =>
      guarded(() => client.command({ query: sql, query_params: params, clickhouse_settings: settings })),
    insert: ({ table, columns, lines, token }) =>
      guarded(async () => {
        const { stream } = await client.exec({
          query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONCompactEachRow`,
          values: lines,
          clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
        })
        await finished(stream.resume())
      }),
    close: () => client.close(),
  }
}

/** Returns the ClickHouse error code in a chain of causes; undefined if the server did not respond. */
export function clickHouseCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ClickHouseError) return current.code
  }
  return undefined
}

function asApiError(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason
  if (error instanceof ApiError || error instanceof OperatorError) return error
  const code = clickHouseCode(error)
  if (code === undefined || TEMPORARY.has(code)) return unavailable(error)
  return new ApiError('analytics_database_error', 'The analytics store rejected the request', { cause: error })
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('analytics_unavailable', 'The analytics store does not respond; try again later', {
    cause,
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
}
