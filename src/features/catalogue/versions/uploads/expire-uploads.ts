// Deletes expired uploads with their parts.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { eraseUploads } from './queries.ts'

const EXPIRED_PER_STATEMENT = 1000

/** Deletes the uploads that are expired, longest expired first. */
export async function expireUploads(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'log' | 'metrics'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const erased = await transaction(deps, async (tx) => {
      const due = await tx
        .selectFrom('upload')
        .select(['id', 'received'])
        .where('expires', '<=', new Date(deps.now()))
        .where(sql<boolean>`coalesce(lease_until < clock_timestamp(), true)`)
        .orderBy('expires')
        .limit(EXPIRED_PER_STATEMENT)
        .forUpdate()
        .skipLocked()
        .execute()
      const ids = due.map(({ id }) => id)
      await eraseUploads(tx, ids)
      return due
    })
    for (const { id, received } of erased) recordEvent(deps, 'upload.expired', { upload_id: id, bytes: received })
    if (erased.length < EXPIRED_PER_STATEMENT) return
  }
}
