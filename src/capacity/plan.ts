// How much an instance of a given size needs, computed from measured costs. Nothing of it was tried at these sizes: it
// says in which order parts reach their end, and what is set then.
import { DAY_MS } from '#lib/time.ts'
import measured from './costs.json' with { type: 'json' }

/** What `npm run bench -- costs` writes: processor time in milliseconds, sizes in bytes. */
export type Costs = typeof measured
export const MEASURED: Costs = measured

export type Workload = {
  projects: number
  versions: number
  accounts: number
  follows: number
  readsPerSecond: number
  writesPerSecond: number
  eventsPerDay: number
  /** The mean size of a file. */
  fileBytes: number
  coresPerMachine: number
}

export type Part = {
  part: string
  needs: string
  /** What is needed, as a share of what one machine with everything embedded gives; 1 is its end. */
  share: number
  /** What to set or add when the share comes near 1. */
  remedy: string
}

export type Plan = {
  /** The first to reach its end comes first. */
  parts: readonly Part[]
  /** Processors for HTTP at the mean rate, half of each left free for peaks. */
  cores: number
  machines: number
  databaseBytes: number
  filesBytes: number
}

/** What readers ask for: shares of all reads. */
export const READS = { project: 0.35, version: 0.1, projects: 0.1, versions: 0.15, search: 0.2, updates: 0.1 } as const

/** Half of a core is for peaks, for collecting garbage and for when another machine is away. */
const BUSY_SHARE = 0.5
const SECONDS_PER_DAY = DAY_MS / 1000
/** Of events: the busiest hour against the mean of the day. */
const PEAK = 3
/** Connections of one process: its pool, one that listens, one that sends notices. */
const CONNECTIONS = 18
const POSTGRES_CONNECTIONS = 100
const POSTGRES_MEMORY_BYTES = 128e9
const SEARCH_MEMORY_BYTES = 1e9
const ANALYTICS_DISK_BYTES_PER_YEAR = 1e12
const FILES_DISK_BYTES = 1e12
/** Memory of the embedded index a version, at 200,000 projects: `npm run bench -- search`. */
const SEARCH_BYTES_PER_VERSION = 450
/** Views that one process with DuckDB takes in beside reads, for minutes: `npm run bench -- ingest`. */
const EVENTS_PER_SECOND = 5_000
/** One core of Redis 7 runs so many of the limiter's scripts a second, by redis-benchmark. */
const LIMITER_CALLS_PER_SECOND = 36_000

/** The parts of an instance under a workload, the fullest first. */
export function planCapacity(load: Workload, costs: Costs = MEASURED): Plan {
  const eventsPerSecond = (load.eventsPerDay / SECONDS_PER_DAY) * PEAK
  const cores = coresFor(load, eventsPerSecond, costs)
  const stored = storedBytes(load, costs)
  const parts = [...computing(load, eventsPerSecond, cores, costs), ...storing(load, eventsPerSecond, stored)]
  parts.sort((a, b) => b.share - a.share)
  return {
    parts,
    cores,
    machines: Math.ceil(cores / load.coresPerMachine),
    databaseBytes: stored.database,
    filesBytes: stored.files,
  }
}

/** Milliseconds of processor time of the mean read. */
function readMs({ requestMs }: Costs): number {
  return Object.entries(READS).reduce((sum, [kind, share]) => sum + share * requestMs[kind as keyof typeof READS], 0)
}

function coresFor(load: Workload, eventsPerSecond: number, costs: Costs): number {
  const { edit, event } = costs.requestMs
  const busyMs = load.readsPerSecond * readMs(costs) + load.writesPerSecond * edit + eventsPerSecond * event
  return Math.max(1, Math.ceil(busyMs / 1000 / BUSY_SHARE))
}

type Stored = { database: number; files: number; index: number; eventsPerYear: number }

function storedBytes(load: Workload, { rowBytes, dependenciesPerVersion, eventBytes }: Costs): Stored {
  const ofVersion =
    rowBytes.version + rowBytes.file + rowBytes.file_content + dependenciesPerVersion * rowBytes.dependency
  return {
    database:
      load.projects * rowBytes.project +
      load.versions * ofVersion +
      load.accounts * rowBytes.account +
      load.follows * rowBytes.follow,
    files: load.versions * load.fileBytes,
    index: load.versions * SEARCH_BYTES_PER_VERSION,
    eventsPerYear: load.eventsPerDay * 365 * eventBytes,
  }
}

function computing(load: Workload, eventsPerSecond: number, cores: number, costs: Costs): Part[] {
  const requests = load.readsPerSecond + load.writesPerSecond + eventsPerSecond
  const connections = cores * CONNECTIONS
  return [
    {
      part: 'processor for HTTP',
      needs: `${cores} ${cores === 1 ? 'core' : 'cores'} (${readMs(costs).toFixed(2)} ms a read)`,
      share: cores / load.coresPerMachine,
      remedy:
        'HTTP_PROCESSES for the cores of one machine, then more machines behind a balancer, a CDN that honours ETag',
    },
    {
      part: 'rate of announced writes',
      needs: `${count(load.writesPerSecond)} a second`,
      share: load.writesPerSecond / costs.announcedWritesPerSecond,
      remedy: 'more HTTP processes, and a faster disk for PostgreSQL: each commit waits for it',
    },
    {
      part: 'connections of PostgreSQL',
      needs: `${count(connections)}, ${CONNECTIONS} a process`,
      share: connections / POSTGRES_CONNECTIONS,
      remedy: 'a larger max_connections, then a pooler with DATABASE_DIRECT_URL beside it',
    },
    {
      part: 'common count of requests',
      needs: `${count(requests)} a second`,
      share: requests / LIMITER_CALLS_PER_SECOND,
      remedy: 'REDIS_URL from the second machine on (docs/redis.md), a cluster beyond one core of it',
    },
  ]
}

function storing(load: Workload, eventsPerSecond: number, stored: Stored): Part[] {
  return [
    {
      part: 'embedded search index',
      needs: `${bytes(stored.index)} of memory in the process that holds it`,
      share: stored.index / SEARCH_MEMORY_BYTES,
      remedy: 'OPENSEARCH_URL (docs/opensearch.md)',
    },
    {
      part: 'embedded analytics',
      needs: `${bytes(stored.eventsPerYear)} a year, ${count(eventsPerSecond)} events a second at peaks, one writer`,
      share: Math.max(stored.eventsPerYear / ANALYTICS_DISK_BYTES_PER_YEAR, eventsPerSecond / EVENTS_PER_SECOND),
      remedy: 'CLICKHOUSE_URL (docs/clickhouse.md)',
    },
    {
      part: 'size of PostgreSQL',
      needs: bytes(stored.database),
      share: stored.database / POSTGRES_MEMORY_BYTES,
      remedy: 'DATABASE_URL of a machine of its own, with as much memory as the database is large',
    },
    {
      part: 'disk for files',
      needs: `${bytes(stored.files)}, ${count(load.versions)} files`,
      share: stored.files / FILES_DISK_BYTES,
      remedy: 'S3_BUCKET from the second machine on, FILES_BASE_URL of a CDN (docs/s3.md)',
    },
  ]
}

/** The lines that `depot capacity` prints before and after its table. */
export function summaryOf(
  { parts, cores, machines }: Plan,
  costs: Costs = MEASURED,
): { before: string; after: string } {
  const [first] = parts
  const full = parts.filter(({ share }) => share >= 1)
  const verdict =
    full.length === 0
      ? `One machine with everything embedded is enough; the first part to reach its end would be the ${first?.part}.`
      : `One machine with everything embedded is too small: ${full.length} of ${parts.length} parts are past their end, first the ${first?.part}.`
  const { on, node, cores: measuredOn } = costs.measured
  return {
    before: verdict,
    after:
      `HTTP needs ${cores} ${cores === 1 ? 'core' : 'cores'} on ${machines} ${machines === 1 ? 'machine' : 'machines'}, half of each left free.\n` +
      `Computed from costs measured on ${on} (Node ${node}, ${measuredOn} cores); not tried at this size.`,
  }
}

const count = (value: number): string => Math.ceil(value).toLocaleString('en-US')

/** `1.3 GB`. */
function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)))
  const scaled = value / 1000 ** power
  return `${scaled.toFixed(scaled < 10 && power > 0 ? 1 : 0)} ${units[power]}`
}
