// The metrics at /metrics. Labels have few values: operation names, statuses, kinds.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createFigureCounts } from './figures.ts'

/**
 * Interval of the timer that measures the lag of the event loop, which is part of the value. The default of 10 ms wakes an
 * idle process 100 times per second, which takes 1 % of a core.
 */
const LAG_SAMPLE_MS = 50

type Definition<Made> = (registers: Registry[]) => Made

const DEFINITIONS = new Set<Definition<unknown>>()

/** Declares metrics next to the code that sets them. Returns the function that finds those of an instance. */
export function defineMetrics<Made>(create: Definition<Made>): (metrics: Pick<Metrics, 'of'>) => Made {
  DEFINITIONS.add(create)
  return ({ of }) => of(create)
}

export type Metrics = ReturnType<typeof createMetrics>

/** A registry with all metrics of the process. Tests run several instances in a process, each with its own registry. */
export function createMetrics(options: { process: boolean }) {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS })
  const registers = [registry]
  const made = new Map<Definition<unknown>, unknown>()
  const of = <Made>(create: Definition<Made>): Made => {
    if (!made.has(create)) made.set(create, create(registers))
    return made.get(create) as Made
  }
  // Also those that nothing sets have a value.
  for (const create of DEFINITIONS) of(create)
  return {
    registry,
    of,
    figures: createFigureCounts(),
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
    build: new Gauge({
      name: 'depot_build_info',
      help: 'Always 1; version and commit of Depot',
      labelNames: ['version', 'commit'] as const,
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
