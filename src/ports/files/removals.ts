// Delays removals while a backup runs, so that the files of its database snapshot exist until they are copied.
import { sql } from 'kysely'
import type pg from 'pg'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/** Lock that removals share and a backup holds exclusively. It ends with the connection, also of a killed backup. */
const LOCK = 7_300_425
const AGAIN_AFTER_MS = 10_000

/** Removes stored files that no row names, or enqueues the removal again while a backup runs. */
export async function removeUnlessHeld(
  { db, files }: Pick<Deps, 'db' | 'files'>,
  keys: readonly string[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ free: boolean }>`select pg_try_advisory_xact_lock_shared(${LOCK}) as free`.execute(tx)
    if (rows[0]?.free === true) {
      for (const key of keys) await files.remove(key)
    } else {
      // A new job, because a backup can take longer than the retries of a failed one.
      await enqueue(tx, 'files.remove', { keys: [...keys] }, { runAt: new Date(Date.now() + AGAIN_AFTER_MS) })
    }
  })
}

/** Waits for running removals and blocks new ones until the connection ends. */
export async function holdRemovals(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [LOCK])
}
