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
  /** Waits between two attempts; a test passes one that does not. */
  pause?: (ms: number) => Promise<unknown>
}

/**
 * Runs a transaction that changes things others may have cached. `run` names what it changes in `changed`; the
 * row for other processes is part of the transaction, its notice follows the commit, and this process has dropped its
 * own entries before the returned promise settles; so have the other processes of the same server. From just before the
 * commit until then its reads of these things go to the database,
 * so that nobody is answered with what the commit has replaced. All of this also when the transaction fails, since a
 * connection lost during the commit leaves its outcome unknown.
 *
 * A serialization failure or a deadlock runs `run` again, five times in all, about 5, 10, 20 and 40 ms apart: `run`
 * has no effects but those of `tx`, and reads through `tx`, never through the cache. Other errors, and the last of
 * these, reach the caller as they are.
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
      if (attempt >= ATTEMPTS_MAX || !asksForRetry(error)) throw error
    } finally {
      release?.()
      await cache.invalidatePeers(committed, counted)
    }
    await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
  }
}

/** Looks down the chain of causes, because a query may have wrapped the database's error in its own. */
function asksForRetry(error: unknown): boolean {
  let current = error
  for (let depth = 0; depth < CAUSES_MAX && current instanceof Error; depth++) {
    if (isRetryable(current)) return true
    current = current.cause
  }
  return false
}
