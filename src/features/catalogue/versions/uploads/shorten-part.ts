// Removes bytes of parts that no request has accepted: they would count in no quota.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

type ShorteningDeps = Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'files'>

const UPLOADS_PER_STATEMENT = 100

/**
 * Removes the bytes of a part beyond its recorded size. Only the request with the lease of the upload calls it, or one whose
 * part nobody extends any more. The lock waits for a commit whose result the request does not know.
 */
export async function shortenPart(deps: ShorteningDeps, key: string): Promise<void> {
  const { extensible } = deps.files
  if (extensible === undefined) return
  await transaction(deps, async (tx) => {
    const part = tx.selectFrom('upload_part').select('size_bytes').where('storage_key', '=', key)
    const row = await part.forUpdate().executeTakeFirst()
    if (row !== undefined) await extensible.shorten({ key, at: row.size_bytes })
  })
}

/** Ends the leases of processes that have stopped while they wrote, and removes what they wrote without recording it. */
export async function shortenAbandonedParts(deps: ShorteningDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const keys = await transaction(deps, async (tx) => {
      const abandoned = await tx
        .selectFrom('upload')
        .select('id')
        .where('lease', 'is not', null)
        .where(sql<boolean>`lease_until < clock_timestamp()`)
        .limit(UPLOADS_PER_STATEMENT)
        .forUpdate()
        .skipLocked()
        .execute()
      const ids = abandoned.map(({ id }) => id)
      if (ids.length === 0) return undefined
      await tx.updateTable('upload').set({ lease: null, lease_until: null }).where('id', 'in', ids).execute()
      // The process might be slow instead of stopped, so that no other request may extend its part.
      const parts = tx.updateTable('upload_part').set({ sealed: true }).where('upload_id', 'in', ids)
      return parts.returning('storage_key').execute()
    })
    if (keys === undefined) return
    for (const { storage_key } of keys) await shortenPart(deps, storage_key)
  }
}
