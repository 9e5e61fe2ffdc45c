import { setTimeout as sleep } from 'node:timers/promises'
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import { isRetryable } from '#platform/db/pg-errors.ts'
import { type LoggedChanges, logChanges } from './change-log.ts'
import { ChangeSet, type Changes, type Counts } from './changes.ts'
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
 * process and its peers have removed their entries, also after a failure, because its commit might have succeeded.
 *
 * After a serialization failure or a deadlock, `run` is called again, at most 5 times in total. So `run` must have no
 * effects outside `tx`, and must not read through the cache.
 */
export async function transaction<DB, T>(
  { db, cache }: { db: Kysely<DB>; cache: EntityCache },
  run: (tx: Transaction<DB>, changed: ChangeSet) => Promise<T>,
  { isolation = 'read committed', pause = sleep }: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let release: (() => void) | undefined
    let logged: LoggedChanges | undefined
    let counts: Counts = new Map()
    let counted: Counts = new Map()
    let committed: Changes = new Map()
    try {
      const result = await db
        .transaction()
        .setIsolationLevel(isolation)
        .execute(async (tx) => {
          const changed = new ChangeSet()
          const value = await run(tx, changed)
          logged = await logChanges(tx, changed)
          counts = changed.counts
          release = cache.hold(changed.changes)
          committed = changed.changes
          return value
        })
      counted = counts
      cache.recount(counted)
      if (logged !== undefined) cache.announce(logged)
      return result
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !canRetry(error)) throw error
    } finally {
      release?.()
      await cache.invalidatePeers(committed, counted)
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
