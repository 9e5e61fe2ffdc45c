// Who holds a data folder: a lock that the kernel drops with its process, and a note that says who that is.
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '#lib/operator-error.ts'

/** A server holds the folder for as long as it runs; a command only for its own short run. */
export type Holder = 'server' | 'command'

/** What the holder tells others about itself; `ready` once its database takes connections. */
export type Owner = { pid: number; holder: Holder; socketDir?: string; ready: boolean }

export type FolderLock = { release(): void }

const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/**
 * Takes the lock of a data folder, or returns undefined when another process (or this one) has it.
 *
 * Node has no file locks of its own, and a file that holds a process id can outlive its process and be stolen by two
 * at once. SQLite's exclusive lock is the kernel's: `kill -9` frees it, and nothing has to be judged stale. The lock
 * file stays empty and is never deleted, because deleting a locked file lets two processes lock two files.
 */
export function tryLockFolder(dataDir: string): FolderLock | undefined {
  const path = join(dataDir, 'depot.lock')
  try {
    return lockFile(dataDir, path)
  } catch (error) {
    if (!isDamaged(error)) throw error
    // Nothing is kept in it. Emptied in place: a new file in its stead could be locked beside the old one.
    truncateSync(path)
    return lockFile(dataDir, path)
  }
}

function lockFile(dataDir: string, path: string): FolderLock | undefined {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('PRAGMA journal_mode = OFF')
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (isBusy(error)) return undefined
    if (isDamaged(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`The lock file in ${dataDir} cannot be used: ${reason}`, { cause: error })
  }
  return {
    release: () => {
      if (file.isOpen) file.close()
    },
  }
}

const isBusy = (error: unknown): boolean => codeOf(error) === SQLITE_BUSY

const isDamaged = (error: unknown): boolean => [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error) ?? 0)

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}

/** Replaces the note as a whole, so that a reader never sees half of it. Only the holder of the lock may call this. */
export function writeOwner(dataDir: string, owner: Owner): void {
  const temporary = join(dataDir, 'depot-owner.json.new')
  writeFileSync(temporary, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
  renameSync(temporary, ownerFile(dataDir))
}

export function removeOwner(dataDir: string): void {
  rmSync(ownerFile(dataDir), { force: true })
}

/** The note as it stands, also when its writer is dead; undefined when there is none or it is not one. */
export function readOwner(dataDir: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(ownerFile(dataDir), 'utf8'))
    return isOwner(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The note, when its writer is alive: a dead writer's note stands until the next holder replaces it. */
export function readLiveOwner(dataDir: string): Owner | undefined {
  const owner = readOwner(dataDir)
  return owner !== undefined && isAlive(owner.pid) ? owner : undefined
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== 'object' || value === null) return false
  const { pid, holder, socketDir, ready } = value as Record<keyof Owner, unknown>
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    (holder === 'server' || holder === 'command') &&
    (socketDir === undefined || typeof socketDir === 'string') &&
    typeof ready === 'boolean'
  )
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function ownerFile(dataDir: string): string {
  return join(dataDir, 'depot-owner.json')
}
