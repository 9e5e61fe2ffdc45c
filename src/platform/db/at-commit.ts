// A statement that goes to the database together with the commit of its transaction: it costs no round trip of its own.

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

/** The statements that wait for the commit on their connection; undefined while there is none. */
const waiting = new WeakMap<DatabaseConnection, string | undefined>()

/** PostgreSQL with commits that take a last statement along. */
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
    // Without parameters this is one message, and the commit is not reached when the statement fails.
    await connection.executeQuery(CompiledQuery.raw(`${statement}; commit`))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    waiting.set(connection, undefined)
    // A connection that is lost needs no rollback, and what went wrong before says more.
    await super.rollbackTransaction(connection).catch((error: unknown) => {
      if (!isConnectionLoss(error)) throw error
    })
  }
}

/**
 * Runs one statement as the last of `tx`, in one message with its commit. It has no parameters and gives nothing back; its
 * errors are those of the commit. A second call replaces the first.
 * @throws Error when the database handle was not made with `CommitDialect`.
 */
export async function runAtCommit<DB>(tx: Transaction<DB>, statement: string): Promise<void> {
  await tx.getExecutor().provideConnection(async (connection) => {
    if (!waiting.has(connection)) throw new Error('This database handle takes no statement along with a commit')
    waiting.set(connection, statement)
  })
}
