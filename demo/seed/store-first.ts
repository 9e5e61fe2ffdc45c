import { sql } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import type { StoredBytes } from '#ports/files/files.ts'

type StoreDeps = Pick<Deps, 'db' | 'cache' | 'files'>

/** Stores files, then writes their rows. */
export async function storeFirst(
  deps: StoreDeps,
  bytes: readonly StoredBytes[],
  write: (tx: Tx, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  await writeRows(deps, await storeBytes(deps, bytes), write)
}

/**
 * Stores files and returns their keys. If a run is interrupted, its files are removed later, unless another run uses
 * them.
 */
export async function storeBytes(deps: StoreDeps, bytes: readonly StoredBytes[]): Promise<string[]> {
  const keys = bytes.map(({ key }) => key)
  await sql`insert into upload_claim (storage_key) select unnest(${keys}::text[])
    on conflict (storage_key) do update set created = now()`.execute(deps.db)
  await deps.files.putAll(bytes)
  await deps.files.flush()
  return keys
}

/** Runs `write` in a transaction that also drops the claims on these keys. */
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
