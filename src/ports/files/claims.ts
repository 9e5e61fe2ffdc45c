// Bytes before rows: files become durable in the store before the transaction that names them, and a claim says so, so
// that neither a refused transaction nor a killed process leaves bytes that nobody owns.

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

/**
 * Puts bytes under `keys` by `store`, runs `commit` (which must drop the claims in its transaction by `dropClaims`),
 * and takes the bytes back when either fails.
 */
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
    await takeBack({ db, files }, keys).catch((cause) =>
      log.error({ err: cause }, 'Refused files could not be removed'),
    )
    throw error
  }
}

/** Part of the transaction that makes the rows: the bytes have an owner now. */
export async function dropClaims(tx: Tx, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await tx.deleteFrom('upload_claim').where('storage_key', 'in', keys).execute()
}

/** Asks for the removal of stored files once the transaction that drops their rows commits. */
export async function removeLater(tx: Tx, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await enqueue(tx, 'files.remove', { keys: [...keys] })
}

async function takeBack({ db, files }: Pick<Deps, 'db' | 'files'>, keys: readonly string[]): Promise<void> {
  // A commit whose answer was lost may have taken place: only what is still claimed has no owner.
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

/** Removes everything that is claimed, whoever claimed it: for an instance that nobody uses. */
export async function takeBackClaimed(deps: Pick<Deps, 'db' | 'files'>): Promise<void> {
  for (;;) {
    const rows = await deps.db.selectFrom('upload_claim').select('storage_key').limit(SWEEP_MAX).execute()
    if (rows.length === 0) return
    await removeClaimed(
      deps,
      rows.map(({ storage_key }) => storage_key),
    )
  }
}

/** An upload takes less than this from its claim to its commit. */
const CLAIM_AGE_MAX = '6 hours'
const SWEEP_MAX = 1000

/** Removes what killed processes left in the store and no row names. Returns how many. */
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
