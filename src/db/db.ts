// The database handle: pool, type parsing and Kysely. Queries take `Db`; what needs a transaction takes `Tx`.

import { Kysely, type LogEvent, type Transaction } from 'kysely'
import pg from 'pg'
import { MINUTE_MS } from '#lib/time.ts'
import { CommitDialect } from './at-commit.ts'
import type { DB } from './schema.ts'

export type Db = Kysely<DB>
export type Tx = Transaction<DB>

/** What `pg` needs to connect: a URL, or the socket folder of the embedded server. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const INT8_OID = 20
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = MINUTE_MS

// int8 columns hold counters, sizes and scope bits, all below 2^53; as numbers they compare and serialise as one
// expects. Amounts of money are numeric and stay text.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format),
}

/** A bounded pool whose sessions time out on their own: no statement and no idle transaction lasts for ever. */
export function createPool(connection: Connection, options: { max: number; applicationName: string }): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max: options.max,
    application_name: options.applicationName,
    types,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  })
  // An idle connection may be cut at any time; whoever needs it next gets another one or the error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Kysely over a pool. `onQuery` sees each finished statement (the tests count them, metrics time them). */
export function createDb(pool: pg.Pool, onQuery?: (event: LogEvent) => void): Db {
  return new Kysely<DB>({ dialect: new CommitDialect({ pool }), ...(onQuery === undefined ? {} : { log: onQuery }) })
}
