// Where a process keeps its index between two runs, and up to which moment that index has followed the database.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { type FolderLock, tryLockFolder } from '#platform/db/folder-lock.ts'
import { type IndexLease, SavedState } from './index-lease.ts'

/** Processes on one machine that share a data folder have a folder each: as many as may run side by side. */
const FOLDERS_MAX = 64

/** `snapshotFile` is the index itself. */
export type IndexFolder = IndexLease & { snapshotFile: string }

/**
 * Takes the first folder below `root` that no running process has. A lock of the kernel holds it, so that a killed
 * process leaves its folder to the next one.
 * @returns undefined when all of the first `count` are taken.
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
      // The next try may have this folder again.
      lock.release()
      throw error
    }
    return makeIndexFolder(folder, lock)
  }
  return undefined
}

/** What a process that was killed had half written. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder)
  const halves = names.filter((name) => /^(?:index|followed\.json)\..+/.test(name))
  for (const name of halves) await rm(join(folder, name), { force: true })
}

function makeIndexFolder(folder: string, lock: FolderLock): IndexFolder {
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
