// Metrics of parts of the service, which are read at each scrape.
import { Counter, Gauge, type GaugeConfiguration } from 'prom-client'
import type { Metrics } from './metrics.ts'

export type Registered = Pick<Metrics, 'registry'>
type Labels = Readonly<Record<string, string>>
type Readings = readonly (readonly [labels: Labels, value: number])[]
type Reading = number | Readings | undefined
type About<Read> = Omit<GaugeConfiguration<string>, 'registers' | 'collect'> & { read: () => Read }

/** Registers a gauge. `undefined`: there is no value at present. */
export function gauge({ registry }: Registered, { read, ...about }: About<Reading | Promise<Reading>>): void {
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
export function counter({ registry }: Registered, { read, ...about }: About<Readings>): void {
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
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
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
