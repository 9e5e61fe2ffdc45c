import { setTimeout as sleep } from 'node:timers/promises'
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import { isRetryable } from '#platform/db/pg-errors.ts'
import { type LoggedChanges, logChanges } from './change-log.ts'
import { ChangeSet, type Changes } from './changes.ts'
import type { EntityCache } from './entity-cache.ts'

const ATTEMPTS_MAX = 5
const FIRST_PAUSE_MS = 5
const CAUSES_MAX = 5

export interface TransactionOptions {
  isolation?: IsolationLevel
  /** Pause between two attempts. Tests replace it. */
  pause?: (ms: number) => Promise<unknown>
}

/**
 * Runs a transaction that changes cached entities. `run` adds the changes to `changed`. The transaction writes them to the
 * change log; the notice follows the commit. Reads during the commit go to the database. Before the promise settles, this
 * process has removed its entries, also after a failure, because its commit might have succeeded.
 *
 * After a serialization failure or a deadlock, `run` is called again, at most 5 times in total. So `run` must have no
 * effects outside `tx`, and must not read through the cache.
 * @throws DryRunDone in a dry run, instead of the commit.
 */
export async function transaction<DB, T>(
  { db, cache, dryRun }: { db: Kysely<DB>; cache: EntityCache; dryRun?: DryRun<DB> | undefined },
  run: (tx: Transaction<DB>, changed: ChangeSet) => Promise<T>,
  { isolation = 'read committed', pause = sleep }: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const changed = new ChangeSet()
    let release: (() => void) | undefined
    let logged: LoggedChanges | undefined
    try {
      const result = await db
        .transaction()
        .setIsolationLevel(isolation)
        .execute(async (tx) => {
          const value = await run(tx, changed)
          if (dryRun !== undefined) throw new DryRunDone(await dryRun.look(tx, changed.changes))
          logged = await logChanges(tx, changed)
          release = cache.hold(changed.changes)
          return value
        })
      cache.recount(changed.counts)
      if (logged !== undefined) cache.announce(logged)
      return result
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !canRetry(error)) throw error
    } finally {
      release?.()
    }
    await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
  }
}

/** Checks the causes too, because a query might have wrapped the error of the database. */
function canRetry(error: unknown): boolean {
  let current = error
  for (let depth = 0; depth < CAUSES_MAX && current instanceof Error; depth++) {
    if (isRetryable(current)) return true
    current = current.cause
  }
  return false
}

// Dry runs: a command runs as always, until its transaction is complete and then rolled back. So it checks everything, and
// nothing after the transaction happens. Files stay staged: see `withClaims`.

export type Warning = { field: string; message: string }

/** Part of `Deps` during a dry run. */
export type DryRun<DB = never> = {
  /** Reads in the transaction what it would store. */
  look(tx: Transaction<DB>, changed: Changes): Promise<unknown>
  /** Adds a warning: a check that was omitted, or a problem that does not prevent the request. */
  warn(field: string, message: string): void
}

/** Thrown by a transaction instead of its commit. */
export class DryRunDone extends Error {
  readonly found: unknown

  constructor(found: unknown) {
    super('A dry run does not commit')
    this.found = found
  }
}

/**
 * Runs a command without its effects. `command` gets the dependencies of the dry run, and must write in one `transaction`.
 * @param look reads in this transaction what it would store.
 * @throws what the command throws.
 */
export async function dryRun<DB, Deps extends { dryRun?: DryRun<DB> | undefined }, Found>(
  deps: Deps,
  command: (deps: Deps) => Promise<unknown>,
  look: (tx: Transaction<DB>, changed: Changes) => Promise<Found>,
): Promise<{ found: Found; warnings: Warning[] }> {
  const warnings: Warning[] = []
  const warn = (field: string, message: string) => void warnings.push({ field, message })
  try {
    await command({ ...deps, dryRun: { look, warn } })
  } catch (error) {
    if (error instanceof DryRunDone) return { found: error.found as Found, warnings }
    throw error
  }
  throw new Error('The command of a dry run had no transaction')
}
