import { sql } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import type { StoredBytes } from '#ports/files/files.ts'

/**
 * Stores files, then writes their rows. If a run is interrupted, its files are removed later, unless another run uses them.
 */
export async function storeFirst(
  deps: Pick<Deps, 'db' | 'cache' | 'files'>,
  bytes: readonly StoredBytes[],
  write: (tx: Tx, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  const keys = bytes.map(({ key }) => key)
  await sql`insert into upload_claim (storage_key) select unnest(${keys}::text[])
    on conflict (storage_key) do update set created = now()`.execute(deps.db)
  await deps.files.putAll(bytes)
  await deps.files.flush()
  await transaction(deps, async (tx, changed) => {
    await write(tx, changed)
    await dropClaims(tx, keys)
  })
}
