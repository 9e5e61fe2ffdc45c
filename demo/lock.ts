// The lock between the commands and jobs that write or remove the demo, because two runs would write the same rows.

import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'

/** Key of an advisory lock that nothing else uses. */
const LOCK = 7_300_424

/** Runs `work` while it holds the lock. @throws ApiError `conflict` if another process holds the lock. */
export async function withDemoLock<T>({ pool }: Pick<Deps, 'pool'>, work: () => Promise<T>): Promise<T> {
  const holder = await pool.connect()
  // A lost connection must not end the process; the writes use other connections.
  holder.on('error', () => {})
  try {
    const { rows } = await holder.query('select pg_try_advisory_lock($1) as is_mine', [LOCK])
    if (rows[0]?.is_mine === true) return await work()
    throw new ApiError(
      'conflict',
      'Another command is writing or removing the demo catalogue, or the server its events. Try again in a moment.',
    )
  } finally {
    // The lock ends with its connection.
    await holder.query('select pg_advisory_unlock_all()').catch(() => {})
    holder.release(true)
  }
}
