// `depot move files`: copies every file that rows name into another store. The old store stays as it is.

import { OperatorError } from '#lib/operator-error.ts'
import type { Deps } from '#ports/deps.ts'
import type { Files } from '#ports/files/files.ts'
import { contentTypeOf } from '../restore-files.ts'
import { connectAlone } from '../rows.ts'
import { countStoredKeys, type StoredKey, storedKeys } from '../stored-keys.ts'

export type MoveReport = {
  /** Files that were copied now. */
  copied: number
  /** Files that the new store had already, with the same size. */
  present: number
  bytes: number
  /** Keys that rows name and the old store lacks. */
  missing: string[]
}

const CONCURRENCY = 4
const MISSING_MAX = 1_000

/**
 * Files never change under their key, so it may run beside a server, and again afterwards for what came meanwhile. The
 * bytes are held against the hash in their row on the way, and their size against that in the new store.
 * @throws OperatorError when bytes are not those of their row; what the stores throw.
 */
export async function moveFiles(
  deps: Pick<Deps, 'pool' | 'files' | 'config'>,
  target: Files,
  { onProgress }: { onProgress?: (done: number, total: number) => void } = {},
): Promise<MoveReport> {
  const report: MoveReport = { copied: 0, present: 0, bytes: 0, missing: [] }
  const client = await connectAlone(deps.pool, 'depot-move')
  const running = new Set<Promise<void>>()
  try {
    await client.query('begin isolation level repeatable read read only')
    const total = await countStoredKeys(client, deps.config.files.baseUrl)
    let done = 0
    for await (const stored of storedKeys(client, deps.config.files.baseUrl)) {
      const work: Promise<void> = moveFile(deps.files, target, stored)
        .then((outcome) => {
          if (outcome === 'present') report.present += 1
          else if (outcome !== 'missing') {
            report.copied += 1
            report.bytes += outcome
          } else if (!stored.isUnderWay && report.missing.length < MISSING_MAX) report.missing.push(stored.key)
          done += 1
          onProgress?.(done, total)
        })
        .finally(() => running.delete(work))
      work.catch(() => undefined)
      running.add(work)
      if (running.size >= CONCURRENCY) await Promise.race(running)
    }
    await Promise.all(running)
    return report
  } finally {
    await Promise.allSettled(running)
    await client.end()
  }
}

/** How many bytes were copied, or why none were. */
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
        `The file ${key} is not what its row says; \`depot verify\` lists all such files. The old store is as it was.`,
      )
    }
    await target.publish(staged, key, { contentType: contentTypeOf(key) })
  } finally {
    await target.discard(staged)
  }
  const stat = await target.stat(key)
  if (stat?.sizeBytes === opened.sizeBytes) return opened.sizeBytes
  throw new OperatorError(`The new store does not have the file ${key} that was written just now`)
}
