// Opens everything a process needs: the database, then the ports, then `Deps`. Closing happens in reverse order.
import type { LogEvent } from 'kysely'
import { observeMirrors } from '#features/exchange/mirror/mirror-state.ts'
import { observeBackups } from '#features/operation/backup/scheduled/observe-backups.ts'
import { backupAgeMs, readBackupState } from '#features/operation/overview/backups/backup-age.ts'
import { diskSpace } from '#features/operation/overview/storage/disk.ts'
import type { Config } from '#platform/config/config.ts'
import { commitId, VERSION } from '#platform/config/version.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { observeDisk } from '#platform/telemetry/observe.ts'
import { startTraces } from '#platform/telemetry/traces.ts'
import type { Deps } from '#ports/deps.ts'
import { verifyAnalytics } from './open-analytics.ts'
import { connectionsOf, type Database, openDatabase } from './open-database.ts'
import { openPorts, type PortNeeds } from './open-ports.ts'
import { checkSearchEngine } from './open-search.ts'
import { openDataFolder } from './preflight.ts'
import { startDatabase } from './start-database.ts'

export type BootOptions = {
  config: Config
  log: Log
  /** A `server` owns the embedded database and the embedded engines; a `command` works with or without a server. */
  mode: 'server' | 'command'
  /** The result of `startDatabase`, if the caller has called it. */
  starting?: Promise<EmbeddedPostgres | undefined>
  now?: () => number
  /** Hooks for tests. */
  test?: {
    /** Called for every statement that goes to the database. */
    onQuery: (event: LogEvent) => void
    poolSize: number
    cacheBytes: number
  }
}

export type Booted = Pick<Database, 'listen'> & {
  deps: Deps
  /** Undefined with DATABASE_URL. */
  embedded: EmbeddedPostgres | undefined
  /** Opens the analytics store before the first query. Never rejects. */
  warmAnalytics(): Promise<void>
  /** Settles if the embedded database ends unexpectedly; the process must end then, too. */
  databaseLost: Promise<void>
  close(): Promise<void>
}

/** Opens a process. If anything fails, closes what was opened. */
export async function boot(options: BootOptions): Promise<Booted> {
  const { config, mode, starting, test } = options
  const resources = new AsyncDisposableStack()
  try {
    const base = await openBase(options, resources)
    const embedded = await (starting ?? startDatabase(base, mode))
    resources.defer(async () => embedded?.stop())
    const database = openDatabase(base, { ...test, connections: connectionsOf(config, embedded) }, resources)
    const { damage: _, checkPooler: __, listen, ...opened } = database
    if (mode === 'server') await checkEngines({ ...base, ...database })
    const { warmUp, ...ports } = await openPorts({ ...base, ...database }, mode, resources)
    const deps = { ...base, ...opened, ...ports }
    observeInstance(deps)
    return {
      deps,
      embedded,
      listen,
      warmAnalytics: warmUp,
      databaseLost: whenLost(embedded),
      close: () => closeAll(resources),
    }
  } catch (error) {
    await closeAll(resources)
    throw error
  }
}

/** Opens what everything else reports to: the data folder, traces and metrics. */
async function openBase(
  { config, log, mode, now = Date.now, test }: BootOptions,
  resources: AsyncDisposableStack,
): Promise<Pick<Deps, 'config' | 'log' | 'metrics' | 'now'>> {
  openDataFolder(config)
  if (mode === 'server') resources.defer(await startTraces({ ...config.traces, version: VERSION }, log))
  // prom-client collects the metrics of a process once, so only a server that is alone in its process can have them.
  const metrics = createMetrics({ process: mode === 'server' && test === undefined })
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

function observeInstance({ metrics, config, db, now }: Pick<Deps, 'metrics' | 'config' | 'db' | 'now'>): void {
  const minutes = config.backup.target?.everyMinutes
  observeBackups(metrics, {
    intervalSeconds: minutes === undefined ? undefined : minutes * 60,
    ageSeconds: async () => backupAgeMs(await readBackupState(db), now()) / 1000,
  })
  observeMirrors(metrics, { db, now })
}

async function whenLost(embedded: EmbeddedPostgres | undefined): Promise<void> {
  const exit = await embedded?.exited
  if (exit?.expected !== false) await new Promise(() => {})
}

/** A resource that fails to close must not keep the others open. */
const closeAll = (resources: AsyncDisposableStack): Promise<void> => resources.disposeAsync().catch(() => undefined)
