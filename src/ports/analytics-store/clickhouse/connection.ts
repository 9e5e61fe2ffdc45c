// One ClickHouse server or cluster by its address: statements with time limits, a bounded number at once, and errors
// that say whether it is away or refuses.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'

/** Statements under way at once, and further ones that may wait; more are refused. */
const RUNNING_MAX = 8
const WAITING_MAX = 128
/** The server gives a statement up before the client does, so that nothing goes on unseen. */
export const STATEMENT_SECONDS = 20
const REQUEST_TIMEOUT_MS = 25_000
const RETRY_AFTER_SECONDS = 5

/** Settings of every statement. */
const SETTINGS: ClickHouseSettings = {
  max_execution_time: STATEMENT_SECONDS,
  output_format_json_quote_64bit_integers: 0,
  cancel_http_readonly_queries_on_client_close: 1,
}

/** Codes of ClickHouse that mean "not now": limits, memory, connections to replicas, shutting down. */
const NOT_NOW = new Set([
  '159',
  '160',
  '202',
  '203',
  '209',
  '210',
  '236',
  '241',
  '242',
  '252',
  '279',
  '285',
  '319',
  '999',
])

export type Row = readonly unknown[]

export type Statement = {
  sql: string
  params?: Record<string, unknown>
  signal?: AbortSignal | undefined
  /** Who asks: statements wait fairly between callers. */
  caller?: string | undefined
  /** Of this statement only, over those of every statement. */
  settings?: ClickHouseSettings
}

export type ClickHouse = {
  /**
   * Hands the rows of a question over, some at a time as they arrive, each time after `onRows` is done with the rows
   * before. @throws ApiError, or what `onRows` throws
   */
  read(statement: Statement, onRows: (rows: Row[]) => void | Promise<void>): Promise<void>
  /** All rows of a question. @throws ApiError */
  all(statement: Statement): Promise<Row[]>
  /** A statement without an answer. @throws ApiError */
  run(statement: Statement): Promise<void>
  /** Stores the lines of a JSONCompactEachRow body. @throws ApiError: the rows may be stored or not. */
  insert(rows: { table: string; columns: readonly string[]; lines: Readable; token: string }): Promise<void>
  /** Ends what is running after its time limits at the latest; idempotent. */
  close(): Promise<void>
}

/** Nothing is connected before the first statement. `url` names user, password and database. */
export function connectClickHouse(url: string): ClickHouse {
  const client: ClickHouseClient = createClient({
    url,
    application: 'depot',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: RUNNING_MAX + 2,
    clickhouse_settings: SETTINGS,
    use_multipart_params_auto: true,
    // What goes wrong is thrown; the library would write it to standard output, too.
    log: { LoggerClass: SilentLogger },
  })
  const limiter = createLimiter({
    running: RUNNING_MAX,
    waiting: WAITING_MAX,
    refuse: () => unavailable(new Error(`More than ${WAITING_MAX} statements are waiting`)),
  })

  /** One statement at a place of the limiter; errors become those of the port. */
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

  function read(
    { sql, params = {}, signal, caller, settings = {} }: Statement,
    onRows: (rows: Row[]) => void | Promise<void>,
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
        for await (const part of result.stream<Row>()) await onRows(part.map((row) => row.json<Row>()))
      },
      { signal, caller },
    )
  }

  return {
    read,
    async all(statement) {
      const found: Row[] = []
      await read(statement, (rows) => {
        for (const row of rows) found.push(row)
      })
      return found
    },
    run: ({ sql, params = {}, settings = {} }) =>
      guarded(() => client.command({ query: sql, query_params: params, clickhouse_settings: settings })),
    insert: ({ table, columns, lines, token }) =>
      guarded(async () => {
        const { stream } = await client.exec({
          query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONCompactEachRow`,
          values: lines,
          clickhouse_settings: {
            async_insert: 0,
            insert_deduplicate: 1,
            insert_deduplication_token: token,
            // What was stored without its entry in the list of batches gets it when it comes again.
            deduplicate_blocks_in_dependent_materialized_views: 1,
            // The rows of a batch stay one block, so that it is stored, and recognised, as a whole.
            input_format_parallel_parsing: 0,
          },
        })
        await finished(stream.resume())
      }),
    close: () => client.close(),
  }
}

class SilentLogger {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}

/** ClickHouse's number of an error in a chain of causes; undefined when the server did not answer at all. */
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
  if (code === undefined || NOT_NOW.has(code)) return unavailable(error)
  return new ApiError('analytics_database_error', 'The analytics store refused the request', { cause: error })
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('analytics_unavailable', 'The analytics store does not answer at the moment; try again', {
    cause,
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
}
