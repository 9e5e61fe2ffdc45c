// The metrics at /metrics. Labels have few values: operation names, statuses, kinds.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/**
 * A registry with all metrics of the process. Tests run several instances in a process, each with its own registry.
 * `ofAll` returns the metrics of all processes of a server.
 */
export function createMetrics(options: { process: boolean; ofAll?: (() => Promise<string>) | undefined }) {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    /** Returns the metrics in the text format of Prometheus. */
    text: options.ofAll ?? (() => registry.metrics()),
    requests: new Counter({
      name: 'depot_http_requests_total',
      help: 'Handled requests, by operation and status',
      labelNames: ['operation', 'status'] as const,
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'depot_http_request_seconds',
      help: 'Time from the first byte of a request to the end of its response, by operation',
      labelNames: ['operation'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    querySeconds: new Histogram({
      name: 'depot_database_query_seconds',
      help: 'Time of database statements; its count is the number of statements',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    jobs: new Counter({
      name: 'depot_jobs_total',
      help: 'Finished background jobs, by task and outcome (success, error, dead)',
      labelNames: ['task', 'outcome'] as const,
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'depot_job_seconds',
      help: 'Time of background jobs, by task, for every outcome',
      // Not `job`: Prometheus sets this label.
      labelNames: ['task'] as const,
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300],
      registers,
    }),
    downloadDrift: new Gauge({
      name: 'depot_download_drift',
      help: 'Difference between download counters and download events at the last reconciliation, by counter',
      labelNames: ['of'] as const,
      registers,
    }),
    searchEngineSeconds: new Histogram({
      name: 'depot_search_engine_seconds',
      help: 'Requests to OpenSearch, by kind (search, write, manage, status) and outcome',
      labelNames: ['kind', 'outcome'] as const,
      buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
    engineSeconds: new Histogram({
      name: 'depot_engine_seconds',
      help: 'Time of calls to external engines, by engine and call',
      labelNames: ['engine', 'operation'] as const,
      buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    engineErrors: new Counter({
      name: 'depot_engine_errors_total',
      help: 'Failed calls to external engines, by engine and call',
      labelNames: ['engine', 'operation'] as const,
      registers,
    }),
    events: new Counter({
      name: 'depot_events_total',
      help: 'Business events, such as version.published',
      labelNames: ['event'] as const,
      registers,
    }),
  }
}

/** Records a call of an adapter to its engine. */
export function engineCalls({ engineSeconds, engineErrors }: Metrics, engine: string) {
  return (operation: string, seconds: number, failed: boolean): void => {
    engineSeconds.observe({ engine, operation }, seconds)
    if (failed) engineErrors.inc({ engine, operation })
  }
}

/** State of the analytics buffer for one kind of event. */
type BufferStats = Readonly<Record<string, { pending: number; stored: number; dropped: number; lost: number }>>

/** Registers metrics of the analytics buffer, which are read at each scrape. */
export function observeEventBuffer({ registry }: Metrics, stats: () => BufferStats): void {
  const registers = [registry]
  new Gauge({
    name: 'depot_analytics_pending_events',
    help: 'Accepted events that are not stored yet, by kind',
    labelNames: ['kind'] as const,
    registers,
    collect() {
      for (const [kind, { pending }] of Object.entries(stats())) this.set({ kind }, pending)
    },
  })
  new Counter({
    name: 'depot_analytics_events_total',
    help: 'Events by kind and outcome: stored (or safe on disk), dropped (the buffer was full), lost (storing failed for too long)',
    labelNames: ['kind', 'outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const [kind, counts] of Object.entries(stats())) {
        for (const outcome of ['stored', 'dropped', 'lost'] as const) this.inc({ kind, outcome }, counts[outcome])
      }
    },
  })
}

/** Registers the number of processes that handle requests. */
export function observeProcesses({ registry }: Metrics, count: () => number): void {
  new Gauge({
    name: 'depot_http_processes',
    help: 'Processes of this server that handle requests',
    registers: [registry],
    collect() {
      this.set(count())
    },
  })
}

/** State of the events that wait on disk for a remote analytics store. */
type SpoolStats = Readonly<{ batches: number; bytes: number; refused: number }>

/** Registers metrics of the events on disk, which are read at each scrape. */
export function observeSpool({ registry }: Metrics, stats: () => SpoolStats): void {
  const registers = [registry]
  new Gauge({
    name: 'depot_analytics_spool_batches',
    help: 'Batches of events that wait on disk for the analytics store',
    registers,
    collect() {
      this.set(stats().batches)
    },
  })
  new Gauge({
    name: 'depot_analytics_spool_bytes',
    help: 'Size of the events that wait on disk for the analytics store, in bytes',
    registers,
    collect() {
      this.set(stats().bytes)
    },
  })
  new Gauge({
    name: 'depot_analytics_spool_refused_batches',
    help: 'Unreadable batches, and batches that the analytics store rejected, since the start; they stay on disk',
    registers,
    collect() {
      this.set(stats().refused)
    },
  })
}

/** State of the search index of a process. */
type SearchStats = { state: string; documents: number; memoryBytes: number; isFeeding: boolean }

/** Registers metrics of the search index, which are read at each scrape. */
export function observeSearch({ registry }: Metrics, ask: () => Promise<SearchStats>): void {
  const registers = [registry]
  let asked: Promise<SearchStats> | undefined
  // One read for all gauges of a scrape.
  const stats = () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
  new Gauge({
    name: 'depot_search_documents',
    help: 'Projects in the search index',
    registers,
    async collect() {
      this.set((await stats()).documents)
    },
  })
  new Gauge({
    name: 'depot_search_feeding',
    help: '1 while this process feeds the search index; only one process feeds a shared index',
    registers,
    async collect() {
      this.set((await stats()).isFeeding ? 1 : 0)
    },
  })
  new Gauge({
    name: 'depot_search_building',
    help: '1 while the search index is built or rebuilt',
    registers,
    async collect() {
      this.set(['building', 'rebuilding'].includes((await stats()).state) ? 1 : 0)
    },
  })
  new Gauge({
    name: 'depot_search_up',
    help: '1 while search works and the index follows the database',
    registers,
    async collect() {
      this.set(['ready', 'rebuilding'].includes((await stats()).state) ? 1 : 0)
    },
  })
}
