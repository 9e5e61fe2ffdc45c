// Metrics of parts of the service, which are read at each scrape.
import { Counter, Gauge, type GaugeConfiguration } from 'prom-client'
import type { Metrics } from './metrics.ts'

type Registered = Pick<Metrics, 'registry'>
type Labels = Readonly<Record<string, string>>
type Readings = readonly (readonly [labels: Labels, value: number])[]
type Reading = number | Readings | undefined
type About<Read> = Omit<GaugeConfiguration<string>, 'registers' | 'collect'> & { read: () => Read }

/** Registers a gauge. `undefined`: there is no value at present. */
function gauge({ registry }: Registered, { read, ...about }: About<Reading | Promise<Reading>>): void {
  new Gauge({
    ...about,
    registers: [registry],
    async collect() {
      const reading = await read()
      if (typeof reading === 'number') return this.set(reading)
      if (reading === undefined) return this.remove()
      this.reset()
      for (const [labels, value] of reading) this.set(labels, value)
    },
  })
}

/** Registers a counter whose total is counted elsewhere. */
function counter({ registry }: Registered, { read, ...about }: About<Readings>): void {
  new Counter({
    ...about,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc(labels, value)
    },
  })
}

/** Returns a function that calls `ask` once for all metrics of a scrape. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
}

/** Registers the parts of the stored data of which this process has found damage. */
export function observeDamage(metrics: Registered, read: () => Readings): void {
  gauge(metrics, {
    name: 'depot_damaged',
    help: '1 if this process has found damage in a part of the stored data (database, events) since its start',
    labelNames: ['part'],
    read,
  })
}

type PoolState = { totalCount: number; idleCount: number; waitingCount: number }

/** Registers the connections of pools by name. */
export function observePools(metrics: Registered, pools: Readonly<Record<string, PoolState>>): void {
  gauge(metrics, {
    name: 'depot_database_connections',
    help: 'Connections of a pool, by state: active, idle; waiting are requests for one',
    labelNames: ['pool', 'state'],
    read: () =>
      Object.entries(pools).flatMap(
        ([pool, { totalCount, idleCount, waitingCount }]): Readings => [
          [{ pool, state: 'active' }, totalCount - idleCount],
          [{ pool, state: 'idle' }, idleCount],
          [{ pool, state: 'waiting' }, waitingCount],
        ],
      ),
  })
}

type CacheState = {
  enabled: boolean
  bytes: number
  kinds: Record<string, { entries: number; hits: number; misses: number; evicted: number }>
}

/** Registers the size, entries and reads of the entity cache. */
export function observeCache(metrics: Registered, stats: () => CacheState): void {
  gauge(metrics, { name: 'depot_cache_bytes', help: 'Size of the entity cache, in bytes', read: () => stats().bytes })
  gauge(metrics, {
    name: 'depot_cache_enabled',
    help: '1 while the entity cache is in use; 0 while this process receives no notices of changes and reads the database',
    read: () => Number(stats().enabled),
  })
  gauge(metrics, {
    name: 'depot_cache_entries',
    help: 'Entries of the entity cache, by kind',
    labelNames: ['kind'],
    read: () => Object.entries(stats().kinds).map(([kind, { entries }]) => [{ kind }, entries]),
  })
  counter(metrics, {
    name: 'depot_cache_reads_total',
    help: 'Reads of the entity cache, by kind and outcome (hit, miss)',
    labelNames: ['kind', 'outcome'],
    read: () =>
      Object.entries(stats().kinds).flatMap(
        ([kind, { hits, misses }]): Readings => [
          [{ kind, outcome: 'hit' }, hits],
          [{ kind, outcome: 'miss' }, misses],
        ],
      ),
  })
}

/** Jobs by state, and the waiting time of the oldest runnable job. */
export type QueueState = { ready: number; running: number; scheduled: number; dead: number; oldestReadySeconds: number }

/** Registers the job queue, which all processes share. If reading fails, there are no values. */
export function observeQueue(metrics: Registered, ask: () => Promise<QueueState>): void {
  const state = once(() => ask().catch(() => undefined))
  gauge(metrics, {
    name: 'depot_jobs_oldest_ready_seconds',
    help: 'Waiting time of the oldest runnable job',
    read: async () => (await state())?.oldestReadySeconds,
  })
  gauge(metrics, {
    name: 'depot_jobs_waiting',
    help: 'Background jobs, by state: ready, running, scheduled for later, dead (failed on the last attempt)',
    labelNames: ['state'],
    read: async () => {
      const { oldestReadySeconds: _, ...counts } = (await state()) ?? {}
      return Object.entries(counts).map(([name, count]) => [{ state: name }, count])
    },
  })
}

/** Resumable uploads that no version has used yet. */
export type UploadState = { unfinished: number; finished: number; bytes: number }

/** Registers the resumable uploads, which all processes share. If reading fails, there are no values. */
export function observeUploads(metrics: Registered, ask: () => Promise<UploadState>): void {
  const state = once(() => ask().catch(() => undefined))
  gauge(metrics, {
    name: 'depot_upload_bytes',
    help: 'Stored bytes of resumable uploads that no version has used yet',
    read: async () => (await state())?.bytes,
  })
  gauge(metrics, {
    name: 'depot_uploads_waiting',
    help: 'Resumable uploads that no version has used yet, by state (unfinished, finished)',
    labelNames: ['state'],
    read: async () => {
      const { bytes: _, ...counts } = (await state()) ?? {}
      return Object.entries(counts).map(([name, count]) => [{ state: name }, count])
    },
  })
}

/** Registers the age of the last good backup, which all processes share, and the interval of scheduled backups. */
export function observeBackups(
  metrics: Registered,
  { intervalSeconds, ageSeconds }: { intervalSeconds: number | undefined; ageSeconds: () => Promise<number> },
): void {
  gauge(metrics, {
    name: 'depot_backup_age_seconds',
    help: 'Time since the last complete backup, or since the creation of an instance without a backup',
    read: () => ageSeconds().catch(() => undefined),
  })
  gauge(metrics, {
    name: 'depot_backup_interval_seconds',
    help: 'Interval of scheduled backups; there is no value if none are scheduled',
    read: () => intervalSeconds,
  })
}

/** The oldest last run of the mirrors, undefined without one, and the objects that they could not copy. */
export type MirrorState = { ageSeconds: number | undefined; skipped: number }

/** Registers the mirrors, which all processes share. If reading fails, there are no values. */
export function observeMirrors(metrics: Registered, ask: () => Promise<MirrorState>): void {
  const state = once(() => ask().catch(() => undefined))
  gauge(metrics, {
    name: 'depot_mirror_age_seconds',
    help: 'Time since the last complete run of a mirror: of the one that has waited longest. There is no value without mirrors',
    read: async () => (await state())?.ageSeconds,
  })
  gauge(metrics, {
    name: 'depot_mirror_skipped_objects',
    help: 'Projects and versions that mirrors could not copy; every run tries them again',
    read: async () => (await state())?.skipped,
  })
}

/** Registers the disk space of the data folder. */
export function observeDisk(metrics: Registered, ask: () => Promise<{ freeBytes: number; totalBytes: number }>): void {
  gauge(metrics, {
    name: 'depot_data_disk_bytes',
    help: 'Disk space of the data folder in bytes, by kind (free, total)',
    labelNames: ['kind'],
    read: async () => {
      const room = await ask().catch(() => undefined)
      if (room === undefined) return []
      return [
        [{ kind: 'free' }, room.freeBytes],
        [{ kind: 'total' }, room.totalBytes],
      ]
    },
  })
}

/** State of the analytics buffer for one kind of event. */
type BufferStats = Readonly<Record<string, { pending: number; stored: number; dropped: number; lost: number }>>

/** Registers metrics of the analytics buffer. */
export function observeEventBuffer(metrics: Registered, stats: () => BufferStats): void {
  gauge(metrics, {
    name: 'depot_analytics_pending_events',
    help: 'Accepted events that are not stored yet, by kind',
    labelNames: ['kind'],
    read: () => Object.entries(stats()).map(([kind, { pending }]) => [{ kind }, pending]),
  })
  counter(metrics, {
    name: 'depot_analytics_events_total',
    help: 'Events by kind and outcome: stored (or safe on disk), dropped (the buffer was full), lost (storing failed for too long)',
    labelNames: ['kind', 'outcome'],
    read: () =>
      Object.entries(stats()).flatMap(([kind, { pending: _, ...counts }]) =>
        Object.entries(counts).map(([outcome, count]) => [{ kind, outcome }, count] as const),
      ),
  })
}

/** State of the events that wait on disk for a remote analytics store. */
type SpoolStats = Readonly<{ batches: number; bytes: number; refused: number }>

/** Registers metrics of the events on disk. */
export function observeSpool(metrics: Registered, stats: () => SpoolStats): void {
  gauge(metrics, {
    name: 'depot_analytics_spool_batches',
    help: 'Batches of events that wait on disk for the analytics store',
    read: () => stats().batches,
  })
  gauge(metrics, {
    name: 'depot_analytics_spool_bytes',
    help: 'Size of the events that wait on disk for the analytics store, in bytes',
    read: () => stats().bytes,
  })
  gauge(metrics, {
    name: 'depot_analytics_spool_refused_batches',
    help: 'Unreadable batches, and batches that the analytics store rejected, since the start; they stay on disk',
    read: () => stats().refused,
  })
}

/** State of the search index of a process. */
type SearchStats = { state: string; documents: number; memoryBytes: number; isFeeding: boolean }

/** Registers metrics of the search index. */
export function observeSearch(metrics: Registered, ask: () => Promise<SearchStats>): void {
  const stats = once(ask)
  gauge(metrics, {
    name: 'depot_search_documents',
    help: 'Projects in the search index',
    read: async () => (await stats()).documents,
  })
  gauge(metrics, {
    name: 'depot_search_feeding',
    help: '1 while this process feeds the search index; only one process feeds a shared index',
    read: async () => Number((await stats()).isFeeding),
  })
  gauge(metrics, {
    name: 'depot_search_building',
    help: '1 while the search index is built or rebuilt',
    read: async () => Number(['building', 'rebuilding'].includes((await stats()).state)),
  })
  gauge(metrics, {
    name: 'depot_search_up',
    help: '1 while search works and the index follows the database',
    read: async () => Number(['ready', 'rebuilding'].includes((await stats()).state)),
  })
}
