// Checks before the start: the port, the data folder, and the files that the settings name.
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'
import type { Config } from '#platform/config/config.ts'
import { type FolderLock, tryLockFolder } from '#platform/db/folder-lock.ts'
import { makeOpenFolder } from '#platform/embedded-postgres/system-user.ts'

/** @throws OperatorError for the first problem that would fail the start later. */
export async function checkBeforeStart(config: Config, { listens }: { listens: boolean }): Promise<void> {
  openDataFolder(config)
  checkNamedFiles(config)
  const { host, port } = config.http
  if (listens) await freePort(host, port).catch((cause: unknown) => Promise.reject(cannotListen(cause, host, port)))
}

/** @throws OperatorError if Depot cannot use a file that the settings name. */
export function checkNamedFiles({ scanner, analytics: { geoipDatabase } }: Config): void {
  if (scanner.kind === 'command') checkProgram(scanner.words[0] ?? '')
  if (geoipDatabase !== undefined) checkReadable(geoipDatabase)
}

/**
 * Creates the data folder, which only this user can read.
 * @throws OperatorError with the reason if Depot cannot use it.
 */
export function openDataFolder({ dataDir, database }: Pick<Config, 'dataDir' | 'database'>): void {
  usable(dataDir, () => {
    if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new Error('it is a file, not a folder')
    // If root runs Depot, the user of the database must be able to pass through.
    const mode = process.getuid?.() === 0 && database.kind === 'embedded' ? 0o711 : 0o700
    makeOpenFolder(dataDir)
    const found = statSync(dataDir)
    if (found.uid === process.getuid?.() && (found.mode & 0o777) !== mode) chmodSync(dataDir, mode)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  })
}

/** Runs `act`. @throws OperatorError that says why Depot cannot use the data folder, if `act` fails. */
export function usable<T>(dataDir: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const reasons: Record<string, string> = {
      EACCES: 'this user has no permission to read and write it',
      EPERM: 'this user has no permission to read and write it',
      EROFS: 'its file system is read-only',
      ENOTDIR: 'a part of its path is a file',
    }
    const reason = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
    throw new OperatorError(`Depot cannot use the data folder ${dataDir} (DATA_DIR): ${reason}`, { cause })
  }
}

/**
 * Locks the embedded analytics of a data folder, so that only one server uses them.
 * @throws OperatorError if another server has the lock.
 */
export function lockAnalytics({ analytics }: Pick<Config, 'analytics'>): FolderLock | undefined {
  if (analytics.store.kind !== 'embedded') return undefined
  const { folder } = analytics.store
  mkdirSync(folder, { recursive: true })
  const lock = tryLockFolder(folder)
  if (lock !== undefined) return lock
  throw new OperatorError(
    `Another Depot serves requests with the data folder ${join(folder, '..')}, and only one process can use its analytics. ` +
      'Set another DATA_DIR, set CLICKHOUSE_URL for both, or start this one with --role worker',
  )
}

function checkProgram(program: string): void {
  if (!program.includes('/')) return
  try {
    accessSync(program, constants.X_OK)
  } catch (cause) {
    throw new OperatorError(`The program ${program} (SCANNER_COMMAND) does not exist or cannot be executed`, { cause })
  }
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw new OperatorError(`Cannot read the GeoIP database ${path} (GEOIP_DATABASE)`, { cause })
  }
}

/** Returns `port` if it is free, or any free port for 0. */
export async function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, host, () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('No port')),
      )
    })
  })
}

/** Returns an OperatorError that explains why Depot cannot listen, or the error itself. */
export function cannotListen(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const reason = {
    EADDRINUSE: 'another program uses this port; set PORT to another one, or to 0 for any free port',
    EADDRNOTAVAIL: 'HOST is not an address of this machine; set HOST to one of its addresses',
    EACCES: 'this user has no permission to use this port; set PORT to 1024 or higher',
    ENOTFOUND: 'the host name in HOST is unknown; set HOST to an address of this machine',
  }[String(code)]
  if (reason === undefined) return cause
  return new OperatorError(`Depot cannot listen on ${host}, port ${port}: ${reason}`, { cause })
}
