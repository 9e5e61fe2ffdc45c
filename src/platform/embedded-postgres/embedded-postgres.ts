// Runs the embedded database of a data folder: a PostgreSQL server that Depot includes and starts.
import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError, systemCode } from '#lib/operator-error.ts'
import {
  type FolderLock,
  type Holder,
  readLiveOwner,
  readOwner,
  removeOwner,
  tryLockFolder,
  writeOwner,
} from '#platform/db/folder-lock.ts'
import { findFormerPackage, findPostgresPackage, runnableBinaries } from './binaries.ts'
import { checkVersion, createCluster, DATABASE, ROLE, removeUnfinished } from './cluster.ts'
import { makeSocketDir, PORT, recordLocation, removeSocketDir, resolveLocation } from './location.ts'
import { endOrphan } from './orphan.ts'
import { type EmbeddedLog, type PostgresExit, startPostmaster } from './postmaster.ts'

export type EmbeddedPostgresOptions = {
  /** Folder of all stored data; created if it does not exist. */
  dataDir: string
  /** A `server` needs exclusive use of the database. A `command` uses the database of a running server, or starts it. */
  holder: Holder
  log: EmbeddedLog
  /** Maximum wait for another process to release the folder, in milliseconds. Default: 15,000 */
  waitMs?: number
  /** Folder of the release of Depot whose PostgreSQL to start. Default: this one */
  former?: string | undefined
  /** PostgreSQL settings that override Depot's defaults. Tests disable `fsync`. */
  settings?: Readonly<Record<string, string>>
  /** Folder for database and programs if Depot runs as root and PostgreSQL's user cannot access their usual folders. */
  systemDir?: string
}

export type EmbeddedPostgres = {
  /** Options for `new Pool()`: the superuser `depot` and the database `depot`. */
  connection: { host: string; port: number; user: string; database: string }
  /** The same options as a URL. */
  connectionString: string
  /** Folder of the database; undefined if another process owns it. */
  folder?: string
  /** Whether this process started the database; false if it uses the database of a running server. */
  owned: boolean
  /** Resolves when an owned PostgreSQL has exited, with `expected` if `stop` caused it. Never resolves if not owned. */
  exited: Promise<PostgresExit>
  /** Stops an owned PostgreSQL within 25 seconds and closes its connections. Idempotent; does nothing if not owned. */
  stop(): Promise<void>
}

const POLL_MS = 20

/**
 * Starts the PostgreSQL of a data folder and creates its database if necessary, or connects to the PostgreSQL of a
 * running server. At most one process owns the database. Stops a PostgreSQL that a killed owner left running.
 * @throws OperatorError if the folder is in use or unusable, or if no PostgreSQL exists for this platform.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { holder, waitMs = 15_000 } = options
  try {
    const dataDir = openDataDir(options.dataDir)
    const deadline = performance.now() + waitMs
    for (;;) {
      const lock = tryLockFolder(dataDir)
      if (lock !== undefined) return await startOwned(options, dataDir, lock)
      const owner = readLiveOwner(dataDir)
      if (owner?.holder === 'server' && holder === 'server')
        throw new OperatorError(`Depot is already running on this data folder (process ${owner.pid}): ${dataDir}`)
      if (owner?.holder === 'server' && owner.ready && owner.socketDir !== undefined) return joined(owner.socketDir)
      if (performance.now() >= deadline) {
        const who = owner === undefined ? 'another process' : `a Depot ${owner.holder} (process ${owner.pid})`
        throw new OperatorError(`The data folder is still in use by ${who} after ${waitMs} ms: ${dataDir}`)
      }
      await delay(POLL_MS)
    }
  } catch (error) {
    if (systemCode(error) === undefined || !(error instanceof Error)) throw error
    throw new OperatorError(`Depot cannot use the data folder ${options.dataDir}: ${error.message}`, { cause: error })
  }
}

/** Creates the folder if necessary and returns its real path. PostgreSQL's user must be able to enter a folder of root. */
function openDataDir(dataDir: string): string {
  mkdirSync(resolve(dataDir), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  return realpathSync(dataDir)
}

function joined(socketDir: string): EmbeddedPostgres {
  return { ...addressOf(socketDir), owned: false, exited: new Promise(() => {}), stop: async () => {} }
}

async function startOwned(
  options: EmbeddedPostgresOptions,
  dataDir: string,
  lock: FolderLock,
): Promise<EmbeddedPostgres> {
  const { holder, log, settings } = options
  const startedAt = performance.now()
  // `stop`, or an error during the start, undoes the steps in reverse order.
  await using undo = new AsyncDisposableStack()
  undo.defer(() => lock.release())
  const before = readOwner(dataDir)
  writeOwner(dataDir, { pid: process.pid, holder, ready: false })
  undo.defer(() => removeOwner(dataDir))

  const { place, binDir, isNew } = await prepare(options, dataDir)
  if (before?.socketDir !== undefined) removeSocketDir(place, before.socketDir)
  const socketDir = makeSocketDir(place)
  undo.defer(() => removeSocketDir(place, socketDir))
  // Record the folder first, so that the next owner can remove it even if this process is killed.
  writeOwner(dataDir, { pid: process.pid, holder, socketDir, ready: false })
  const allSettings = { max_connections: '100', ...settings }
  const postmaster = await startPostmaster({ binDir, place, socketDir, log, settings: allSettings })
  undo.defer(() => postmaster.stop())
  writeOwner(dataDir, { pid: process.pid, holder, socketDir, ready: true })
  // Remove the owner file before PostgreSQL stops, so that other processes wait for the lock instead of connecting.
  undo.defer(() => removeOwner(dataDir))

  const startMs = Math.round(performance.now() - startedAt)
  const fields = { pid: postmaster.pid, folder: place.clusterDir, start_ms: startMs, is_new: isNew }
  log.info({ postgres: fields }, `Started PostgreSQL in ${startMs} ms on ${place.clusterDir}`)
  postmaster.exited.then(({ expected, description }) => {
    if (!expected) log.error({ postgres: fields }, `PostgreSQL exited unexpectedly: ${description}`)
  }, undefined)
  const kept = undo.move()
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= kept.disposeAsync()
    return stopped
  }
  return { ...addressOf(socketDir), folder: place.clusterDir, owned: true, exited: postmaster.exited, stop }
}

/** Finds the programs, stops a leftover server, and creates the cluster if necessary. */
async function prepare(options: EmbeddedPostgresOptions, dataDir: string) {
  const { log, systemDir = '/var/lib/depot', former } = options
  const postgres = former === undefined ? await findPostgresPackage() : await findFormerPackage(former)
  const place = resolveLocation(dataDir, systemDir)
  const isNew = !existsSync(place.clusterDir)
  removeUnfinished(place)
  if (!isNew) {
    checkVersion(place.clusterDir, postgres.major, former)
    await endOrphan(place.clusterDir, (pid) => {
      log.warn({ postgres: { pid } }, `Stopping the PostgreSQL of a killed Depot process (process ${pid})`)
    })
  }
  const copyRoot = place.user === undefined ? dataDir : systemDir
  const binDir = join(await runnableBinaries(postgres, { user: place.user, copyRoot }), 'bin')
  if (isNew) await createCluster(binDir, place)
  recordLocation(dataDir, place)
  return { place, binDir, isNew }
}

function addressOf(host: string): Pick<EmbeddedPostgres, 'connection' | 'connectionString'> {
  return {
    connection: { host, port: PORT, user: ROLE, database: DATABASE },
    connectionString: `postgresql://${ROLE}@localhost:${PORT}/${DATABASE}?host=${encodeURIComponent(host)}`,
  }
}
