// Stores files before the transaction that inserts their rows. A claim names each file until then, so that a failed
// transaction or a killed process leaves no file without an owner.

import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from './files.ts'

type Stored = { storageKey: string; staged: StagedFile; contentType: string }

/** `withClaims` for the files of versions. */
export function withStoredFiles<T>(
  deps: Pick<Deps, 'db' | 'files' | 'log'>,
  stored: readonly Stored[],
  commit: () => Promise<T>,
): Promise<T> {
  const keys = stored.map(({ storageKey }) => storageKey)
  return withClaims(deps, { keys, store: () => publishFiles(deps.files, stored), commit })
}

export async function publishFiles(files: Deps['files'], stored: readonly Stored[]): Promise<void> {
  for (const { staged, storageKey, contentType } of stored) await files.publish(staged, storageKey, { contentType })
}

/** Claims `keys`, runs `store`, then `commit`, which must call `dropClaims` in its transaction. Removes the files on failure. */
export async function withClaims<T>(
  { db, files, log }: Pick<Deps, 'db' | 'files' | 'log'>,
  { keys, store, commit }: { keys: readonly string[]; store: () => Promise<void>; commit: () => Promise<T> },
): Promise<T> {
  if (keys.length === 0) return commit()
  await db
    .insertInto('upload_claim')
    .values(keys.map((storage_key) => ({ storage_key })))
    .execute()
  try {
    await store()
    return await commit()
  } catch (error) {
    await undoUpload({ db, files }, keys).catch((cause) =>
      log.error({ err: cause }, 'Could not remove the files of a failed upload'),
    )
    throw error
  }
}

/** Called in the transaction that inserts the rows, which own the files from then on. */
export async function dropClaims(tx: Tx, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await tx.deleteFrom('upload_claim').where('storage_key', 'in', keys).execute()
}

/** Enqueues the removal of stored files in the transaction that deletes their rows. */
export async function removeLater(tx: Tx, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await enqueue(tx, 'files.remove', { keys: [...keys] })
}

async function undoUpload({ db, files }: Pick<Deps, 'db' | 'files'>, keys: readonly string[]): Promise<void> {
  // The commit can have succeeded although its response was lost. Files without a claim then have an owner.
  const claimed = await db.selectFrom('upload_claim').select('storage_key').where('storage_key', 'in', keys).execute()
  await removeClaimed(
    { db, files },
    claimed.map(({ storage_key }) => storage_key),
  )
}

async function removeClaimed({ db, files }: Pick<Deps, 'db' | 'files'>, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  for (const key of keys) await files.remove(key)
  await db.deleteFrom('upload_claim').where('storage_key', 'in', keys).execute()
}

/** Removes all claimed files, also recent ones. The instance must not be in use. */
export async function removeClaimedFiles(deps: Pick<Deps, 'db' | 'files'>): Promise<void> {
  for (;;) {
    const rows = await deps.db.selectFrom('upload_claim').select('storage_key').limit(SWEEP_MAX).execute()
    if (rows.length === 0) return
    await removeClaimed(
      deps,
      rows.map(({ storage_key }) => storage_key),
    )
  }
}

/** Maximum time from the claim of an upload to its commit. */
const CLAIM_AGE_MAX = '6 hours'
const SWEEP_MAX = 1000

/** Removes files that killed processes left in the store. Returns their number. */
export async function sweepClaims({ db, files }: Pick<Deps, 'db' | 'files'>): Promise<number> {
  const keys = await listStaleClaims(db)
  await removeClaimed({ db, files }, keys)
  return keys.length
}

async function listStaleClaims(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('upload_claim')
    .select('storage_key')
    .where('created', '<', sql<Date>`now() - ${CLAIM_AGE_MAX}::interval`)
    .limit(SWEEP_MAX)
    .execute()
  return rows.map(({ storage_key }) => storage_key)
}
