// Metrics of the pools, the cache, the queue and the disk, which are read at each scrape.
import { Counter, Gauge } from 'prom-client'
import type { Metrics } from './metrics.ts'

type Registered = Pick<Metrics, 'registry'>
type PoolState = { totalCount: number; idleCount: number; waitingCount: number }

/** Registers the connections of pools by name. */
export function observePools({ registry }: Registered, pools: Readonly<Record<string, PoolState>>): void {
  new Gauge({
    name: 'depot_database_connections',
    help: 'Connections of a pool, by state: active, idle; waiting are requests for one',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: 'active' }, totalCount - idleCount)
        this.set({ pool, state: 'idle' }, idleCount)
        this.set({ pool, state: 'waiting' }, waitingCount)
      }
    },
  })
}

type CacheState = {
  enabled: boolean
  bytes: number
  kinds: Record<string, { entries: number; hits: number; misses: number; evicted: number }>
}

/** Registers the size, entries and reads of the entity cache. */
export function observeCache({ registry }: Registered, stats: () => CacheState): void {
  const registers = [registry]
  new Gauge({
    name: 'depot_cache_bytes',
    help: 'Size of the entity cache, in bytes',
    registers,
    collect() {
      this.set(stats().bytes)
    },
  })
  new Gauge({
    name: 'depot_cache_enabled',
    help: '1 while the entity cache is in use; 0 while this process receives no notices of changes and reads the database',
    // The lowest value of the processes of a server.
    aggregator: 'min',
    registers,
    collect() {
      this.set(stats().enabled ? 1 : 0)
    },
  })
  new Gauge({
    name: 'depot_cache_entries',
    help: 'Entries of the entity cache, by kind',
    labelNames: ['kind'] as const,
    registers,
    collect() {
      for (const [kind, { entries }] of Object.entries(stats().kinds)) this.set({ kind }, entries)
    },
  })
  new Counter({
    name: 'depot_cache_reads_total',
    help: 'Reads of the entity cache, by kind and outcome (hit, miss)',
    labelNames: ['kind', 'outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const [kind, { hits, misses }] of Object.entries(stats().kinds)) {
        this.inc({ kind, outcome: 'hit' }, hits)
        this.inc({ kind, outcome: 'miss' }, misses)
      }
    },
  })
}

/** Jobs by state, and the waiting time of the oldest runnable job. */
export type QueueState = { ready: number; running: number; scheduled: number; dead: number; oldestReadySeconds: number }

/** Registers the job queue, which all processes share. If reading fails, there are no values. */
export function observeQueue({ registry }: Registered, ask: () => Promise<QueueState>): void {
  const registers = [registry]
  let asked: Promise<QueueState | undefined> | undefined
  // One read for both gauges of a scrape.
  const state = () => {
    asked ??= ask()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  new Gauge({
    name: 'depot_jobs_oldest_ready_seconds',
    help: 'Waiting time of the oldest runnable job',
    aggregator: 'max',
    registers,
    async collect() {
      const oldest = (await state())?.oldestReadySeconds
      if (oldest === undefined) this.remove()
      else this.set(oldest)
    },
  })
  new Gauge({
    name: 'depot_jobs_waiting',
    help: 'Background jobs, by state: ready, running, scheduled for later, dead (failed on the last attempt)',
    labelNames: ['state'] as const,
    aggregator: 'max',
    registers,
    async collect() {
      const counts = await state()
      for (const name of ['ready', 'running', 'scheduled', 'dead'] as const) {
        if (counts === undefined) this.remove({ state: name })
        else this.set({ state: name }, counts[name])
      }
    },
  })
}

/** Registers the disk space of the data folder. */
export function observeDisk(
  { registry }: Registered,
  ask: () => Promise<{ freeBytes: number; totalBytes: number }>,
): void {
  new Gauge({
    name: 'depot_data_disk_bytes',
    help: 'Disk space of the data folder in bytes, by kind (free, total)',
    labelNames: ['kind'] as const,
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const room = await ask().catch(() => undefined)
      this.reset()
      if (room === undefined) return
      this.set({ kind: 'free' }, room.freeBytes)
      this.set({ kind: 'total' }, room.totalBytes)
    },
  })
}
