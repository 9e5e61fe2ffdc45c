// Sends the notices of what this process has committed to every process, this one included: after the commit, many at
// once, on a connection of its own.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { BaseLogger } from 'pino'
import type { LoggedChanges } from './change-log.ts'
import { CHANNEL, encodeNotices } from './invalidations.ts'

export type Announcer = {
  /** Sends a notice soon. Never throws: what cannot be sent is found in the log by its followers, a second later. */
  announce(logged: LoggedChanges): void
  /** Sends what waits and resolves when it is sent. */
  close(): Promise<void>
}

/** Between two statements: the first notice goes at once, those that come in this time go together. */
const GAP_MS = 5
/** So many may wait while the database takes none; the log has the rest. */
const WAITING_MAX = 20_000

/** Announces over `pool`, of which it uses one connection at a time. */
export function createAnnouncer({
  pool,
  log,
}: {
  pool: Pick<Pool, 'query'>
  log: Pick<BaseLogger, 'warn'>
}): Announcer {
  const closing = new AbortController()
  let waiting: LoggedChanges[] = []
  let sending: Promise<void> | undefined

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const logged = waiting
      waiting = []
      try {
        await sendNotices(pool, encodeNotices(logged))
      } catch (error) {
        const fields = { err: error, invalidation: { transactions: logged.length } }
        log.warn(fields, 'Notices of changes were not sent; the log of changes has them')
      }
      await sleep(GAP_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
    sending = undefined
  }
  return {
    announce: (logged) => {
      if (waiting.length >= WAITING_MAX) return
      waiting.push(logged)
      sending ??= send()
    },
    close: async () => {
      closing.abort()
      await sending
    },
  }
}

/**
 * Sends notices in a transaction of its own, which does not wait for the disk: PostgreSQL commits those that send one
 * after the other, and a notice that a crash of the server loses has nobody left to hear it.
 */
export async function sendNotices(pool: Pick<Pool, 'query'>, payloads: readonly string[]): Promise<void> {
  await pool.query(
    `select set_config('synchronous_commit', 'off', true), count(pg_notify($1, notice.payload))
    from unnest($2::text[]) as notice (payload)`,
    [CHANNEL, payloads],
  )
}
