// Sends a statement to PostgreSQL in the same message as the commit of its transaction, which saves a round trip.

import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type Transaction,
} from 'kysely'
import { isConnectionLoss } from './pg-errors.ts'

/** The statement to run with the next commit, per connection; undefined if there is none. */
const waiting = new WeakMap<DatabaseConnection, string | undefined>()

/** PostgreSQL dialect that supports `runAtCommit`. */
export class CommitDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): Driver {
    return new CommitDriver(this.#config)
  }
}

class CommitDriver extends PostgresDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    waiting.set(connection, undefined)
    return connection
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const statement = waiting.get(connection)
    waiting.set(connection, undefined)
    if (statement === undefined) return super.commitTransaction(connection)
    // Without parameters, both statements are one message, and PostgreSQL skips the commit if the first one fails.
    await connection.executeQuery(CompiledQuery.raw(`${statement}; commit`))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    waiting.set(connection, undefined)
    // A lost connection needs no rollback, and the caller already has the original error.
    await super.rollbackTransaction(connection).catch((error: unknown) => {
      if (!isConnectionLoss(error)) throw error
    })
  }
}

/**
 * Runs a statement as the last statement of `tx`, in the same message as the commit. The statement has no parameters and
 * returns nothing; if it fails, the commit fails. A second call replaces the statement of the first.
 * @throws Error if the database handle does not use `CommitDialect`.
 */
export async function runAtCommit<DB>(tx: Transaction<DB>, statement: string): Promise<void> {
  await tx.getExecutor().provideConnection(async (connection) => {
    if (!waiting.has(connection)) throw new Error('This database handle cannot run a statement at commit')
    waiting.set(connection, statement)
  })
}
