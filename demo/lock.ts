// Locks between the commands and jobs that write or remove the demo.

import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/** Keys of advisory locks that nothing else uses. */
const LOCKS = {
  /** Held while a run writes or removes the demo: two runs would write the same rows. */
  catalogue: 7_300_424,
  /** Held while events of the demo are stored or removed. */
  events: 7_300_429,
} as const

export const CATALOGUE_LOCK = {
  lock: 'catalogue',
  sentence: 'Another command is writing or removing the demo catalogue',
} as const
export const EVENTS_LOCK = {
  lock: 'events',
  sentence: 'The events of the demo are being stored or removed. Try again in a moment.',
} as const

/** Runs `work` while it holds a lock. @throws ApiError `conflict` with `sentence` if another process holds the lock. */
export async function withDemoLock<T>(
  { pool }: Pick<Deps, 'pool'>,
  { lock, sentence }: { lock: keyof typeof LOCKS; sentence: string },
  work: () => Promise<T>,
): Promise<T> {
  const holder = await pool.connect()
  let isHeld = false
  // A lost connection must not end the process; the writes use other connections.
  holder.on('error', () => {})
  try {
    const { rows } = await holder.query('select pg_try_advisory_lock($1) as is_mine', [LOCKS[lock]])
    isHeld = rows[0]?.is_mine === true
    if (!isHeld) throw new ApiError('conflict', sentence)
    return await work()
  } finally {
    // The lock ends with its connection.
    if (isHeld) await holder.query('select pg_advisory_unlock($1)', [LOCKS[lock]]).catch(() => {})
    holder.release(true)
  }
}
