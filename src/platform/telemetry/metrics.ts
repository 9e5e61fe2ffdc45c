// What Prometheus reads at /metrics. Labels are few and bounded: operation names, status classes, kinds.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/**
 * One registry with every metric of the process; each Depot in a process (tests run several) has its own. Of a server
 * of several processes `ofAll` gives the metrics of all of them.
 */
export function createMetrics(options: { process: boolean; ofAll?: (() => Promise<string>) | undefined }) {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    /** What /metrics answers, in the text format of Prometheus. */
    text: options.ofAll ?? (() => registry.metrics()),
    requests: new Counter({
      name: 'depot_http_requests_total',
      help: 'Requests answered, by operation and status',
      labelNames: ['operation', 'status'] as const,
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'depot_http_request_seconds',
      help: 'Time from the first byte of a request to the end of its answer, by operation',
      labelNames: ['operation'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    querySeconds: new Histogram({
      name: 'depot_database_query_seconds',
      help: 'Time of statements to the database; its count is how many there were',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    jobs: new Counter({
      name: 'depot_jobs_total',
      help: 'Background jobs finished, by task and outcome (success, error, dead)',
      labelNames: ['task', 'outcome'] as const,
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'depot_job_seconds',
      help: 'Time that background jobs took, by task, whatever their outcome',
      // Not `job`: Prometheus gives that label to what it scrapes.
      labelNames: ['task'] as const,
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300],
      registers,
    }),
    downloadDrift: new Gauge({
      name: 'depot_download_drift',
      help: 'Downloads by which counters differed from events when they were last reconciled, by what was counted',
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
      help: 'Time of calls to engines that the operator has set, by engine and call',
      labelNames: ['engine', 'operation'] as const,
      buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    engineErrors: new Counter({
      name: 'depot_engine_errors_total',
      help: 'Calls to an engine that it did not answer or could not do, by engine and call',
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

/** What an adapter calls after each call to its engine. */
export function engineCalls({ engineSeconds, engineErrors }: Metrics, engine: string) {
  return (operation: string, seconds: number, failed: boolean): void => {
    engineSeconds.observe({ engine, operation }, seconds)
    if (failed) engineErrors.inc({ engine, operation })
  }
}

/** What a buffer of analytics events says of each kind of event. */
type BufferStats = Readonly<Record<string, { pending: number; stored: number; dropped: number; lost: number }>>

/** Shows the state of the analytics buffer, read when somebody asks for the metrics. */
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

/** Shows how many processes of a server answer requests. */
export function observeProcesses({ registry }: Metrics, count: () => number): void {
  new Gauge({
    name: 'depot_http_processes',
    help: 'Processes of this server that answer requests',
    registers: [registry],
    collect() {
      this.set(count())
    },
  })
}

/** What a process says of the events that wait on disk for a store that is elsewhere. */
type SpoolStats = Readonly<{ batches: number; bytes: number; refused: number }>

/** Shows what waits on disk, read when somebody asks for the metrics. */
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
    help: 'Bytes of the events that wait on disk for the analytics store',
    registers,
    collect() {
      this.set(stats().bytes)
    },
  })
  new Gauge({
    name: 'depot_analytics_spool_refused_batches',
    help: 'Batches that the analytics store refused, or that could not be read, since the start; they are set aside',
    registers,
    collect() {
      this.set(stats().refused)
    },
  })
}

/** What the search of a process says of itself. */
type SearchStats = { state: string; documents: number; memoryBytes: number; isFeeding: boolean }

/** Shows the state of search, asked when somebody asks for the metrics. */
export function observeSearch({ registry }: Metrics, ask: () => Promise<SearchStats>): void {
  const registers = [registry]
  let asked: Promise<SearchStats> | undefined
  // One question for all gauges of a scrape.
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
    help: '1 while this process feeds the search index; of the processes that share one, only one does',
    registers,
    async collect() {
      this.set((await stats()).isFeeding ? 1 : 0)
    },
  })
  new Gauge({
    name: 'depot_search_building',
    help: '1 while the search index is built for the first time or again',
    registers,
    async collect() {
      this.set(['building', 'rebuilding'].includes((await stats()).state) ? 1 : 0)
    },
  })
  new Gauge({
    name: 'depot_search_up',
    help: '1 while searches are answered and the index follows the database',
    registers,
    async collect() {
      this.set(['ready', 'rebuilding'].includes((await stats()).state) ? 1 : 0)
    },
  })
}
