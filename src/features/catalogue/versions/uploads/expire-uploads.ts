// Deletes expired uploads with their parts.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { eraseUploads } from './queries.ts'

const EXPIRED_PER_STATEMENT = 1000

/** Deletes the uploads that are expired, longest expired first. */
export async function expireUploads(deps: Pick<Deps, 'db' | 'cache' | 'now'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const erased = await transaction(deps, async (tx) => {
      const due = await tx
        .selectFrom('upload')
        .select('id')
        .where('expires', '<=', new Date(deps.now()))
        .where(sql<boolean>`coalesce(lease_until < clock_timestamp(), true)`)
        .orderBy('expires')
        .limit(EXPIRED_PER_STATEMENT)
        .forUpdate()
        .skipLocked()
        .execute()
      return eraseUploads(
        tx,
        due.map(({ id }) => id),
      )
    })
    if (erased < EXPIRED_PER_STATEMENT) return
  }
}
