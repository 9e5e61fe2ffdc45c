// Creates the database handle: pool, type parsing and Kysely. Functions that need a transaction accept `Tx`, others `Db`.

import { Kysely, type LogEvent, type RawBuilder, type SelectQueryBuilder, type Transaction } from 'kysely'
import pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { CommitDialect } from './at-commit.ts'
import { isDamage, isReadTimeout } from './pg-errors.ts'
import type { DB } from './schema.ts'

export type Db = Kysely<DB>
export type Tx = Transaction<DB>
/** The part of a list that a query returns. */
export type Page = { limit: number; offset: number }

/** IDs, or SQL for an array of IDs, which the process then does not read. */
export type IdList = readonly string[] | RawBuilder<string[]>

/** Connection settings of `pg`: a URL, or the socket folder of the embedded server. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const INT8_OID = 20
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = MINUTE_MS
/** Exceeds the statement timeout, so that it only affects statements to which the server does not respond at all. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000

// int8 columns contain counters, sizes and scope bits, all below 2^53, so that numbers are exact. Amounts of money are
// numeric and stay strings.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format),
}

const TIME_LIMITS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
} as const

export type PoolOptions = {
  max: number
  applicationName: string
  /** Whether a pooler in transaction mode is used. It rejects session settings, so the role must set the time limits. */
  isPooled?: boolean
  /** Called if PostgreSQL reports a damaged page or index. */
  onDamage?: (error: unknown) => void
  /** Maximum wait for the response to a statement before its connection is closed. Default: 35 seconds */
  answerTimeoutMs?: number
}

/**
 * Returns a client that closes its connection if a statement times out. `pg` only stops waiting: it would send the rollback over
 * the dead connection, and the pool would reuse that connection.
 */
const impatientClient = (onDamage: (error: unknown) => void) =>
  class extends pg.Client {
    override query(...parameters: unknown[]): never {
      const answer: unknown = Reflect.apply(super.query, this, parameters)
      if (answer instanceof Promise) {
        answer.catch((error: unknown) => {
          if (isReadTimeout(error)) void this.end()
          if (isDamage(error)) onDamage(error)
        })
      }
      return answer as never
    }
  }

/**
 * Creates a bounded pool. Time limits end every statement and every idle transaction, even if the server becomes
 * unreachable.
 */
export function createPool(connection: Connection, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max: options.max,
    application_name: options.applicationName,
    types,
    ...(options.isPooled === true ? {} : TIME_LIMITS),
    query_timeout: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    Client: impatientClient(options.onDamage ?? (() => {})),
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  })
  // A lost idle connection needs no handling: the next query gets a new connection, or the error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Checks that sessions have time limits.
 * @throws OperatorError if a limit is missing, with its name and the statement that sets it.
 */
export async function requireTimeLimits(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ name: string; role: string; database: string }>(
    `select name, quote_ident(current_user) as role, quote_ident(current_database()) as database
      from pg_settings where name = any($1::text[]) and setting = '0' order by name`,
    [Object.keys(TIME_LIMITS)],
  )
  if (rows.length === 0) return
  const statements = rows.map(({ name, role, database }) => {
    const limit = TIME_LIMITS[name as keyof typeof TIME_LIMITS]
    return `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${limit / 1000}s';`
  })
  throw new OperatorError(
    `Sessions through DATABASE_URL have no time limit (${rows.map(({ name }) => name).join(', ')}), and Depot cannot set one ` +
      `through a pooler. Set the limits for the role, then make the pooler reconnect: ${statements.join(' ')}`,
  )
}

/** Creates a Kysely handle for a pool. Calls `onQuery` after each statement: tests count them, metrics time them. */
export function createDb(pool: pg.Pool, onQuery?: (event: LogEvent) => void): Db {
  return new Kysely<DB>({ dialect: new CommitDialect({ pool }), ...(onQuery === undefined ? {} : { log: onQuery }) })
}

/** Returns the number of rows of a query that has no selected columns. */
export async function countRows<Tables, Name extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Name, object>,
): Promise<number> {
  const counting = query.select((eb) => eb.fn.countAll<number>().as('count'))
  const { count } = await counting.$castTo<{ count: number }>().executeTakeFirstOrThrow()
  return count
}

/** Opens a connection with the settings of the pool but without time limits, because the work can take hours. */
export async function connectAlone(pool: pg.Pool, applicationName: string): Promise<pg.Client> {
  const { Client: PgClient } = (await import('pg')).default
  const client = new PgClient({
    ...pool.options,
    application_name: applicationName,
    statement_timeout: 0,
    query_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  await client.connect().catch((cause: Error) => {
    throw new OperatorError(`The database cannot be reached: ${cause.message}`, { cause, dependency: 'database' })
  })
  return client
}

/** Runs `act` with a connection of `connectAlone`. Closing the connection releases its locks. */
export async function withConnection<T>(
  pool: pg.Pool,
  applicationName: string,
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectAlone(pool, applicationName)
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}
