// The embedded database: a real PostgreSQL that Depot brings along and runs itself, for one data folder.
import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type FolderLock,
  type Holder,
  readLiveOwner,
  readOwner,
  removeOwner,
  tryLockFolder,
  writeOwner,
} from '#platform/db/folder-lock.ts'
import { findPostgresPackage, runnableBinaries } from './binaries.ts'
import { checkVersion, createCluster, DATABASE, ROLE, removeUnfinished } from './cluster.ts'
import { makeSocketDir, PORT, recordLocation, removeSocketDir, resolveLocation } from './location.ts'
import { endOrphan } from './orphan.ts'
import { type EmbeddedLog, type PostgresExit, startPostmaster } from './postmaster.ts'
import { EmbeddedPostgresError, systemCode } from './start-error.ts'

export type EmbeddedPostgresOptions = {
  /** The folder of everything Depot keeps; made when it is not there. */
  dataDir: string
  /** A `server` wants the database for itself; a `command` joins a running server, or runs the database alone. */
  holder: Holder
  log: EmbeddedLog
  /** For how long to wait for a holder that is about to end. */
  waitMs?: number
  maxConnections?: number
  /** PostgreSQL settings over Depot's own; a test may switch `fsync` off. */
  settings?: Readonly<Record<string, string>>
  /** Where root keeps what PostgreSQL's unprivileged user cannot reach in the data folder or the installation. */
  systemDir?: string
}

export type EmbeddedPostgres = {
  /** For `new Pool()`; the superuser `depot` of the database `depot`. */
  connection: { host: string; port: number; user: string; database: string }
  /** The same as one text. */
  connectionString: string
  /** Where its data is; undefined when joined. */
  folder?: string
  /** False when the database belongs to a running server of another process. */
  owned: boolean
  /** Settles when an owned PostgreSQL is gone, `expected` when by `stop`; never for a joined one. */
  exited: Promise<PostgresExit>
  /** Idempotent; does nothing when joined. Close every pool first: open connections are cut. Takes at most 25 s. */
  stop(): Promise<void>
}

const POLL_MS = 20

/**
 * Starts the PostgreSQL of a data folder, making it first when there is none, or joins the one that a server runs.
 * At most one process owns it. What an earlier, killed owner left running is stopped; PostgreSQL recovers its data.
 * @throws EmbeddedPostgresError with a sentence for the operator in every foreseeable case: a second server, a holder
 * that does not end within `waitMs`, a folder that cannot be used, a full disk, no PostgreSQL for this platform.
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
      if (owner?.holder === 'server' && holder === 'server') {
        throw new EmbeddedPostgresError(
          `Depot is already running on this data folder (process ${owner.pid}): ${dataDir}`,
        )
      }
      if (owner?.holder === 'server' && owner.ready && owner.socketDir !== undefined) return joined(owner.socketDir)
      if (performance.now() >= deadline) {
        const who = owner === undefined ? 'another process' : `a Depot ${owner.holder} (process ${owner.pid})`
        throw new EmbeddedPostgresError(`The data folder is still in use by ${who} after ${waitMs} ms: ${dataDir}`)
      }
      await delay(POLL_MS)
    }
  } catch (error) {
    if (systemCode(error) === undefined || !(error instanceof Error)) throw error
    throw new EmbeddedPostgresError(`Depot cannot use the data folder ${options.dataDir}: ${error.message}`, {
      cause: error,
    })
  }
}

/** Makes the folder if needed and returns its one true path. Others may pass through root's, to reach the database. */
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
  const { holder, log, maxConnections = 100, settings } = options
  const startedAt = performance.now()
  // What has been done is undone in reverse, by `stop` or by a failure on the way.
  await using undo = new AsyncDisposableStack()
  undo.defer(() => lock.release())
  const before = readOwner(dataDir)
  writeOwner(dataDir, { pid: process.pid, holder, ready: false })
  undo.defer(() => removeOwner(dataDir))

  const { place, binDir, isNew } = await prepare(options, dataDir)
  if (before?.socketDir !== undefined) removeSocketDir(place, before.socketDir)
  const socketDir = makeSocketDir(place)
  undo.defer(() => removeSocketDir(place, socketDir))
  // Known to the next owner even if this one is killed at once.
  writeOwner(dataDir, { pid: process.pid, holder, socketDir, ready: false })
  const allSettings = { max_connections: String(maxConnections), ...settings }
  const postmaster = await startPostmaster({ binDir, place, socketDir, log, settings: allSettings })
  undo.defer(() => postmaster.stop())
  writeOwner(dataDir, { pid: process.pid, holder, socketDir, ready: true })
  // First of all the note goes: from then on others wait for the lock instead of joining a database about to end.
  undo.defer(() => removeOwner(dataDir))

  const startMs = Math.round(performance.now() - startedAt)
  const fields = { pid: postmaster.pid, folder: place.clusterDir, start_ms: startMs, is_new: isNew }
  log.info({ postgres: fields }, `Started PostgreSQL in ${startMs} ms on ${place.clusterDir}`)
  postmaster.exited.then(({ expected, description }) => {
    if (!expected) log.error({ postgres: fields }, `PostgreSQL ended by itself: ${description}`)
  }, undefined)
  const kept = undo.move()
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= kept.disposeAsync()
    return stopped
  }
  return { ...addressOf(socketDir), folder: place.clusterDir, owned: true, exited: postmaster.exited, stop }
}

/** Everything before PostgreSQL itself: its folder free of other servers and filled, its programs ready to run. */
async function prepare(options: EmbeddedPostgresOptions, dataDir: string) {
  const { log, systemDir = '/var/lib/depot' } = options
  const postgres = await findPostgresPackage()
  const place = resolveLocation(dataDir, systemDir)
  const isNew = !existsSync(place.clusterDir)
  removeUnfinished(place)
  if (!isNew) {
    checkVersion(place.clusterDir, postgres.major)
    await endOrphan(place.clusterDir, (pid) => {
      log.warn({ postgres: { pid } }, `Stopping the PostgreSQL of a Depot that was killed (process ${pid})`)
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
