// Opens everything a process needs: the database, then the ports, then `Deps`. Closing happens in reverse order.
import type { LogEvent } from 'kysely'
import { readMirrorState } from '#features/operations/mirror/mirror-state.ts'
import { backupAgeMs, readBackupState } from '#features/operations/overview/backups/backup-age.ts'
import { diskSpace } from '#features/operations/overview/storage/disk.ts'
import type { Config } from '#platform/config/config.ts'
import { commitId, VERSION } from '#platform/config/version.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { observeBackups, observeDisk, observeMirrors } from '#platform/telemetry/observe.ts'
import { startTraces } from '#platform/telemetry/traces.ts'
import { type EventBuffer, type EventSink, unlessAborted } from '#ports/analytics-store/buffer.ts'
import type { Deps } from '#ports/deps.ts'
import { verifyAnalytics } from './open-analytics.ts'
import { type Connections, connectionsOf, type Database, openDatabase } from './open-database.ts'
import { type LocalPorts, openLocalPorts, openSharedPorts, type PortNeeds, type SharedPorts } from './open-ports.ts'
import { checkSearchEngine } from './open-search.ts'
import { openDataFolder } from './preflight.ts'
import { NO_PEERS, type PeerProcesses } from './processes/peer-processes.ts'
import { startDatabase } from './start-database.ts'

export type ProcessOptions = {
  config: Config
  log: Log
  /** The other processes of the same server. */
  peers?: PeerProcesses
  now?: () => number
  /** Hooks for tests. */
  test?: {
    /** Called for every statement that goes to the database. */
    onQuery: (event: LogEvent) => void
    poolSize: number
    cacheBytes: number
  }
}

export type BootOptions = ProcessOptions & {
  /** A `server` owns the embedded database and the embedded engines; a `command` works with or without a server. */
  mode: 'server' | 'command'
  /** The result of `startDatabase`, if the caller has called it. */
  starting?: Promise<EmbeddedPostgres | undefined>
}

export type Booted = Pick<Database, 'listen'> & {
  deps: Deps
  connections: Connections
  /** Undefined with DATABASE_URL, and in an HTTP process of several. */
  embedded: EmbeddedPostgres | undefined
  /** The event buffer of this process only, and the sink for batches of all processes. */
  events: EventBuffer
  sink: EventSink
  /** Opens the analytics store before the first query. Never rejects. */
  warmAnalytics(): Promise<void>
  /** Settles if the embedded database ends unexpectedly; the process must end then, too. */
  databaseLost: Promise<void>
  close(): Promise<void>
}

const POOL_SIZE = 16

/** Opens a process. If anything fails, closes what was opened. */
export function boot({ mode, starting, ...options }: BootOptions): Promise<Booted> {
  return openOrClose(async (resources) => {
    const { config, test, peers = NO_PEERS } = options
    const base = await openBase(options, mode, resources)
    const embedded = await (starting ?? startDatabase(base, mode))
    resources.defer(async () => embedded?.stop())
    const connections = connectionsOf(config, embedded)
    const poolSize = test?.poolSize ?? POOL_SIZE
    const database = openDatabase(base, { ...test, connections, poolSize, peers }, resources)
    if (mode === 'server') await checkEngines({ ...base, ...database })
    const ports = await openPorts({ ...base, ...database }, mode, resources)
    return wire({ base, database, ports, peers, connections, embedded }, resources)
  })
}

/** Runs `open`, and if it fails, closes what it has opened. */
export async function openOrClose<T>(open: (resources: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const resources = new AsyncDisposableStack()
  try {
    return await open(resources)
  } catch (error) {
    await closeAll(resources)
    throw error
  }
}

type Base = Pick<Deps, 'config' | 'log' | 'metrics' | 'now'>

/** Opens what everything else reports to: the data folder, traces and metrics. */
export async function openBase(
  { config, log, peers, now = Date.now, test }: ProcessOptions,
  mode: 'server' | 'command',
  resources: AsyncDisposableStack,
): Promise<Base> {
  openDataFolder(config)
  if (mode === 'server') resources.defer(await startTraces({ ...config.traces, version: VERSION }, log))
  // prom-client collects the metrics of a process once, so only a server that is alone in its process can have them.
  const metrics = createMetrics({ process: mode === 'server' && test === undefined, ofAll: peers?.metrics })
  observeDisk(metrics, () => diskSpace(config.dataDir))
  metrics.build.set({ version: VERSION, commit: commitId() ?? 'unknown' }, 1)
  return { config, log, metrics, now }
}

/** @throws OperatorError if an engine rejects the settings. An engine that does not respond is only logged. */
async function checkEngines({ config, log, checkPooler }: PortNeeds): Promise<void> {
  await checkPooler()
  await verifyAnalytics({ config, log })
  await checkSearchEngine({ config, log })
}

type Ports = LocalPorts & SharedPorts

async function openPorts(
  needs: PortNeeds,
  mode: 'server' | 'command',
  resources: AsyncDisposableStack,
): Promise<Ports> {
  const local = await openLocalPorts(needs, resources)
  const shared = await openSharedPorts({ ...needs, ...local }, mode, resources)
  return { ...local, ...shared }
}

type Parts = Pick<Booted, 'connections' | 'embedded'> & {
  base: Base
  database: Database
  ports: Ports
  peers: PeerProcesses
}

export function wire(
  { base, database, ports, peers, connections, embedded }: Parts,
  resources: AsyncDisposableStack,
): Booted {
  const { pool, db, dbRead, cache, listen } = database
  const { events, sink, warmUp, ...rest } = ports
  const { metrics, config, now } = base
  const minutes = config.backup.target?.everyMinutes
  observeBackups(metrics, {
    intervalSeconds: minutes === undefined ? undefined : minutes * 60,
    ageSeconds: async () => backupAgeMs(await readBackupState(db), now()) / 1000,
  })
  observeMirrors(metrics, () => readMirrorState(db, now()))
  return {
    deps: { ...base, pool, db, dbRead, cache, ...rest, events: flushingPeers(events, peers) },
    connections,
    embedded,
    events,
    sink,
    listen,
    warmAnalytics: warmUp,
    databaseLost: whenLost(embedded),
    close: () => closeAll(resources),
  }
}

/** A query for events includes the events that any process has accepted. */
function flushingPeers(events: EventBuffer, peers: PeerProcesses): EventBuffer {
  return {
    ...events,
    async flush(signal) {
      const others = peers.flushEvents()
      await Promise.all([events.flush(signal), signal === undefined ? others : unlessAborted(others, signal)])
    },
  }
}

async function whenLost(embedded: EmbeddedPostgres | undefined): Promise<void> {
  const exit = await embedded?.exited
  if (exit?.expected !== false) await new Promise(() => {})
}

/** A resource that fails to close must not keep the others open. */
const closeAll = (resources: AsyncDisposableStack): Promise<void> => resources.disposeAsync().catch(() => undefined)
