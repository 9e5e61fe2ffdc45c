// Sends notices of committed changes to all processes, including this one: after the commit, in batches, on a separate
// connection.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { BaseLogger } from 'pino'
import type { LoggedChanges } from './change-log.ts'
import { CHANNEL, encodeNotices } from './invalidations.ts'

export type Announcer = {
  /** Sends a notice soon. Never throws: if sending fails, other processes find the change in the log one second later. */
  announce(logged: LoggedChanges): void
  /** Sends the pending notices. */
  close(): Promise<void>
}

/** Pause between two statements. Notices that arrive in this time are sent together. */
const GAP_MS = 5
/** Maximum number of pending notices. The log contains the others. */
const WAITING_MAX = 20_000

/** Uses one connection of `pool` at a time. */
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
        log.warn(fields, 'Could not send notices of changes; other processes find the changes in the change log')
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
 * Sends notices in a separate transaction that does not wait for the disk. PostgreSQL commits such transactions one after
 * another. If the server crashes, the listeners are disconnected anyway.
 */
export async function sendNotices(pool: Pick<Pool, 'query'>, payloads: readonly string[]): Promise<void> {
  await pool.query(
    `select set_config('synchronous_commit', 'off', true), count(pg_notify($1, notice.payload))
    from unnest($2::text[]) as notice (payload)`,
    [CHANNEL, payloads],
  )
}
