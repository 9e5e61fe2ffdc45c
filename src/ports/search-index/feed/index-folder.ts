// The folder in which a process stores its index and the state of its feed between two runs.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { type FolderLock, tryLockFolder } from '#platform/db/folder-lock.ts'
import { type IndexLease, SavedState } from './index-lease.ts'

/** Maximum number of processes that share a data folder. Each has a separate folder. */
const FOLDERS_MAX = 64

export type IndexFolder = IndexLease & { snapshotFile: string }

/**
 * Locks the first folder below `root` that no running process uses. The kernel releases the lock of a killed process.
 * Returns undefined if the first `count` folders are in use.
 */
export async function acquireIndexFolder(root: string, count: number = FOLDERS_MAX): Promise<IndexFolder | undefined> {
  for (let number = 0; number < count; number += 1) {
    const folder = join(root, String(number))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const lock = tryLockFolder(folder)
    if (lock === undefined) continue
    try {
      await removeLeftovers(folder)
    } catch (error) {
      // The next attempt can use this folder again.
      lock.release()
      throw error
    }
    return createIndexFolder(folder, lock)
  }
  return undefined
}

/** Removes incomplete files of a killed process. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder)
  const leftovers = names.filter((name) => /^(?:index|followed\.json)\..+/.test(name))
  for (const name of leftovers) await rm(join(folder, name), { force: true })
}

function createIndexFolder(folder: string, lock: FolderLock): IndexFolder {
  const file = join(folder, 'followed.json')
  return {
    snapshotFile: join(folder, 'index'),
    async readState() {
      try {
        const value: unknown = JSON.parse(await readFile(file, 'utf8'))
        return Value.Check(SavedState, value) ? value : undefined
      } catch {
        return undefined
      }
    },
    async writeState(state) {
      const temporary = `${file}.${randomUUID()}`
      try {
        await writeFile(temporary, `${JSON.stringify(state)}\n`, { mode: 0o600, flush: true })
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    isLost: () => false,
    check: async () => undefined,
    release: async () => lock.release(),
  }
}
