import { sql } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import type { StoredBytes } from '#ports/files/files.ts'

type StoreDeps = Pick<Deps, 'db' | 'cache' | 'files'>

/** Bytes before rows, for many at once: `storeBytes`, then `writeRows`. */
export async function storeFirst(
  deps: StoreDeps,
  bytes: readonly StoredBytes[],
  write: (tx: Tx, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  await writeRows(deps, await storeBytes(deps, bytes), write)
}

/**
 * Puts all bytes into the store and returns their keys. What a run that is cut off leaves in the store is removed later,
 * unless another run takes it up.
 */
export async function storeBytes(deps: StoreDeps, bytes: readonly StoredBytes[]): Promise<string[]> {
  const keys = bytes.map(({ key }) => key)
  await sql`insert into upload_claim (storage_key) select unnest(${keys}::text[])
    on conflict (storage_key) do update set created = now()`.execute(deps.db)
  await deps.files.putAll(bytes)
  await deps.files.flush()
  return keys
}

/** Runs `write` in a transaction, which then holds the files of these keys. */
export async function writeRows(
  deps: StoreDeps,
  keys: readonly string[],
  write: (tx: Tx, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await write(tx, changed)
    await dropClaims(tx, keys)
  })
}
