// `depot move files`: copies every file of the database into another store. Does not change the old store.

import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { Files } from '#ports/files/files.ts'
import { contentTypeOf } from '../restore-files.ts'
import { countStoredKeys, type StoredKey, storedKeys } from '../stored-keys.ts'

export type MoveReport = {
  /** Number of files copied by this run. */
  copied: number
  /** Number of files that the new store already had with the same size. */
  present: number
  bytes: number
  /** Keys of files that the old store does not have. */
  missing: string[]
}

const CONCURRENCY = 4
const MISSING_MAX = 1_000

/**
 * Copies the files. Files never change under their key, so this can run while a server runs, and a second run copies the
 * files that were added since. Compares each file with the hash in the database, and its size with the new store.
 * @throws OperatorError if a file does not match the database. Also throws the errors of the stores.
 */
export async function moveFiles(
  deps: Pick<Deps, 'pool' | 'files'>,
  target: Files,
  { onProgress }: { onProgress?: (done: number, total: number) => void } = {},
): Promise<MoveReport> {
  const report: MoveReport = { copied: 0, present: 0, bytes: 0, missing: [] }
  return withConnection(deps.pool, 'depot-move', async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const total = await countStoredKeys(client)
    let done = 0
    const copy = async (stored: StoredKey): Promise<void> => {
      const outcome = await moveFile(deps.files, target, stored)
      if (outcome === 'present') report.present += 1
      else if (outcome !== 'missing') {
        report.copied += 1
        report.bytes += outcome
      } else if (!stored.isUploading && report.missing.length < MISSING_MAX) report.missing.push(stored.key)
      done += 1
      onProgress?.(done, total)
    }
    await forEachConcurrently(storedKeys(client), copy, CONCURRENCY)
    return report
  })
}

/** Copies a file and returns the number of bytes, or the reason why it was not copied. */
async function moveFile(source: Files, target: Files, stored: StoredKey): Promise<number | 'present' | 'missing'> {
  const { key, sha512 } = stored
  const [there, here] = [await target.stat(key), await source.stat(key)]
  if (here === undefined) return 'missing'
  if (there?.sizeBytes === here.sizeBytes) return 'present'
  const opened = await source.open(key)
  if (opened === undefined) return 'missing'
  const staged = await target.stage(opened.stream, { maxBytes: opened.sizeBytes })
  try {
    if (staged.sizeBytes !== opened.sizeBytes || (sha512 !== null && staged.sha512 !== sha512)) {
      throw new OperatorError(
        `The content of the file ${key} does not match the database. Run \`depot doctor --full\` to list all such files. The old store is unchanged.`,
      )
    }
    await target.publish(staged, key, { contentType: contentTypeOf(key) })
  } finally {
    await target.discard(staged)
  }
  const stat = await target.stat(key)
  if (stat?.sizeBytes === opened.sizeBytes) return opened.sizeBytes
  throw new OperatorError(`The new store does not have the file ${key} after it was copied`)
}
