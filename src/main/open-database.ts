// Opens the database of a process: its connections, its pools, and the cache in front of it.
import type { LogEvent } from 'kysely'
import pg from 'pg'
import { observeUploads } from '#features/catalogue/versions/uploads/upload-state.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { createAnnouncer } from '#platform/cache/announcer.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { type InvalidationSubscriber, listenForInvalidations } from '#platform/cache/listen.ts'
import type { Config } from '#platform/config/config.ts'
import { type Connection, createDb, createPool, requireTimeLimits } from '#platform/db/db.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { readQueueState } from '#platform/jobs/queue-state.ts'
import { createDamage, type Damage } from '#platform/telemetry/damage.ts'
import { observeCache, observePools, observeQueue } from '#platform/telemetry/observe.ts'
import { traceStatement } from '#platform/telemetry/traces.ts'
import type { Deps } from '#ports/deps.ts'

export type Connections = {
  /** The database itself, for work that needs a session: listening, jobs, migrations, locks. */
  direct: Connection
  /** A pooler in transaction mode, for everything else. */
  pooled?: Connection
  replica?: Connection
}

export type Database = Pick<Deps, 'pool' | 'db' | 'dbRead' | 'cache'> & {
  damage: Damage
  /** @throws OperatorError if the role of the pooler lacks the time limits, or the pooler does not respond. */
  checkPooler(): Promise<void>
  /** Starts following the changes of other processes; the cache is off until then. */
  listen(subscribers?: readonly InvalidationSubscriber[]): Promise<void>
}

export type DatabaseOptions = {
  connections: Connections
  poolSize?: number
  cacheBytes?: number
  onQuery?: (event: LogEvent) => void
}

const POOL_SIZE = 16
/** Pool size next to a pooler: for jobs, a migration, and locks of a session. */
const DIRECT_POOL_SIZE = 8
const CACHE_BYTES = 128 * 1024 * 1024

export function connectionsOf({ database }: Config, embedded: EmbeddedPostgres | undefined): Connections {
  if (embedded !== undefined) return { direct: embedded.connection }
  if (database.kind === 'embedded') throw new Error('The embedded database has not been started')
  const { url, directUrl, readUrl } = database
  return {
    direct: { connectionString: (directUrl ?? url).reveal() },
    ...(directUrl === undefined ? {} : { pooled: { connectionString: url.reveal() } }),
    ...(readUrl === undefined ? {} : { replica: { connectionString: readUrl.reveal() } }),
  }
}

/** Opens the pools and the cache. No connection is made before the first statement. */
export function openDatabase(
  { log, metrics, now }: Pick<Deps, 'log' | 'metrics' | 'now'>,
  { connections, poolSize = POOL_SIZE, cacheBytes = CACHE_BYTES, onQuery }: DatabaseOptions,
  resources: AsyncDisposableStack,
): Database {
  const damage = createDamage({ log, metrics }, (part) => {
    if (part === 'database') void recordDamage(pool)
  })
  const onDamage = (error: unknown): void => damage.note('database', error)
  const open = (connection: Connection, applicationName: string, max: number, isPooled = false): pg.Pool => {
    const opened = createPool(connection, { max, applicationName, isPooled, onDamage })
    resources.defer(() => opened.end())
    return opened
  }
  const { direct, pooled, replica } = connections
  const pool = open(direct, 'depot', pooled === undefined ? poolSize : DIRECT_POOL_SIZE)
  const queryPool = pooled === undefined ? pool : open(pooled, 'depot', poolSize, true)
  const readPool = replica === undefined ? queryPool : open(replica, 'depot-read', poolSize)
  const announcer = createAnnouncer({ pool: open(direct, 'depot-notices', 1), log })
  resources.defer(() => announcer.close())
  const cache = createEntityCache({ maxBytes: cacheBytes, now, announce: announcer.announce })
  observePools(metrics, { primary: queryPool, ...(replica === undefined ? {} : { replica: readPool }) })
  observeCache(metrics, cache.stats)
  observeQueue(metrics, () => readQueueState(pool))
  observeUploads(metrics, pool)
  const onStatement = (event: LogEvent): void => {
    metrics.querySeconds.observe(event.queryDurationMillis / 1000)
    traceStatement(event)
    onQuery?.(event)
  }
  return {
    damage,
    pool,
    db: createDb(queryPool, onStatement),
    dbRead: createDb(readPool, onStatement),
    cache,
    checkPooler: async () => {
      if (pooled !== undefined) await checkPooler(queryPool)
    },
    async listen(subscribers = []) {
      const connect = () => connectListener(direct)
      const listener = listenForInvalidations({ connect, pool, cache, log, subscribers })
      resources.defer(() => listener.stop())
      await listener.ready
    },
  }
}

/** Lets the readiness of each process report the damage, also after a restart. */
async function recordDamage(pool: pg.Pool): Promise<void> {
  await pool.query('update instance_copy set damaged_at = now()').catch(() => undefined)
}

async function connectListener(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, application_name: 'depot-listen', connectionTimeoutMillis: 5_000 })
  // The connection can be lost before the caller listens for errors.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function checkPooler(pool: pg.Pool): Promise<void> {
  try {
    await requireTimeLimits(pool)
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`Cannot connect to the database through DATABASE_URL: ${reason}`, { cause })
  }
}
