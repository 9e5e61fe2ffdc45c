import { sql } from 'kysely'
import type { ChangeSet } from '#cache/changes.ts'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { dropClaims } from '#files/claims.ts'
import type { StoredBytes } from '#files/files.ts'
import type { Deps } from '#main/deps.ts'

/**
 * Bytes before rows, for many at once: puts all bytes into the store, then runs `write` in a transaction. What a run that
 * is cut off leaves in the store is removed later, unless another run takes it up.
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
