// Removals wait while a backup runs: the files of its snapshot stay until they are copied, whatever is deleted meanwhile.
import { sql } from 'kysely'
import type pg from 'pg'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/** Removals hold this lock together, a backup alone. It ends with its connection, so a killed backup holds nothing. */
const LOCK = 7_300_425
const AGAIN_AFTER_MS = 10_000

/** Removes stored files that no row names any more; later, while a backup holds them. */
export async function removeUnlessHeld(
  { db, files }: Pick<Deps, 'db' | 'files'>,
  keys: readonly string[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ free: boolean }>`select pg_try_advisory_xact_lock_shared(${LOCK}) as free`.execute(tx)
    if (rows[0]?.free === true) {
      for (const key of keys) await files.remove(key)
    } else {
      // Not a failed attempt: a backup may take longer than attempts last.
      await enqueue(tx, 'files.remove', { keys: [...keys] }, { runAt: new Date(Date.now() + AGAIN_AFTER_MS) })
    }
  })
}

/** Waits for removals under way and keeps others from beginning, for as long as this connection lasts. */
export async function holdRemovals(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [LOCK])
}
