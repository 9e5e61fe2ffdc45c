// Which of the commands and jobs that write or remove the demo may run at once.

import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/** Arbitrary numbers that nothing else locks. */
const LOCKS = {
  /** Held while the demo is written or removed: two runs would write the same rows. */
  catalogue: 7_300_424,
  /** Held while its events are stored, or removed with everything else. */
  events: 7_300_429,
} as const

export const CATALOGUE_LOCK = {
  lock: 'catalogue',
  sentence: 'The demo catalogue is being written already, or removed',
} as const
export const EVENTS_LOCK = {
  lock: 'events',
  sentence: 'The events of the demo are being stored or removed; try again in a moment',
} as const

/** Runs `work` while it holds a lock. @throws ApiError `conflict` with `sentence` while somebody else holds it. */
export async function withDemoLock<T>(
  { pool }: Pick<Deps, 'pool'>,
  { lock, sentence }: { lock: keyof typeof LOCKS; sentence: string },
  work: () => Promise<T>,
): Promise<T> {
  const holder = await pool.connect()
  let isHeld = false
  // A lost connection is no reason to end: what is written does not go through it.
  holder.on('error', () => {})
  try {
    const { rows } = await holder.query('select pg_try_advisory_lock($1) as is_mine', [LOCKS[lock]])
    isHeld = rows[0]?.is_mine === true
    if (!isHeld) throw new ApiError('conflict', sentence)
    return await work()
  } finally {
    // A connection that is lost has lost the lock too.
    if (isHeld) await holder.query('select pg_advisory_unlock($1)', [LOCKS[lock]]).catch(() => {})
    holder.release(true)
  }
}
