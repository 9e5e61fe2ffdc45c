// What can be known before anything starts: whether the address is free, the folder usable, named files there.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'
import type { Config } from '#platform/config/config.ts'
import { type FolderLock, tryLockFolder } from '#platform/db/folder-lock.ts'

/** @throws OperatorError in one sentence for the first thing that would stop the start later. */
export async function checkBeforeStart(config: Config, { listens }: { listens: boolean }): Promise<void> {
  openDataFolder(config.dataDir)
  if (config.scanner.kind === 'command') checkProgram(config.scanner.words[0] ?? '')
  const { geoipDatabase } = config.analytics
  if (geoipDatabase !== undefined) checkReadable(geoipDatabase)
  const { host, port } = config.http
  if (listens) await freePort(host, port).catch((cause: unknown) => Promise.reject(cannotListen(cause, host, port)))
}

/** Makes the folder of everything Depot keeps. @throws OperatorError when it cannot be used, saying why. */
export function openDataFolder(dataDir: string): void {
  try {
    if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new Error('it is a file, and must be a folder')
    // Others may pass through root's, to reach the database.
    mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const reasons: Record<string, string> = {
      EACCES: 'this user may not read and write it',
      EPERM: 'this user may not read and write it',
      EROFS: 'it is on a file system that cannot be written to',
      ENOTDIR: 'a part of its path is a file',
    }
    const reason = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
    throw new OperatorError(`Depot cannot use the data folder ${dataDir} (DATA_DIR): ${reason}`, { cause })
  }
}

/**
 * The right to answer requests with the analytics of a data folder, which one process has at a time.
 * @throws OperatorError when another one has it.
 */
export function holdAnalytics({ analytics }: Pick<Config, 'analytics'>): FolderLock | undefined {
  if (analytics.store.kind !== 'embedded') return undefined
  const { folder } = analytics.store
  mkdirSync(folder, { recursive: true })
  const lock = tryLockFolder(folder)
  if (lock !== undefined) return lock
  throw new OperatorError(
    `Another Depot answers requests with the data folder ${join(folder, '..')}, whose analytics one process holds at a ` +
      'time: give this one a DATA_DIR of its own, set CLICKHOUSE_URL for both, or start it with --role worker',
  )
}

function checkProgram(program: string): void {
  if (!program.includes('/')) return
  try {
    accessSync(program, constants.X_OK)
  } catch (cause) {
    throw new OperatorError(`The program ${program} (SCANNER_COMMAND) is not there or cannot be run`, { cause })
  }
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw new OperatorError(`The address database ${path} (GEOIP_DATABASE) cannot be read`, { cause })
  }
}

/** A port that nobody listens on: `port`, or any for 0. */
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

/** The sentence for an address that cannot be listened on, or the error itself. */
export function cannotListen(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const reason = {
    EADDRINUSE: 'another program listens there; set PORT to another one, or 0 for any that is free',
    EADDRNOTAVAIL: 'HOST is no address of this machine',
    EACCES: 'this user may not use that port',
    ENOTFOUND: 'HOST is no name that is known here',
  }[String(code)]
  if (reason === undefined) return cause
  return new OperatorError(`Depot cannot listen on ${host}, port ${port}: ${reason}`, { cause })
}
