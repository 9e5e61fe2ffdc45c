// Locks a data folder for one process, and records that process in an owner file. The kernel releases the lock when the
// process ends.
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '#lib/operator-error.ts'

/** Kind of process that owns the lock. */
export type Holder = 'server' | 'command'

/** Content of the owner file. `ready`: the database of this process accepts connections. */
export type Owner = { pid: number; holder: Holder; socketDir?: string; ready: boolean }

export type FolderLock = { release(): void }

const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/**
 * Locks a data folder, or returns undefined if another process (or this one) has locked it.
 *
 * Node.js has no file locks. SQLite's exclusive lock is a kernel lock, which even `kill -9` releases, so that no lock is
 * ever stale. The lock file stays empty, and is never deleted, because a second process could then lock a new file.
 */
export function tryLockFolder(dataDir: string): FolderLock | undefined {
  const path = join(dataDir, 'depot.lock')
  try {
    return lockFile(dataDir, path)
  } catch (error) {
    if (!isDamaged(error)) throw error
    // The file contains no data. Truncate it instead of replacing it: two processes could lock the old and the new file.
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
    throw new OperatorError(`Depot cannot use the lock file in ${dataDir}: ${reason}`, { cause: error })
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

/** Replaces the owner file atomically. Only the process with the lock can call this function. */
export function writeOwner(dataDir: string, owner: Owner): void {
  const temporary = join(dataDir, 'depot-owner.json.new')
  writeFileSync(temporary, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
  renameSync(temporary, ownerFile(dataDir))
}

export function removeOwner(dataDir: string): void {
  rmSync(ownerFile(dataDir), { force: true })
}

/** Returns the owner file, even if its process has ended; undefined if the file is missing or invalid. */
export function readOwner(dataDir: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(ownerFile(dataDir), 'utf8'))
    return isOwner(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the owner file if its process is alive. The file of a dead process remains until the next owner replaces it. */
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
