// The database handle: pool, type parsing and Kysely. Queries take `Db`; what needs a transaction takes `Tx`.

import { Kysely, type LogEvent, type Transaction } from 'kysely'
import pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { CommitDialect } from './at-commit.ts'
import { isReadTimeout } from './pg-errors.ts'
import type { DB } from './schema.ts'

export type Db = Kysely<DB>
export type Tx = Transaction<DB>

/** What `pg` needs to connect: a URL, or the socket folder of the embedded server. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const INT8_OID = 20
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = MINUTE_MS
/** Later than the server's own limit, so that this one ends only what gets no answer at all. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000

// int8 columns hold counters, sizes and scope bits, all below 2^53; as numbers they compare and serialise as one
// expects. Amounts of money are numeric and stay text.
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
  /** Through a pooler in transaction mode, which takes no settings of a session: the role must have the time limits. */
  isPooled?: boolean
  /** How long a statement waits for its answer before its connection is given up; 35 seconds by default. */
  answerTimeoutMs?: number
}

/**
 * Closes itself when a statement gets no answer in time. The library alone only stops waiting: it would send the rollback
 * into the same silence, and the pool would hand out the connection again.
 */
class ImpatientClient extends pg.Client {
  override query(...parameters: unknown[]): never {
    const answer: unknown = Reflect.apply(super.query, this, parameters)
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (isReadTimeout(error)) void this.end()
      })
    }
    return answer as never
  }
}

/**
 * A bounded pool whose sessions time out on their own: no statement and no idle transaction lasts for ever, also when the
 * server is cut off and answers nothing.
 */
export function createPool(connection: Connection, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max: options.max,
    application_name: options.applicationName,
    types,
    ...(options.isPooled === true ? {} : TIME_LIMITS),
    query_timeout: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    Client: ImpatientClient,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  })
  // An idle connection may be cut at any time; whoever needs it next gets another one or the error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Refuses sessions without time limits.
 * @throws OperatorError that names the limit and the statement that sets it.
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
    `Sessions through DATABASE_URL have no time limit (${rows.map(({ name }) => name).join(', ')}), and a pooler takes none ` +
      `from Depot. Give them to the role, then let the pooler connect again: ${statements.join(' ')}`,
  )
}

/** Kysely over a pool. `onQuery` sees each finished statement (the tests count them, metrics time them). */
export function createDb(pool: pg.Pool, onQuery?: (event: LogEvent) => void): Db {
  return new Kysely<DB>({ dialect: new CommitDialect({ pool }), ...(onQuery === undefined ? {} : { log: onQuery }) })
}
