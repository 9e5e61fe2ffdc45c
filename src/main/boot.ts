// Opens everything a process needs and closes it again in reverse: database, cache, ports.

import { statfs } from 'node:fs/promises'
import type { LogEvent } from 'kysely'
import pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import type { PeerProcesses } from '#main/processes/peer-processes.ts'
import { createArchiveInspector } from '#platform/archives/inspect-archive.ts'
import { createAnnouncer } from '#platform/cache/announcer.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { type InvalidationSubscriber, listenForInvalidations } from '#platform/cache/listen.ts'
import type { Channel } from '#platform/channel/channel.ts'
import type { Config } from '#platform/config/config.ts'
import { type Connection, createDb, createPool, requireTimeLimits } from '#platform/db/db.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { createImages } from '#platform/images/images.ts'
import { readQueueState } from '#platform/jobs/queue-state.ts'
import { loadTaxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { observeCache, observeDisk, observePools, observeQueue } from '#platform/telemetry/observe.ts'
import { startTraces, traceStatement } from '#platform/telemetry/traces.ts'
import { type EventBuffer, type EventSink, unlessAborted } from '#ports/analytics-store/buffer.ts'
import { openCountryLookup } from '#ports/country-lookup.ts'
import type { Deps } from '#ports/deps.ts'
import type { Mail } from '#ports/mail/mail.ts'
import { createOutbox } from '#ports/mail/outbox/outbox.ts'
import { createSmtpMail } from '#ports/mail/smtp/smtp.ts'
import { borrowAnalytics, openAnalytics, verifyAnalytics } from './open-analytics.ts'
import { openCounters } from './open-counters.ts'
import { openFiles } from './open-files.ts'
import { checkSearchEngine, openSearch } from './open-search.ts'
import { openDataFolder } from './preflight.ts'
import { VERSION } from './version.ts'

export type BootOptions = {
  config: Config
  log: Log
  /** A `server` owns the embedded database; a `command` joins or borrows it. */
  mode: 'server' | 'command'
  /** What another process of the same server has opened, and lends through a channel. */
  hub?: { channel: Channel; database: Connection | undefined }
  /** The other processes of the same server. */
  peers?: PeerProcesses
  now?: () => number
  /** What tests look at and bring along. */
  test?: {
    /** Called for every statement that goes to the database. */
    onQuery: (event: LogEvent) => void
    poolSize: number
    cacheBytes: number
  }
}

export type Booted = {
  deps: Deps
  /** The embedded database's, for processes that borrow it. */
  embeddedConnection: Connection | undefined
  /** The folder of the embedded database, where this process has started it. */
  databaseFolder: string | undefined
  /** The buffer of this process alone, and what takes the batches of all. */
  events: EventBuffer
  sink: EventSink
  /** Starts hearing of other processes' changes; until then the cache is off. */
  listen(subscribers?: readonly InvalidationSubscriber[]): Promise<void>
  /** Opens the analytics store before anybody asks for it. Never rejects. */
  warmAnalytics(): Promise<void>
  /** Settles when the embedded database has ended by itself, which the process cannot outlive. */
  databaseLost: Promise<void>
  close(): Promise<void>
}

const POOL_SIZE = 16
/** Beside a pooler: jobs, a migration, and what holds a lock of its session. */
const DIRECT_POOL_SIZE = 8
const CACHE_BYTES = 128 * 1024 * 1024
/** Connections of the HTTP processes of one server together; each has a few at least. */
const POOLS_SIZE = 48
const POOL_SIZE_MIN = 4
/** The embedded database takes so many connections, and so many more for each HTTP process beyond the first. */
const EMBEDDED_CONNECTIONS = 100
const CONNECTIONS_PER_PROCESS = 8

/**
 * Opens the database (starting the embedded one where no DATABASE_URL is set) and every port. What was opened before
 * a failure is closed again.
 */
export async function boot(options: BootOptions): Promise<Booted> {
  const closers: (() => Promise<unknown>)[] = []
  try {
    return await open(options, closers)
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

async function open(
  { config, log, mode, hub, peers, now = Date.now, test }: BootOptions,
  closers: (() => Promise<unknown>)[],
): Promise<Booted> {
  const channel = hub?.channel
  openDataFolder(config.dataDir)
  if (mode === 'server') closers.push(await startTraces({ ...config.traces, version: VERSION }, log))
  const { direct, pooled, replica, embedded } = await openConnections(config, log, mode, hub?.database)
  if (embedded !== undefined) closers.push(() => embedded.stop())
  const metrics = createMetrics({
    // Those of the process itself are collected once, by the one server that it is.
    process: mode === 'server' && test === undefined,
    ...(peers === undefined ? {} : { ofAll: peers.metrics }),
  })
  const onQuery = (event: LogEvent) => {
    metrics.querySeconds.observe(event.queryDurationMillis / 1000)
    traceStatement(event)
    test?.onQuery(event)
  }
  const poolSize = test?.poolSize ?? (hub === undefined ? POOL_SIZE : poolShare(config))
  const pool = createPool(direct, {
    max: pooled === undefined ? poolSize : DIRECT_POOL_SIZE,
    applicationName: 'depot',
  })
  closers.push(() => pool.end())
  const queryPool =
    pooled === undefined ? pool : createPool(pooled, { max: poolSize, applicationName: 'depot', isPooled: true })
  if (queryPool !== pool) closers.push(() => queryPool.end())
  if (pooled !== undefined && mode === 'server') await checkPooler(queryPool)
  const readPool =
    replica === undefined ? queryPool : createPool(replica, { max: poolSize, applicationName: 'depot-read' })
  if (replica !== undefined) closers.push(() => readPool.end())
  const noticePool = createPool(direct, { max: 1, applicationName: 'depot-notices' })
  closers.push(() => noticePool.end())
  const announcer = createAnnouncer({ pool: noticePool, log })
  closers.push(() => announcer.close())
  const cache = createEntityCache({
    maxBytes: test?.cacheBytes ?? CACHE_BYTES,
    now,
    announce: announcer.announce,
    invalidatePeers: peers?.invalidate,
  })
  const files = await openFiles(config.files.store, { log, metrics })
  closers.push(() => files.close())
  const counters = await openCounters(
    config.counters,
    { log, metrics, now },
    channel && { channel, processes: config.http.processes },
  )
  closers.push(() => counters.close())
  const mail = openMail(config, now)
  closers.push(() => mail.close())
  const pools = { primary: queryPool, ...(replica === undefined ? {} : { replica: readPool }) }
  observePools(metrics, pools)
  observeCache(metrics, cache.stats)
  observeQueue(metrics, () => readQueueState(pool))
  observeDisk(metrics, () => roomOf(config.dataDir))
  const db = createDb(queryPool, onQuery)
  const countryLookup = await openCountryLookup(config.analytics.geoipDatabase)
  const verifies = mode === 'server' && hub === undefined
  if (verifies) await verifyAnalytics({ config, log })
  // The last thing to close before the database: it stores what requests have left behind.
  const { analytics, events, sink, warmUp, close } =
    channel === undefined
      ? openAnalytics({ config, db, cache, log, metrics }, mode)
      : borrowAnalytics(channel, { log, metrics })
  closers.push(close)
  const data = loadTaxonomy()
  if (verifies) await checkSearchEngine({ config, log })
  const search = openSearch({ config, db, pool, taxonomy: data.taxonomy, log, metrics }, channel)
  closers.push(() => search.close())
  const deps: Deps = {
    config,
    pool,
    db,
    dbRead: createDb(readPool, onQuery),
    cache,
    files,
    counters,
    analytics,
    events: peers === undefined ? events : flushingAll(events, peers),
    countryLookup,
    search,
    mail,
    images: createImages(),
    archives: createArchiveInspector(),
    ...data,
    log,
    metrics,
    now,
  }
  return {
    deps,
    embeddedConnection: embedded?.connection,
    databaseFolder: embedded?.folder,
    events,
    sink,
    databaseLost: embedded === undefined ? new Promise(() => {}) : whenLost(embedded),
    warmAnalytics: warmUp,
    listen: async (subscribers = []) => {
      const connect = async () => {
        const client = new pg.Client({ ...direct, application_name: 'depot-listen', connectionTimeoutMillis: 5_000 })
        await client.connect()
        return client
      }
      const listener = listenForInvalidations({ connect, pool, cache, log, subscribers })
      closers.push(() => listener.stop())
      await listener.ready
    },
    close: () => closeAll(closers),
  }
}

function openMail({ mail }: Config, now: () => number): Mail {
  return mail.kind === 'smtp'
    ? createSmtpMail({ url: mail.url.reveal(), from: mail.from, now })
    : createOutbox({ ...mail, now })
}

async function roomOf(folder: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

type Connections = {
  /** The database itself, for what needs a session: listening, jobs, migrations, locks. */
  direct: Connection
  /** A pooler in transaction mode, for everything else. */
  pooled?: Connection
  replica?: Connection
  embedded?: EmbeddedPostgres
}

async function openConnections(
  { database, dataDir, http }: Config,
  log: Log,
  mode: 'server' | 'command',
  hub: Connection | undefined,
): Promise<Connections> {
  if (hub !== undefined) return { direct: hub }
  if (database.kind === 'external') {
    const { url, directUrl, readUrl } = database
    return {
      direct: { connectionString: (directUrl ?? url).reveal() },
      ...(directUrl === undefined ? {} : { pooled: { connectionString: url.reveal() } }),
      ...(readUrl === undefined ? {} : { replica: { connectionString: readUrl.reveal() } }),
    }
  }
  const embedded = await startEmbeddedPostgres({
    ...{ dataDir, holder: mode, log },
    maxConnections: EMBEDDED_CONNECTIONS + CONNECTIONS_PER_PROCESS * (http.processes - 1),
  })
  return { direct: embedded.connection, embedded }
}

async function checkPooler(pool: pg.Pool): Promise<void> {
  try {
    await requireTimeLimits(pool)
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`The database cannot be reached through DATABASE_URL: ${reason}`, { cause })
  }
}

/** How many connections one of several HTTP processes has. */
function poolShare({ http }: Config): number {
  return Math.max(POOL_SIZE_MIN, Math.min(POOL_SIZE, Math.floor(POOLS_SIZE / http.processes)))
}

/** A question about events sees those that any process has accepted. */
function flushingAll(events: EventBuffer, peers: PeerProcesses): EventBuffer {
  return {
    ...events,
    async flush(signal) {
      const others = peers.flushEvents()
      await Promise.all([events.flush(signal), signal === undefined ? others : unlessAborted(others, signal)])
    },
  }
}

async function whenLost(embedded: EmbeddedPostgres): Promise<void> {
  const { expected } = await embedded.exited
  if (expected) await new Promise(() => {})
}

/** Last opened, first closed; one that fails does not keep the others open. */
async function closeAll(closers: (() => Promise<unknown>)[]): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close().catch(() => {})
}
