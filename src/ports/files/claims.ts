// Stores files before the transaction that inserts their rows. A claim names each file until then, so that a failed
// transaction or a killed process leaves no file without an owner.

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from './files.ts'

/** Maximum number of claims per statement. */
const BATCH = 1000

export type Stored = { storageKey: string; staged: StagedFile; contentType: string }

export type ClaimDeps = Pick<Deps, 'db' | 'files' | 'log' | 'dryRun'>

/** `withClaims` for the files of versions. */
export function withStoredFiles<T>(deps: ClaimDeps, stored: readonly Stored[], commit: () => Promise<T>): Promise<T> {
  const keys = stored.map(({ storageKey }) => storageKey)
  return withClaims(deps, { keys, store: () => publishFiles(deps.files, stored), commit })
}

export async function publishFiles(files: Deps['files'], stored: readonly Stored[]): Promise<void> {
  for (const { staged, storageKey, contentType } of stored) await files.publish(staged, storageKey, { contentType })
}

/**
 * Claims `keys`, runs `store`, then `commit`, which must call `dropClaims` in its transaction. Removes the files on failure.
 * A dry run stores nothing.
 */
export async function withClaims<T>(
  { db, files, log, dryRun }: ClaimDeps,
  { keys, store, commit }: { keys: readonly string[]; store: () => Promise<void>; commit: () => Promise<T> },
): Promise<T> {
  if (keys.length === 0 || dryRun !== undefined) return commit()
  await db
    .insertInto('upload_claim')
    .values(keys.map((storage_key) => ({ storage_key })))
    .execute()
  try {
    await store()
    return await commit()
  } catch (error) {
    // The commit can have succeeded although its response was lost. Files without a claim then have an owner.
    await removeClaimed({ db, files }, sql`storage_key = any(${keys}::text[])`).catch((cause) =>
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

/** Removes all claimed files, also recent ones. The instance must not be in use. */
export async function removeClaimedFiles(deps: Pick<Deps, 'db' | 'files'>): Promise<void> {
  await removeClaimed(deps, sql`true`)
}

/** Removes files that killed processes left in the store. An upload is committed at most 6 hours after its claim. */
export async function sweepClaims(deps: Pick<Deps, 'db' | 'files'>): Promise<void> {
  await removeClaimed(deps, sql`created < now() - interval '6 hours'`)
}

/** Removes the files of these claims, and the claims. */
async function removeClaimed({ db, files }: Pick<Deps, 'db' | 'files'>, which: RawBuilder<SqlBool>): Promise<void> {
  for (;;) {
    const rows = await db.selectFrom('upload_claim').select('storage_key').where(which).limit(BATCH).execute()
    if (rows.length === 0) return
    const keys = rows.map(({ storage_key }) => storage_key)
    for (const key of keys) await files.remove(key)
    await db.deleteFrom('upload_claim').where('storage_key', 'in', keys).execute()
  }
}
